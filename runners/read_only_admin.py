# The admin classes are generic in the stubs only.
# mypy: disable-error-code="type-arg"
"""The base of the admin of everything that the site writes by itself."""

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest


class ReadOnlyAdmin(admin.ModelAdmin):
    """Rows that the site writes by itself."""

    show_full_result_count = False  # COUNT(*) over all rows for nothing
    #: Columns of up to megabytes a row, which lists do not show; a row's own page still reads them.
    big_columns: ClassVar[tuple[str, ...]] = ()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).defer(*self.big_columns)

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False
