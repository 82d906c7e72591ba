# The admin classes are generic in the stubs only.
# mypy: disable-error-code="type-arg"
"""The admin of devices, runners and what they measured. People open, close and quarantine devices."""

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from runners.models import Device, Evaluation, Kernel, ProfileTrace, Runner, SpecDocument
from runners.read_only_admin import ReadOnlyAdmin
from runners.services import devices


@admin.register(Device)
class DeviceAdmin(admin.ModelAdmin):
    """Devices register themselves; people open, close and quarantine them."""

    list_display = ["name", "slug", "kind", "is_open", "quarantine_reason", "calibrated_at"]
    list_editable = ["is_open", "quarantine_reason"]
    readonly_fields = [
        "slug",
        "kind",
        "facts",
        "ceilings",
        "calibrated_at",
        "calibration",
        "noise",
        "noise_measured_at",
        "created_at",
    ]
    search_fields = ["name", "slug"]
    actions = ["release"]

    @admin.action(description="Release from quarantine: give them work again", permissions=["change"])
    def release(self, request: HttpRequest, chosen: QuerySet[Device]) -> None:
        for device in chosen:
            if devices.release(device=device):
                self.log_change(request, device, f"released; it was quarantined: {device.quarantine_reason}")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False


@admin.register(Runner)
class RunnerAdmin(ReadOnlyAdmin):
    list_display = ["short_name", "device", "host", "pid", "tier", "started_at", "heartbeat_at", "stopped_at"]
    list_filter = ["device", "tier"]
    search_fields = ["id", "host"]
    list_select_related = ["device"]


@admin.register(Evaluation)
class EvaluationAdmin(ReadOnlyAdmin):
    big_columns = ("result", "progress")
    list_display = [
        "id",
        "mode",
        "device",
        "status",
        "stage",
        "verdict",
        "attempts",
        "queued_at",
        "finished_at",
    ]
    list_filter = ["status", "verdict", "mode", "device", "lane"]
    list_select_related = ["device"]
    search_fields = ["id", "kernel__digest"]


@admin.register(ProfileTrace)
class ProfileTraceAdmin(ReadOnlyAdmin):
    """A stranger's bytes: listed and deleted here, downloaded from the run's page, never shown."""

    big_columns = ("content",)
    exclude = ["content"]
    list_display = ["evaluation"]

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return admin.ModelAdmin.has_delete_permission(self, request, obj)


@admin.register(Kernel)
class KernelAdmin(ReadOnlyAdmin):
    big_columns = ("source",)
    list_display = ["digest", "language", "created_at"]
    list_filter = ["language"]
    search_fields = ["digest"]


@admin.register(SpecDocument)
class SpecDocumentAdmin(ReadOnlyAdmin):
    list_display = ["digest", "slug", "created_at"]
    search_fields = ["digest"]

    @admin.display
    def slug(self, spec: SpecDocument) -> str:
        return str(spec.document.get("slug", ""))
