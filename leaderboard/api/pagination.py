"""Pages by cursor: no COUNT(*), and nothing is skipped when rows are added meanwhile."""

from django.http import QueryDict
from django.utils.dateparse import parse_datetime
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.pagination import Cursor, CursorPagination
from rest_framework.request import Request

from leaderboard.numbers import whole_number

_MOST = 200


class NewestFirst(CursorPagination):
    ordering = ("-created_at", "-id")
    page_size = 50
    page_size_query_param = "limit"
    page_size_query_description = f"How many an answer holds, from 1 to {_MOST}."
    max_page_size = _MOST

    def get_page_size(self, request: Request) -> int:
        """As DRF does, but what is no such number is refused: else a part is taken for the whole."""
        text = request.query_params.get(self.page_size_query_param)
        if text is None:
            return self.page_size
        size = whole_number(text)
        if size is None or not 1 <= size <= _MOST:
            raise ValidationError({self.page_size_query_param: f"must be a whole number from 1 to {_MOST}"})
        return size

    def decode_cursor(self, request: Request) -> Cursor | None:
        """As DRF does, but a cursor that is not one of ours is refused before the database reads it."""
        try:
            cursor = super().decode_cursor(request)
        except NotFound:
            raise _not_ours() from None
        if cursor is None:
            return None
        asked = request.query_params[self.cursor_query_param]
        # DRF passes over what it can't read, down to a cursor of nothing, which gets the first page again.
        if not asked or asked != self._written(cursor):
            raise _not_ours()
        if cursor.position is not None and not _is_time(str(cursor.position)):
            raise _not_ours()
        return cursor

    def _written(self, cursor: Cursor) -> str:
        """What ``cursor`` is in the address of a page."""
        return QueryDict(self.encode_cursor(cursor).partition("?")[2])[self.cursor_query_param]


def _not_ours() -> ValidationError:
    return ValidationError({"cursor": "is not one that a list gave; start without it"})


def _is_time(text: str) -> bool:
    """Whether ``text`` is a time with its zone, as positions in these lists are."""
    try:
        at = parse_datetime(text)
        return at is not None and at.utcoffset() is not None and at.year > 1
    except ValueError:
        return False
