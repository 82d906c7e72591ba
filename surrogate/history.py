"""Known outcomes, looked up for a new request: the same kernel on other devices, and kernels like it."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from surrogate.contract.request import Anchor, ForecastRequest, KernelText, Neighbour
from surrogate.features.similarity import kernel_digest, similarities
from surrogate.forecasters.base import Outcome

#: How many neighbours a request carries.
LIMIT = 8
#: Kernels of one task that are compared with a new one; the newest are kept.
_MOST_COMPARED = 128


def anchor_digest(anchor: Anchor) -> str:
    """Ratios can be carried from one device to another when their anchors have equal digests."""
    return kernel_digest(KernelText(anchor.language, anchor.source, anchor.parameters))


class History:
    """An index of outcomes by task, anchor and kernel. Failed kernels are left out: they have no ratio."""

    def __init__(self, outcomes: Iterable[Outcome]) -> None:
        self._same: dict[tuple[str, str, str], list[Neighbour]] = defaultdict(list)
        self._task: dict[tuple[str, str], list[tuple[str, Neighbour]]] = defaultdict(list)
        for outcome in outcomes:
            if outcome.log2_ratio is None:
                continue
            request = outcome.request
            neighbour = Neighbour(request.kernel, request.device, outcome.log2_ratio, outcome.key)
            task, anchor = request.task.slug, anchor_digest(request.anchor)
            kernel = kernel_digest(request.kernel)
            self._same[task, anchor, kernel].append(neighbour)
            self._task[task, anchor].append((kernel, neighbour))

    def neighbours(self, request: ForecastRequest, limit: int = LIMIT) -> tuple[Neighbour, ...]:
        """The most telling known outcomes: this kernel on other devices, then the most similar kernels.

        This kernel on this very device is never among them: that would be the answer itself.
        """
        task, anchor, kernel = request.task.slug, anchor_digest(request.anchor), kernel_digest(request.kernel)
        same = [
            item
            for item in self._same.get((task, anchor, kernel), ())
            if item.device.slug != request.device.slug
        ][:limit]
        others = [
            item for digest, item in self._task.get((task, anchor), ())[-_MOST_COMPARED:] if digest != kernel
        ]
        likeness = similarities(request.kernel, [item.kernel for item in others])
        order = sorted(
            range(len(others)),
            key=lambda index: (likeness[index], others[index].device.slug == request.device.slug),
            reverse=True,
        )
        return tuple(same + [others[index] for index in order[: limit - len(same)]])

    def attach(self, request: ForecastRequest, limit: int = LIMIT) -> ForecastRequest:
        """The request with its neighbours filled in."""
        return replace(request, neighbours=self.neighbours(request, limit))
