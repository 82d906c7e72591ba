"""The surrogate's rows for staff, to read: all of them are written by its process alone."""

from django.contrib import admin

from runners.read_only_admin import ReadOnlyAdmin
from surrogate import models


@admin.register(models.Forecast)
class ForecastAdmin(ReadOnlyAdmin):
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
class QuestionAdmin(ReadOnlyAdmin):
    list_display = ("asked_at", "evaluation_id", "closed_at")


@admin.register(models.Outcome)
class OutcomeAdmin(ReadOnlyAdmin):
    list_display = ("created_at", "evaluation_id", "is_correct", "seconds", "log2_ratio")
    list_filter = ("is_correct",)


@admin.register(models.Anchor)
class AnchorAdmin(ReadOnlyAdmin):
    list_display = ("created_at", "name", "device", "seconds")
    list_filter = ("device",)
    list_select_related = ("device",)


@admin.register(models.CalibrationVersion)
class CalibrationAdmin(ReadOnlyAdmin):
    list_display = ("created_at", "version", "name", "recipe", "device", "family", "outcomes")
    list_filter = ("name", "device", "family")
    list_select_related = ("device",)


@admin.register(models.GuaranteeVersion)
class GuaranteeAdmin(ReadOnlyAdmin):
    list_display = ("created_at", "name", "recipe", "device", "family", "cases", "score", "bound")
    list_filter = ("name", "device", "family")
    list_select_related = ("device",)


@admin.register(models.ForecasterVersion)
class ForecasterVersionAdmin(ReadOnlyAdmin):
    list_display = ("name", "recipe", "version", "created_at")
    list_filter = ("name",)


@admin.register(models.SpendDay)
class SpendDayAdmin(ReadOnlyAdmin):
    list_display = ("day", "reserved_usd", "spent_usd")


@admin.register(models.SpendReservation)
class SpendReservationAdmin(ReadOnlyAdmin):
    list_display = ("created_at", "purpose", "amount_usd", "spent_usd", "expires_at", "settled_at")
