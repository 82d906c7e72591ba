"""Files that a submission's process wrote, handed on so that no browser opens them as part of the site."""

from django.http import HttpResponse

from leaderboard.models import Submission


def trace_response(submission: Submission, content: bytes) -> HttpResponse:
    """A profiler's trace, gzip, for chrome://tracing or Perfetto."""
    name = f"{submission.version.task.slug}-{submission.pk}-trace.json.gz"
    return HttpResponse(
        content,
        content_type="application/gzip",
        headers={
            "Content-Disposition": f'attachment; filename="{name}"',
            "X-Content-Type-Options": "nosniff",
            "Content-Security-Policy": "sandbox",
        },
    )
