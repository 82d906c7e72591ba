"""The time stage: batches of two lengths in random order, until the interval is narrow or the budget is
spent.
"""

import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from statistics import median
from typing import Any

from runners.contract.limits import ModeLimits
from runners.contract.result import Timing
from runners.contract.spec import Case, TaskSpec
from runners.contract.vocabulary import DeviceKind, Mode, Verdict
from runners.supervisor.alone import Alone, alone_seconds, how_many, least_seconds, overlap
from runners.supervisor.batches import (
    FEWEST_AT_ALL,
    calls_of_a_long_batch,
    fewest_batches,
    had_to_wait,
    is_nearly,
)
from runners.supervisor.compare import sentence
from runners.supervisor.departures import Departure, Departures
from runners.supervisor.floors import copy_seconds, disbelief, floor_seconds
from runners.supervisor.looks import Looks
from runners.supervisor.outcome import CaseFailed, Ended
from runners.supervisor.session import DeviceSession, OpenCase
from runners.supervisor.statistics import Estimate, estimate
from runners.supervisor.warm_cache import warm_seconds

#: Relative half-width of the interval at which a case is done.
_PRECISION = {(DeviceKind.CPU, Mode.RANKED): 0.01, (DeviceKind.CUDA, Mode.RANKED): 0.005}
_USUAL_PRECISION = 0.02
_MOST_BATCHES = 150
_TRIAL = 64  # calls of the first batch that tells how long a call takes
_SPARE = 3  # batches that may be left out before others count
_TRIES = 4  # to find out how long batches should be
_IDLE = 8  # slots more than calls of a long batch, one in so many, are watched for work done ahead
_PATIENCE = 2  # times the budget that is added while the interval still holds zero
#: What the first call of a batch may cost more than the others before it counts as work of theirs: the
#: largest of these, and some calls more.
_FIRST_SECONDS, _FIRST_NULLS, _FIRST_CALLS = 5e-3, 3, 2
#: The device's own events may differ from the clock outside by this share or by this much, seconds.
_EVENT_SHARE, _EVENT_SECONDS = 0.05, 2e-6


