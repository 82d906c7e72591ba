"""Reading request bodies of strangers."""

import io
import json
from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import JSONParser


class BodyTooLarge(APIException):
    status_code = 413
    default_code = "too_large"


class HalfCharacter(APIException):
    status_code = 400
    default_code = "not_utf8"
    default_detail = "The request's body holds half a character (a lone surrogate), which no text can hold."


class BoundedJSONParser(JSONParser):
    """JSON of whole characters, of at most ``DATA_UPLOAD_MAX_MEMORY_SIZE`` bytes.

    Django holds forms to that bound, and DRF nothing.
    """

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
            document = super().parse(io.BytesIO(body), media_type, dict(parser_context or {}))
            if rb"\ud" in body.lower():  # only an escape can say it: as bytes it is no UTF-8
                json.dumps(document, ensure_ascii=False).encode()
        except RecursionError:
            raise ParseError("JSON parse error - nested too deeply") from None
        except UnicodeEncodeError:
            raise HalfCharacter from None
        return document
