"""Files that strangers' programs wrote, handed on so that no browser opens them as part of the site."""

from django.http import HttpResponse

from leaderboard.models import Submission

#: What a raw report may be called: a trace for chrome://tracing or Perfetto, a report for Nsight Compute.
_NAMES = ("trace.json.gz", "report.ncu-rep.gz")


def trace_response(submission: Submission, content: bytes) -> HttpResponse:
    """A profiler's raw report, gzip."""
    profile = (submission.evaluation.result or {}).get("profile") or {}
    kind = profile.get("raw") if profile.get("raw") in _NAMES else _NAMES[0]
    return gzip_response(content, f"{submission.version.task.slug}-{submission.pk}-{kind}")


def gzip_response(content: bytes, name: str) -> HttpResponse:
    """``name`` is the site's own: it goes into a header as it is."""
    return HttpResponse(
        content,
        content_type="application/gzip",
        headers={
            "Content-Disposition": f'attachment; filename="{name}"',
            "X-Content-Type-Options": "nosniff",
            "Content-Security-Policy": "sandbox",
        },
    )
