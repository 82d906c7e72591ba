"""What a run may use, and by how much that may be raised."""

from dataclasses import dataclass

from leaderboard.services.errors import Refusal

#: Fields of ``Limits``, as an event names them.
EXTENDED = ("measurements", "device_seconds", "wall_seconds", "tokens", "money")
_MOST = {"measurements": 10_000, "device_seconds": 1e6, "wall_seconds": 30 * 86_400}


@dataclass(frozen=True)
class Limits:
    """What a run may use. Zero tokens and money: no language model is asked."""

    measurements: int = 40
    device_seconds: float = 1200.0
    wall_seconds: float = 4 * 3600.0
    tokens: int = 0
    money: float = 0.0

    def check(self) -> None:
        """Raises Refusal limits_wrong."""
        for name, most in _MOST.items():
            if not 0 < getattr(self, name) <= most:
                raise Refusal("limits_wrong", f"The limit of {name} must be above 0 and at most {most:g}.")
        self._check_money()

    def check_more(self) -> None:
        """As what limits are raised by: zeros leave them as they are. Raises Refusal limits_wrong."""
        for name, most in _MOST.items():
            if not 0 <= getattr(self, name) <= most:
                raise Refusal("limits_wrong", f"The limit of {name} can be raised by 0 to {most:g}.")
        self._check_money()
        if not any(getattr(self, name) for name in EXTENDED):
            raise Refusal("limits_wrong", "Say by how much a limit is to be raised.")

    def _check_money(self) -> None:
        if not (0 <= self.tokens <= 10**12 and 0 <= self.money <= 10_000):
            raise Refusal("limits_wrong", "Limits of tokens and money can't be below 0, or beyond reason.")
