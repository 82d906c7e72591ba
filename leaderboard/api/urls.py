"""Addresses of the API, below /api/v1/."""

from django.urls import include, path, re_path
from drf_spectacular.views import SpectacularJSONAPIView

from leaderboard.api import (
    account_views,
    docs,
    forecast_views,
    index,
    submission_views,
    task_views,
    views_base,
)

app_name = "api"

urlpatterns = [
    path("", index.Index.as_view(), name="index"),
    path("tasks/", task_views.TaskList.as_view(), name="tasks"),
    path("tasks/<slug:slug>/", task_views.TaskDetail.as_view(), name="task"),
    path("tasks/<slug:slug>/board/", task_views.TaskBoard.as_view(), name="board"),
    path("tasks/<slug:slug>/history/", task_views.TaskHistory.as_view(), name="history"),
    path("tasks/<slug:slug>/options/", task_views.TaskOptions.as_view(), name="options"),
    path("records/", task_views.RecordList.as_view(), name="records"),
    path("devices/", task_views.DeviceList.as_view(), name="devices"),
    path("submissions/", submission_views.SubmissionList.as_view(), name="submissions"),
    path("submissions/<uuid:submission_id>/", submission_views.SubmissionDetail.as_view(), name="submission"),
    path(
        "submissions/<uuid:submission_id>/source/",
        submission_views.SubmissionSource.as_view(),
        name="submission-source",
    ),
    path(
        "submissions/<uuid:submission_id>/result/",
        submission_views.SubmissionResult.as_view(),
        name="submission-result",
    ),
    path(
        "submissions/<uuid:submission_id>/forecast/",
        forecast_views.SubmissionForecast.as_view(),
        name="submission-forecast",
    ),
    path(
        "submissions/<uuid:submission_id>/trace/",
        submission_views.SubmissionTrace.as_view(),
        name="submission-trace",
    ),
    path(
        "submissions/<uuid:submission_id>/cancel/",
        submission_views.SubmissionCancel.as_view(),
        name="submission-cancel",
    ),
    path("searches/", include("leaderboard.search.api.urls")),
    path("budget/", account_views.BudgetList.as_view(), name="budget"),
    path("tokens/", account_views.TokenList.as_view(), name="tokens"),
    path("tokens/<int:token_id>/", account_views.TokenDetail.as_view(), name="token"),
    path("users/<str:username>/", task_views.UserDetail.as_view(), name="user"),
    path("schema/", SpectacularJSONAPIView.as_view(), name="schema"),
    path("docs/", docs.docs, name="docs"),
    re_path(r"", views_base.NothingHere.as_view()),
]
