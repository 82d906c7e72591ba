"""Rules of the static screening: what each says of a line. They classify and warn; a task may forbid some."""

from collections.abc import Mapping

#: Rule → sentence; ``{0}`` is what was found. Kept to what can be told from text alone.
RULES: Mapping[str, str] = {
    "library_call": "calls {0}, which is a library's kernel",
    "exception_fallback": "falls back to {0} when something is raised",
    "inherited_reference": "takes over {0} instead of an implementation of its own",
    "timer_patch": "replaces {0}, which times nothing here",
    "thread_use": "uses {0}; work that outlives the call is found",
    "stream_use": "uses {0}; work on other streams is waited for",
    "graph_use": "records with {0}; a graph replays the memory that it was recorded with",
    "harness_access": "looks around with {0}",
    "run_time_code": "runs text or data as code with {0}",
}
#: Findings kept: a source of one call a line must not fill the result.
MOST_FINDINGS = 200
