"""System checks: a wrong setting is named at start, not found at midnight."""

from typing import Any

from django.conf import settings
from django.core.checks import Error, register

from runners.sandbox.probe import TIERS


@register()
def tier_is_known(app_configs: Any, **kwargs: Any) -> list[Error]:
    if settings.REQUIRED_TIER in TIERS:
        return []
    return [
        Error(
            f"KERNELHUB_REQUIRED_TIER={settings.REQUIRED_TIER!r} is not one of {', '.join(TIERS)}",
            id="kernelhub.E001",
        )
    ]


@register()
def lease_outlives_sweep(app_configs: Any, **kwargs: Any) -> list[Error]:
    if settings.LEASE_SECONDS >= 2 * settings.SWEEP_SECONDS > 0:
        return []
    return [
        Error("KERNELHUB_LEASE_SECONDS must be at least twice KERNELHUB_SWEEP_SECONDS", id="kernelhub.E002")
    ]


@register(deploy=True)
def services_are_external(app_configs: Any, **kwargs: Any) -> list[Error]:
    if not settings.PRODUCTION or ":1/" not in f"{settings.DATABASE_URL} {settings.REDIS_URL}":
        return []
    return [
        Error("production needs DATABASE_URL and REDIS_URL, or a running manage.py up", id="kernelhub.E003")
    ]
