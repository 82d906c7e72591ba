"""The database connection of a request goes back before its answer is sent."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from leaderboard.connections import give_back

GetResponse = Callable[[HttpRequest], HttpResponse]


def given_back(get_response: GetResponse) -> GetResponse:
    """Middleware, the outermost one. Django itself waits until the answer was read, at the reader's pace."""

    def answer(request: HttpRequest) -> HttpResponse:
        try:
            return get_response(request)
        finally:
            give_back()

    return answer
