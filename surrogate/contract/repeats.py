"""What is known of the very kernel that is asked about, under the same version of its task."""

from dataclasses import dataclass
from statistics import median

#: A run elsewhere counts half of one here. The doubt counts for a tenth of a run, so that no number of runs
#: makes it certain: a kernel may fail now and then.
_ELSEWHERE, _DOUBT = 0.5, 0.1


@dataclass(frozen=True)
class Repeats:
    """Earlier runs of an identical source, on the device asked about ("here") and on others."""

    passed_here: int = 0
    failed_here: int = 0
    passed_elsewhere: int = 0
    failed_elsewhere: int = 0
    log2_ratios: tuple[float, ...] = ()  # log2(t_anchor / t_kernel), of the timed runs here
    noise: float = 0.0  # of one of them, octaves

    @property
    def log2_ratio(self) -> float | None:
        return median(self.log2_ratios) if self.log2_ratios else None

    @property
    def p_correct(self) -> float | None:
        """None where nothing is known: 0.95 after one run here that passed, 0.05 after one that failed."""
        passed = self.passed_here + _ELSEWHERE * self.passed_elsewhere
        failed = self.failed_here + _ELSEWHERE * self.failed_elsewhere
        if passed + failed == 0:
            return None
        return (passed + _DOUBT / 2) / (passed + failed + _DOUBT)


NOTHING_KNOWN = Repeats()
