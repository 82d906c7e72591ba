"""Reading request bodies of strangers."""

import io
from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import JSONParser


class BodyTooLarge(APIException):
    status_code = 413
    default_code = "too_large"


class BoundedJSONParser(JSONParser):
    """JSON of at most ``DATA_UPLOAD_MAX_MEMORY_SIZE`` bytes, which Django holds forms to and DRF nothing."""

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        body = stream.read(limit + 1)
        if len(body) > limit:
            raise BodyTooLarge(f"The request's body is larger than {limit:,} bytes.")
        try:
            return super().parse(io.BytesIO(body), media_type, dict(parser_context or {}))
        except RecursionError:
            raise ParseError("JSON parse error - nested too deeply") from None
