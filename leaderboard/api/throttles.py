"""Rates of requests. They protect the site, so they must not take it down with the cache."""

import logging
from typing import TYPE_CHECKING

from rest_framework.request import Request
from rest_framework.throttling import AnonRateThrottle, SimpleRateThrottle, UserRateThrottle

if TYPE_CHECKING:  # the module of views reads the settings, which name this one
    from rest_framework.views import APIView

logger = logging.getLogger(__name__)


class _Forgiving(SimpleRateThrottle):
    def allow_request(self, request: Request, view: "APIView") -> bool:
        """Without a cache nobody is counted. What costs something is bounded by budgets, in the database."""
        try:
            return super().allow_request(request, view)
        except Exception as error:  # noqa: BLE001 each cache backend has errors of its own
            logger.warning("requests are not throttled, the cache failed: %s", error)
            return True


class AnonymousRate(_Forgiving, AnonRateThrottle):
    """Per address."""


class UserRate(_Forgiving, UserRateThrottle):
    """Per user."""
