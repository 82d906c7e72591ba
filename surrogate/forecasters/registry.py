"""Forecasters by name. Modules are imported when asked for: some need packages that others do not."""

from collections.abc import Callable
from importlib import import_module

from surrogate.forecasters.base import Forecaster

_CLASSES = {
    "prior": "surrogate.forecasters.prior:PriorForecaster",
    "random": "surrogate.forecasters.random:RandomForecaster",
    "source_length": "surrogate.forecasters.source_length:SourceLengthForecaster",
    "roofline": "surrogate.forecasters.roofline:RooflineForecaster",
    "neighbours": "surrogate.forecasters.neighbours:NeighboursForecaster",
    "statistical": "surrogate.forecasters.statistical:StatisticalForecaster",
    "local": "surrogate.forecasters.local:build",
    "anthropic": "surrogate.forecasters.anthropic:build",
}
#: What an ensemble is made of unless its members are named: all that run anywhere, at once, for nothing.
_ENSEMBLE = ("prior", "neighbours", "statistical")

NAMES = (*_CLASSES, "ensemble")


class UnknownForecaster(ValueError):
    """No forecaster has this name, or it cannot run here; the message says which."""


def build(name: str) -> Forecaster:
    """A new, unfitted forecaster. ``ensemble:prior+statistical`` names an ensemble's members."""
    base, _, members = name.partition(":")
    if base == "ensemble":
        from surrogate.forecasters.ensemble import EnsembleForecaster

        return EnsembleForecaster([build(item) for item in members.split("+") if item] or _default_members())
    if members or name not in _CLASSES:
        raise UnknownForecaster(f"no forecaster is called {name!r}; there are {', '.join(NAMES)}")
    module, _, attribute = _CLASSES[name].partition(":")
    try:
        factory: Callable[[], Forecaster] = getattr(import_module(module), attribute)
    except ImportError as error:
        raise UnknownForecaster(f"the forecaster {name!r} cannot run here: {error}") from error
    return factory()


def _default_members() -> list[Forecaster]:
    return [build(item) for item in _ENSEMBLE]
