"""Pages by cursor: no COUNT(*), and nothing is skipped when rows are added meanwhile."""

from django.utils.dateparse import parse_datetime
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.pagination import Cursor, CursorPagination
from rest_framework.request import Request


class NewestFirst(CursorPagination):
    ordering = ("-created_at", "-id")
    page_size = 50
    page_size_query_param = "limit"
    max_page_size = 200

    def decode_cursor(self, request: Request) -> Cursor | None:
        """As DRF does, but a cursor that is not one of ours is refused before the database reads it."""
        try:
            cursor = super().decode_cursor(request)
        except NotFound:
            raise _not_ours() from None
        if cursor is not None and cursor.position is not None and not _is_time(str(cursor.position)):
            raise _not_ours()
        return cursor


def _not_ours() -> ValidationError:
    return ValidationError({"cursor": "is not one that a list gave; start without it"})


def _is_time(text: str) -> bool:
    """Whether ``text`` is a time with its zone, as positions in these lists are."""
    try:
        at = parse_datetime(text)
        return at is not None and at.utcoffset() is not None and at.year > 1
    except ValueError:
        return False
