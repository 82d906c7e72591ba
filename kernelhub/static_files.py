"""Static files as whole answers: an ASGI server would warn of whitenoise's own, which are read bit by bit."""

import re

from django.http import HttpRequest, HttpResponse
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.responders import StaticFile

#: One range; several at once are answered with the whole file, which is always allowed.
_RANGE = re.compile(r"bytes=(?:(\d{1,15})-(\d{1,15})?|-(\d{1,15}))", re.ASCII | re.IGNORECASE)
#: One coding with its weight.
_CODING = re.compile(
    r"([\w!#$%&'*+.^`|~-]+)(?:[ \t]*;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?", re.ASCII | re.IGNORECASE
)
_AS_IT_IS = "identity"
_LEAST = 0.0005  # below every weight that can be written but 0


class StaticFilesMiddleware(WhiteNoiseMiddleware):  # type: ignore[misc]  # no types of its own
    """Bundles are a few hundred kilobytes at most, so that they fit in memory as they are sent."""

    @staticmethod
    def serve(static_file: StaticFile, request: HttpRequest) -> HttpResponse:
        # Ranges are cut here: whitenoise takes "bytes=--5" and "bytes=5-3" for one, and "bytes=0-0" for none.
        asked = {name: value for name, value in request.META.items() if name != "HTTP_RANGE"}
        # And codings are chosen here: whitenoise takes "gzip;q=0" for a wish.
        asked["HTTP_ACCEPT_ENCODING"] = _coding(
            asked.get("HTTP_ACCEPT_ENCODING", ""),
            [dict(headers).get("Content-Encoding", _AS_IT_IS) for _, _, headers in static_file.alternatives],
        )
        found = static_file.get_response(request.method, asked)
        content = b""
        if found.file is not None:
            with found.file:
                content = found.file.read()
        answer = HttpResponse(content, status=int(found.status), headers=dict(found.headers))
        if "Content-Type" not in dict(found.headers):
            del answer["Content-Type"]  # Django's default, where nothing is sent
        if found.status == 200 and request.method == "GET":
            part = _part(request, len(content))
            return answer if part is None else _cut(answer, part)
        if found.status != 304:
            answer.headers.setdefault("Content-Length", "0")
        return answer


def _coding(accepted: str, offered: list[str]) -> str:
    """Which of the codings ``offered`` is liked best, of equal ones the first (RFC 9110, 12.5.3).

    Where none is acceptable a file is sent as it is, which 12.4.1 allows.
    """
    read = (_CODING.fullmatch(item.strip(" \t")) for item in accepted.split(","))
    weights = {
        found[1].lower().removeprefix("x-"): float(found[2] or 1) for found in read if found is not None
    }

    def weight(coding: str) -> float:
        # What is not named has the weight of "*"; without one only the file as it is will do, after the rest.
        return weights.get(coding, weights.get("*", _LEAST if coding == _AS_IT_IS else 0.0))

    best = max(offered, key=weight)
    return best if weight(best) else _AS_IT_IS


def _part(request: HttpRequest, size: int) -> range | None:
    """The bytes asked for, none of them where the file has none of those; None: the whole (RFC 9110, 14.2).

    A range that holds only for a known version of the file (``If-Range``) gets the whole of this one.
    """
    asked = _RANGE.fullmatch(request.META.get("HTTP_RANGE", "").strip())
    if asked is None or "HTTP_IF_RANGE" in request.META:
        return None
    first, last, suffix = (None if text is None else int(text) for text in asked.groups())
    if suffix is not None:
        return range(max(0, size - suffix), size)
    if first is None or (last is not None and last < first):
        return None
    return range(first, size if last is None else min(last + 1, size))


def _cut(answer: HttpResponse, part: range) -> HttpResponse:
    size = len(answer.content)
    if not part:
        refused = HttpResponse(
            status=416, headers={"Content-Range": f"bytes */{size}", "Content-Length": "0"}
        )
        del refused["Content-Type"]
        return refused
    answer.content = answer.content[part.start : part.stop]
    answer.status_code = 206
    answer["Content-Range"] = f"bytes {part.start}-{part.stop - 1}/{size}"
    answer["Content-Length"] = str(len(part))
    return answer
