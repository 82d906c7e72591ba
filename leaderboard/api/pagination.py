"""Pages by cursor: no COUNT(*), and nothing is skipped when rows are added meanwhile."""

from rest_framework.pagination import CursorPagination


class NewestFirst(CursorPagination):
    ordering = ("-created_at", "-id")
    page_size = 50
    page_size_query_param = "limit"
    max_page_size = 200
