"""Static files as whole answers: an ASGI server would warn of whitenoise's own, which are read bit by bit."""

from django.http import HttpRequest, HttpResponse
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.responders import StaticFile


class StaticFilesMiddleware(WhiteNoiseMiddleware):  # type: ignore[misc]  # no types of its own
    """Bundles are a few hundred kilobytes at most, so that they fit in memory as they are sent."""

    @staticmethod
    def serve(static_file: StaticFile, request: HttpRequest) -> HttpResponse:
        found = static_file.get_response(request.method, request.META)
        content = b""
        if found.file is not None:
            with found.file:
                content = found.file.read()
        answer = HttpResponse(content, status=int(found.status), headers=dict(found.headers))
        if "Content-Type" not in dict(found.headers):
            del answer["Content-Type"]  # Django's default, where nothing is sent
        return answer
