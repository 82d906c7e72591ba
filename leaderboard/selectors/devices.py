"""Devices as people ask after them: online, how busy, how long one waits."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Count

from leaderboard.selectors import estimates
from runners.contract.vocabulary import Mode
from runners.models import Device, Evaluation, EvaluationStatus, Lane, Runner
from runners.sandbox.probe import PROVED, tier_number
from runners.selectors import alive_runners, measures_ceilings, required_tier

_Kind = tuple[str, str, str, int]  # queue, status, mode, lane


@dataclass(frozen=True)
class Sandbox:
    """What the strongest runner of a device that is alive has proved."""

    tier: str
    layers: Mapping[str, str]  # layer → "proved", or the reason it is missing


@dataclass(frozen=True)
class DeviceStatus:
    device: Device
    online: bool
    runners: int  # alive now
    is_measuring: bool  # not online yet: its runner measures the ceilings first, about a minute
    queued: int  # all that waits
    ahead: int  # of these, what a person's run entered now would wait for
    running: int
    wait_seconds: float | None  # expected wait of such a run; None while no runner is alive
    may_grow: bool  # audits before it may be repeated, and then go first again
    quarantine_reason: str
    sandbox: Sandbox | None  # None while no runner is alive

    @property
    def overtaken(self) -> int:
        """What waits and lets a person's run go first: searches, and the site's own references."""
        return self.queued - self.ahead

    @property
    def ranked_refusal(self) -> str:
        """Why ranked runs are refused here, or nothing."""
        return tier_refusal(self.device, self.sandbox, Mode.RANKED)


def device_statuses() -> list[DeviceStatus]:
    """Every device by name. Five queries at most, however many devices there are."""
    devices = list(Device.objects.order_by("kind", "name", "pk"))
    alive: dict[int | None, list[Runner]] = defaultdict(list)
    for runner in alive_runners():
        alive[runner.device_id].append(runner)
    counts: dict[_Kind, int] = defaultdict(int)
    for row in (
        Evaluation.objects.filter(status__in=[EvaluationStatus.QUEUED, EvaluationStatus.RUNNING])
        .order_by()
        .values("queue", "status", "mode", "lane")
        .annotate(number=Count("pk"))
    ):
        counts[row["queue"], row["status"], row["mode"], row["lane"]] += row["number"]
    slugs = [device.slug for device in devices]
    usual = estimates.usual_seconds(slugs)
    is_ranking = any(estimates.brings_audit(mode, lane) for _, _, mode, lane in counts)
    rates = estimates.audit_rates(slugs) if is_ranking else {}
    return [_status(device, alive[device.pk], counts, usual, rates) for device in devices]


def runners_alive() -> dict[int | None, int]:
    """Number of runners per device id that have beaten their heart lately; None: of compile-only work."""
    rows = alive_runners().order_by().values("device_id").annotate(number=Count("pk"))
    return {row["device_id"]: row["number"] for row in rows}


def sandbox_of(device: Device) -> Sandbox | None:
    """One query."""
    return _strongest(list(alive_runners().filter(device=device)))


def tier_refusal(device: Device, sandbox: Sandbox | None, mode: Mode) -> str:
    """Why the device's sandbox is too weak for ``mode``, in a sentence; nothing where it is not.

    Checks run elsewhere, and of a device that is offline nobody knows: its runner decides.
    """
    needed = required_tier(mode)
    if mode == Mode.CHECK or sandbox is None or tier_number(sandbox.tier) >= tier_number(needed):
        return ""
    missing = "; ".join(f"{name}: {word}" for name, word in sandbox.layers.items() if word != PROVED)
    why = f" ({missing})" if missing else ""
    reached = f"its sandbox reaches tier {sandbox.tier}, {needed} is required{why}"
    return f"{device.name} takes no {mode} runs: {reached}."


def _strongest(runners: list[Runner]) -> Sandbox | None:
    best = max(runners, key=lambda runner: tier_number(runner.tier), default=None)
    return Sandbox(best.tier, best.layers) if best is not None else None


def _status(
    device: Device,
    alive: list[Runner],
    counts: dict[_Kind, int],
    usual: dict[tuple[str, str], float],
    rates: dict[str, float],
) -> DeviceStatus:
    serving = [runner for runner in alive if not measures_ceilings(runner, device)]
    queued = ahead = running = 0
    work, may_grow = 0.0, False
    for (queue, status, mode, lane), number in counts.items():
        if queue != device.slug:
            continue
        if status == EvaluationStatus.QUEUED:
            queued += number
            if lane <= Lane.PERSON:  # the same order as that in which runners take work
                ahead += number
                work += number * usual[queue, mode]
        else:
            running += number
            work += number * usual[queue, mode] / 2  # on average half of it is still to come
        may_grow |= estimates.may_grow(mode, lane)
        if estimates.brings_audit(mode, lane):
            work += number * rates[queue] * usual[queue, mode]
    return DeviceStatus(
        device=device,
        online=bool(serving),
        runners=len(alive),
        is_measuring=bool(alive) and not serving,
        queued=queued,
        ahead=ahead,
        running=running,
        wait_seconds=work / len(alive) if alive else None,
        may_grow=may_grow,
        quarantine_reason=device.quarantine_reason,
        sandbox=_strongest(alive),
    )
