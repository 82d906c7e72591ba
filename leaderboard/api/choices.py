"""Choice lists of the API, named in SPECTACULAR_SETTINGS so that the schema has one enum of each."""

from leaderboard.models import Baseline, Standing
from runners.contract.vocabulary import DeviceKind, Language, Mode, Stage, Verdict, Work

LANGUAGES = [(str(item), str(item)) for item in Language]
DEVICE_KINDS = [(str(item), str(item)) for item in DeviceKind]
MODES = [(str(item), str(item)) for item in Mode]
STAGES = [("", "none"), *((str(item), str(item)) for item in Stage)]
VERDICTS = [("", "none"), *((str(item), str(item)) for item in Verdict)]
STANDINGS = list(Standing.choices)
WORK = [("", "not known"), *((str(item), str(item)) for item in Work)]
BASELINES = [*Baseline.choices, ("", "none")]
