"""Settings of the REST API: who is let in, how often, and how it describes itself."""

from typing import Any

from kernelhub import environment as env

SPECTACULAR: dict[str, Any] = {
    "TITLE": "KernelHub API",
    "DESCRIPTION": "Everything a page can do. Times are seconds, sizes bytes.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "ENUM_NAME_OVERRIDES": {
        "LanguageEnum": "leaderboard.api.choices.LANGUAGES",
        "DeviceKindEnum": "leaderboard.api.choices.DEVICE_KINDS",
    },
}


def rest_framework(proxies: int) -> dict[str, Any]:
    """``proxies``: how many stand before the site, as throttles count by address."""
    return {
        "DEFAULT_AUTHENTICATION_CLASSES": [
            "leaderboard.api.authentication.TokenAuthentication",
            "rest_framework.authentication.SessionAuthentication",
        ],
        "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticatedOrReadOnly"],
        "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
        "DEFAULT_PARSER_CLASSES": ["leaderboard.api.parsers.BoundedJSONParser"],
        "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
        "DEFAULT_VERSIONING_CLASS": None,
        "ALLOWED_VERSIONS": ["1"],  # the schema's view writes any other ?version= into a header
        "EXCEPTION_HANDLER": "leaderboard.api.errors.handler",
        "DEFAULT_THROTTLE_CLASSES": [
            "leaderboard.api.throttles.AnonymousRate",
            "leaderboard.api.throttles.UserRate",
        ],
        "DEFAULT_THROTTLE_RATES": {
            "anon": env.text("KERNELHUB_ANON_RATE", "120/min"),
            "user": env.text("KERNELHUB_USER_RATE", "600/min"),
        },
        "NUM_PROXIES": proxies,
    }
