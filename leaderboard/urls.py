"""Addresses of the pages. The API has its own list in ``leaderboard.api.urls``."""

from django.urls import include, path

from leaderboard.views import home, submissions, submit, surrogate, tasks, tokens

urlpatterns = [
    path("", home.home, name="home"),
    path("tasks/<slug:slug>/", tasks.task, name="task"),
    path("tasks/<slug:slug>/board/", tasks.board, name="task-board"),
    path("tasks/<slug:slug>/submit/", submit.submit, name="submit"),
    path("submissions/", home.my_submissions, name="my-submissions"),
    path("submissions/<uuid:submission_id>/", submissions.submission, name="submission"),
    path("submissions/<uuid:submission_id>/live/", submissions.live, name="submission-live"),
    path("submissions/<uuid:submission_id>/source/", submissions.source, name="submission-source"),
    path("submissions/<uuid:submission_id>/trace/", submissions.trace, name="submission-trace"),
    path("submissions/<uuid:submission_id>/cancel/", submissions.cancel, name="submission-cancel"),
    path(
        "submissions/<uuid:submission_id>/visibility/", submissions.visibility, name="submission-visibility"
    ),
    path("searches/", include("leaderboard.search.pages.urls")),
    path("users/<str:username>/", home.user_page, name="user"),
    path("devices/", home.device_list, name="devices"),
    path("surrogate/", surrogate.overview, name="surrogate"),
    path("surrogate/<slug:slug>/", surrogate.device, name="surrogate-device"),
    path("settings/tokens/", tokens.token_list, name="tokens"),
    path("settings/tokens/<int:token_id>/revoke/", tokens.revoke, name="token-revoke"),
]
