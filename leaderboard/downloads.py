"""Files that a submission's process wrote, handed on so that no browser opens them as part of the site."""

from django.http import HttpResponse

from leaderboard.models import Submission

#: What a raw report may be called: a trace for chrome://tracing or Perfetto, a report for Nsight Compute.
_NAMES = ("trace.json.gz", "report.ncu-rep.gz")


def trace_response(submission: Submission, content: bytes) -> HttpResponse:
    """A profiler's raw report, gzip."""
    profile = (submission.evaluation.result or {}).get("profile") or {}
    kind = profile.get("raw") if profile.get("raw") in _NAMES else _NAMES[0]
    name = f"{submission.version.task.slug}-{submission.pk}-{kind}"
    return HttpResponse(
        content,
        content_type="application/gzip",
        headers={
            "Content-Disposition": f'attachment; filename="{name}"',
            "X-Content-Type-Options": "nosniff",
            "Content-Security-Policy": "sandbox",
        },
    )
