"""Addresses of the sockets."""

from django.urls import path, re_path

from leaderboard.live.consumers import BoardConsumer, NowhereConsumer, SubmissionConsumer
from leaderboard.live.forecasts import ForecastConsumer
from leaderboard.live.searches import SearchConsumer

websocket_urlpatterns = [
    path("ws/submissions/<uuid:submission_id>/", SubmissionConsumer.as_asgi()),
    path("ws/boards/<slug:task_slug>/<slug:device_slug>/", BoardConsumer.as_asgi()),
    path("ws/searches/<uuid:run_id>/", SearchConsumer.as_asgi()),
    path("ws/forecast/", ForecastConsumer.as_asgi()),
    re_path(r"", NowhereConsumer.as_asgi()),
]
