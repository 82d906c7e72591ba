"""Only text that is UTF-8: a request may name any of Python's codecs, among them some that decode no text."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, JsonResponse

GetResponse = Callable[[HttpRequest], HttpResponse]

_ACCEPTED = {"utf-8", "utf8", "us-ascii", "ascii"}


def only_utf8(get_response: GetResponse) -> GetResponse:
    """Middleware that answers 400 to any other ``charset`` of a Content-Type."""

    def answer(request: HttpRequest) -> HttpResponse:
        charset = (request.content_params or {}).get("charset", "utf-8")
        return get_response(request) if charset.lower() in _ACCEPTED else _refusal(request)

    return answer


def _refusal(request: HttpRequest) -> HttpResponse:
    text = "The Content-Type of the request names a charset that is not utf-8; send UTF-8."
    if request.path.startswith("/api/"):
        error = {"code": "charset_unknown", "message": text, "line": None, "field": None}
        return JsonResponse({"error": error}, status=400)
    return HttpResponse(text, status=400, content_type="text/plain; charset=utf-8")