class CaseTimer:
    """Times one benchmark case on one session."""

    def __init__(
        self, session: DeviceSession, spec: TaskSpec, case: Case, mode: Mode, limits: ModeLimits
    ) -> None:
        self._session = session
        self._spec = spec
        self._case = case
        self._limits = limits
        self._fewest = fewest_batches(case.device_kind, limits)
        self._precision = _PRECISION.get((case.device_kind, mode), _USUAL_PRECISION)
        self._random = secrets.SystemRandom()
        self._departures = Departures(spec, case, asked=mode == Mode.RANKED)
        self._looks = Looks(limits.case_timing)
        self._checked = self._counted = self._left_out = 0
        self._spent: dict[str, float] = {}

    def measure(self, ceilings: Mapping[str, Any], activity: Callable[[str], None]) -> Timing:
        """Raises CaseFailed and Ended for what goes wrong."""
        case = self._case
        slots = self._session.slots_for(case)
        with self._part("open"):
            opened = self._session.open(case, slots, timed=True)
        try:
            with self._part("warm_up"):
                long = self._warm_up(opened, slots)
            with self._part("sample"):
                samples = self._sample_rightly(opened, slots, long, activity)
            told = opened.event_seconds(min(samples), max(samples))
            slot = self._random.randrange(opened.slots)
            with self._part("warm"):
                warm = warm_seconds(opened, slot, samples, self._limits.case_timing)
            with self._part("alone"):
                alone = self._alone(opened, samples)
        finally:
            opened.close()
        null = self._session.null_overhead(case)
        # In batches that stayed too short the hand-shake may be the larger part: nothing is taken off for it.
        taken_off = null if self._are_right(samples, slots) else 0.0
        found = estimate(samples, taken_off, seed=int.from_bytes(case.name.encode()[:8], "little"))
        # The lower end of its interval: on a busy machine the intercept of honest calls is noise. Where some
        # batches waited for a core, that may be all there is to it, and it is only charged, below.
        allowed = max(_FIRST_SECONDS, _FIRST_NULLS * null) + _FIRST_CALLS * found.seconds
        if found.intercept_low > allowed and not self._left_out:
            text = f"Case {case.name}: a batch takes {found.intercept:.3g} s beyond its calls of "
            text += f"{found.seconds:.3g} s; work of several calls done in one has no time per call."
            raise Ended(Verdict.REFUSED, text)
        if told is not None and abs(told - found.seconds) > max(_EVENT_SHARE * found.seconds, _EVENT_SECONDS):
            text = f"Case {case.name}: the device's events say {told:.4g} s per call, the clock outside the "
            text += f"submission {found.seconds:.4g} s; with two times there is none to report."
            raise Ended(Verdict.REFUSED, text)
        # What noise and waking up do not explain is work of the calls, wherever in the batch it was done.
        found = found.charged(_FIRST_NULLS * null, min(samples))
        told_of = overlap(case.device_kind, alone, found.seconds)
        if case.device_kind == DeviceKind.CPU:
            found = found.at_least(least_seconds(alone.seconds))
        timing = self._timing(found, samples, ceilings)
        timing["null_seconds"] = null
        if warm is not None:
            timing["warm_seconds"] = warm
        timing["alone_seconds"] = alone.seconds
        if alone.told is not None:
            timing["alone_event_seconds"] = alone.told
        if told_of:
            timing["overlapping"] = told_of
        if told is not None:
            timing["event_seconds"] = told
        return timing

    @contextmanager
    def _part(self, name: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self._spent[name] = time.perf_counter() - began

    def _alone(self, opened: OpenCase, samples: Mapping[int, list[float]]) -> Alone:
        long = max(samples)
        count = how_many(median(samples[long]) / long, self._limits.case_timing)
        slots = self._random.sample(range(opened.slots), min(count, opened.slots))
        return alone_seconds(opened, slots, self._session.quickest_null(self._case))

    def _warm_up(self, opened: OpenCase, slots: int) -> int:
        """Runs batches that give no time for a while; returns the length of the long batches. Nobody looks at
        their outputs: what is left out here gains nothing.

        Long batches are as long as the budget allows for enough of them, every slot at most.
        """
        end = time.monotonic() + self._limits.warm_up
        budget = self._limits.case_timing
        per_call = min(self._run(opened, [slot]) for slot in range(2))
        for most in sorted({min(slots, _TRIAL), slots}):
            length = most if most <= _TRIAL else self._long(per_call, slots)
            if per_call * length < min(budget, self._limits.call / 2):
                per_call = self._run(opened, list(range(length))) / length
        while time.monotonic() < end:
            self._run(opened, [self._random.randrange(slots)])
        return self._long(per_call, slots)

    def _are_right(self, samples: Mapping[int, list[float]], slots: int) -> bool:
        return is_nearly(max(samples), self._right(samples, slots))

    def _right(self, samples: Mapping[int, list[float]], slots: int) -> int:
        """How long the long batches should be by the time that they took themselves."""
        return self._long(median(samples[max(samples)]) / max(samples), slots)

    def _long(self, per_call: float, slots: int) -> int:
        return calls_of_a_long_batch(self._case.device_kind, self._limits, per_call, slots)

    def _sample_rightly(
        self, opened: OpenCase, slots: int, long: int, activity: Callable[[str], None]
    ) -> dict[int, list[float]]:
        """Samples in batches as long as their own time per call asks for.

        The warm-up's time is the submission's to stretch: in batches of two calls, what a batch costs and
        what a call may differ from another hide half of a call. On a GPU raises Ended when they never are.
        """
        for _ in range(_TRIES):
            opened.keep(long + max(1, long // _IDLE))
            samples = self._sample(opened, max(1, long // 4), long, activity)
            if self._are_right(samples, slots):
                return samples
            long = self._right(samples, slots)
        if self._case.device_kind == DeviceKind.CPU:
            return samples  # a busy machine does that
        text = f"Case {self._case.name}: calls took longer whenever it was found out how long they take than "
        text += "when they were timed, so that no batch was as long as it should be."
        raise Ended(Verdict.REFUSED, text)

    def _sample(
        self, opened: OpenCase, short: int, long: int, activity: Callable[[str], None]
    ) -> dict[int, list[float]]:
        samples: dict[int, list[float]] = {short: [], long: []}
        end = time.monotonic() + self._limits.case_timing
        null = self._session.null_overhead(self._case)
        next_word, now = 0.0, time.monotonic()
        while len(samples[long]) < _MOST_BATCHES:
            for length in self._random.sample([short, long], 2):
                order = self._random.sample(range(opened.slots), length)
                # The second short one: by then it is known what a look costs.
                closely = length == short and len(samples[short]) == 1
                samples[length].append(self._sample_one(opened, order, closely, now < end))
            self._depart(opened, self._departures.after_a_pair([short, long]))
            done = len(samples[long])
            now = time.monotonic()
            if done < FEWEST_AT_ALL:
                continue
            found = estimate(samples, null, seed=done)
            if done >= self._fewest and found.half_width < self._precision:
                break
            # On a busy machine patience may still find a time; without a positive one there is no result.
            if now > end and (found.ci_low > 0 or now > end + _PATIENCE * self._limits.case_timing):
                break
            if now > next_word:
                activity(f"{self._case.name}: ± {100 * found.half_width:.1f} % after {done} batches")
                next_word = now + 0.5
        self._depart(opened, self._departures.owed([short, long]))
        # The last one is looked at more closely: which one it is, nobody could know before.
        order = self._random.sample(range(opened.slots), long)
        samples[long].append(self._sample_one(opened, order, True, time.monotonic() < end))
        return samples

    def _sample_one(self, opened: OpenCase, order: list[int], closely: bool, again: bool) -> float:
        """A batch's seconds: of the first that had its cores to itself, if there is time to try ``again``.

        One is left out for two that count, at most: a submission can make its own threads wait, and where
        all have to wait, fewer times are worse than slow ones.
        """
        seconds = self._batch(opened, order, closely=closely)
        while again and had_to_wait(seconds, opened.waited) and self._left_out < self._counted / 2 + _SPARE:
            self._left_out += 1
            order = self._random.sample(range(opened.slots), len(order))
            seconds = self._batch(opened, order, closely=False)
        self._counted += 1
        return seconds

    def _depart(self, opened: OpenCase, lengths: list[int]) -> None:
        """One batch of each of ``lengths`` that looks like the others, but for the inputs of one call."""
        for length in lengths:
            began = time.monotonic()
            order = self._random.sample(range(opened.slots), length)
            self._batch(opened, order, closely=False, departure=self._departures.draw(length))
            self._departures.took(time.monotonic() - began)

    def _run(self, opened: OpenCase, order: list[int], departs: tuple[int, Departure] | None = None) -> float:
        """One batch on fresh secret inputs, those of one slot unlike the others with ``departs``."""
        values = opened.draw(departs[1]) if departs else None
        opened.arm(order)
        opened.refill(order)
        if departs and values is not None:
            opened.depart(*departs, values)
        return opened.run()

    def _batch(
        self, opened: OpenCase, order: list[int], *, closely: bool, departure: Departure | None = None
    ) -> float:
        """One batch. Of its outputs as many as there is time for, drawn at random, are compared with a quick
        reference, and what that doubts with the exact one; one of them, or with ``closely`` some, with the
        exact one in any case. With a ``departure`` it is the slot that departs, and no other.
        """
        departs = (self._random.choice(order), departure) if departure else None
        began = time.perf_counter()
        seconds = self._run(opened, order, departs)
        ran = time.perf_counter()
        looks = self._looks
        looks.batch_seconds += ran - began
        looks.batches += 1
        exactly = (
            looks.exact_ones() if closely else int(bool(departure) or looks.draws_an_exact_one(self._random))
        )
        # Of a batch that departs no other slot is looked at: they are as good as in any other batch.
        count = min(len(order), max(exactly, looks.quick_ones()))
        looked_at = [departs[0]] if departs else self._random.sample(order, count)
        quickly = looked_at[exactly:]
        doubted = [slot for slot in quickly if not opened.roughly_right(slot)]
        looked = time.perf_counter()
        looks.quick += len(quickly)
        looks.quick_seconds += looked - ran
        for slot in [*looked_at[:exactly], *doubted]:
            for error in opened.check(slot):
                if error["mismatches"]:
                    when = departure.describe() if departure else "while timed"
                    raise CaseFailed(Verdict.WRONG, f"{when}: {sentence(error)}")
        self._checked += len(looked_at)
        looks.exact += len(looked_at) - len(quickly) + len(doubted)
        looks.exact_seconds += time.perf_counter() - looked
        return seconds

    def _timing(
        self, found: Estimate, samples: Mapping[int, list[float]], ceilings: Mapping[str, Any]
    ) -> Timing:
        case = self._case
        if found.ci_low <= 0 or found.seconds <= 0:
            text = f"Case {case.name}: no time above the noise was measured, so there is none to report."
            raise Ended(Verdict.RUNTIME_ERROR, text)
        if words := disbelief(self._spec, case, ceilings, found.seconds):
            raise Ended(Verdict.REFUSED, f"Case {case.name}: {words}")
        spent = {**self._spent, **self._looks.spent()}
        return {
            "case": case.name,
            "description": case.describe(),
            "status": "passed",
            "seconds": found.seconds,
            "ci_low": found.ci_low,
            "ci_high": found.ci_high,
            "samples": {str(length): times for length, times in samples.items()},
            "copy_seconds": copy_seconds(self._spec, case, ceilings) if self._session.copies else 0.0,
            "overhead_seconds": found.intercept,
            "bytes": self._spec.case_bytes(case),
            "flops": self._spec.case_flops(case),
            "floor_seconds": floor_seconds(self._spec, case, ceilings),
            "checked_outputs": self._checked,
            "left_out": self._left_out,
            "spent": {name: round(seconds, 4) for name, seconds in spent.items()},
        }
