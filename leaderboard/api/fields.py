"""Numbers of a request's body, in JSON or as text: DRF's own also take ``true``, ``１２`` and ``1_0``."""

from typing import Any

from rest_framework import serializers


def _is_number(data: Any) -> bool:
    """Whether it looks like one; what it is, DRF says."""
    if isinstance(data, str):
        return data.isascii() and "_" not in data
    return not isinstance(data, bool)


class WholeNumberField(serializers.IntegerField):
    default_error_messages = {"invalid": "must be a whole number"}

    def to_internal_value(self, data: Any) -> int:
        if not _is_number(data):
            self.fail("invalid")
        return super().to_internal_value(data)


class NumberField(serializers.FloatField):
    default_error_messages = {"invalid": "must be a number"}

    def to_internal_value(self, data: Any) -> float:
        if not _is_number(data):
            self.fail("invalid")
        return super().to_internal_value(data)
