"""Parts of pages, which have addresses of their own for the pages that show them to fetch anew."""

from django.http import HttpRequest


def opened_by_a_person(request: HttpRequest) -> bool:
    """Whether a browser goes there, which asks for text/html; a fetch asks for anything or says what it is.

    An answer that depends on it varies on ``Accept`` and ``HX-Request``.
    """
    return "text/html" in request.headers.get("Accept", "") and request.headers.get("HX-Request") != "true"
