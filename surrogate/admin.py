"""The surrogate's rows for staff, to read: all of them are written by its process alone."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest

from surrogate import models

if TYPE_CHECKING:
    _Base = admin.ModelAdmin[Model]
else:
    _Base = admin.ModelAdmin


class ReadOnly(_Base):
    """Rows as they are. Large documents are read on the row's own page."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(models.Forecast)
class ForecastAdmin(ReadOnly):
    list_display = (
        "created_at",
        "forecaster",
        "is_shown",
        "mean",
        "confidence",
        "abstention",
        "action",
        "cost_usd",
    )
    list_filter = ("is_shown", "abstention", "action", "forecaster__name")
    list_select_related = ("forecaster",)


@admin.register(models.Question)
class QuestionAdmin(ReadOnly):
    list_display = ("asked_at", "evaluation_id", "closed_at")


@admin.register(models.Outcome)
class OutcomeAdmin(ReadOnly):
    list_display = ("created_at", "evaluation_id", "is_correct", "seconds", "log2_ratio")
    list_filter = ("is_correct",)


@admin.register(models.Anchor)
class AnchorAdmin(ReadOnly):
    list_display = ("created_at", "name", "device", "seconds")
    list_filter = ("device",)
    list_select_related = ("device",)


@admin.register(models.CalibrationVersion)
class CalibrationAdmin(ReadOnly):
    list_display = ("created_at", "version", "name", "recipe", "device", "family", "outcomes")
    list_filter = ("name", "device", "family")
    list_select_related = ("device",)


@admin.register(models.GuaranteeVersion)
class GuaranteeAdmin(ReadOnly):
    list_display = ("created_at", "name", "recipe", "device", "family", "cases", "score", "bound")
    list_filter = ("name", "device", "family")
    list_select_related = ("device",)


@admin.register(models.ForecasterVersion)
class ForecasterVersionAdmin(ReadOnly):
    list_display = ("name", "recipe", "version", "created_at")
    list_filter = ("name",)


@admin.register(models.SpendDay)
class SpendDayAdmin(ReadOnly):
    list_display = ("day", "reserved_usd", "spent_usd")


@admin.register(models.SpendReservation)
class SpendReservationAdmin(ReadOnly):
    list_display = ("created_at", "purpose", "amount_usd", "spent_usd", "expires_at", "settled_at")
