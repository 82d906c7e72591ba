"""Forecasts: what the surrogate said of a submission before it was measured."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api.serializers import Error
from leaderboard.api.views_base import ApiView, reply
from leaderboard.forecast_view import ForecastView
from leaderboard.selectors import submissions
from leaderboard.selectors.forecasts import of_submission


class ChanceOut(serializers.Serializer[object]):
    against = serializers.CharField(source="rival.label")
    seconds = serializers.FloatField(source="rival.seconds")
    probability = serializers.FloatField(help_text="P(faster), should the results be right.")
    is_at_most = serializers.BooleanField(
        help_text="Whether it is an upper bound: that far ahead no forecast tells speeds apart."
    )


class ForecastOut(serializers.Serializer[ForecastView]):
    message = serializers.CharField(help_text="Why there is no forecast; all else is null or empty then.")
    seconds = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True, help_text="Fast end of the 80 % band, seconds.")
    high = serializers.FloatField(allow_null=True)
    p_correct = serializers.FloatField(allow_null=True)
    confidence = serializers.FloatField(allow_null=True, help_text="0 an even spread, 1 a single bin.")
    is_calibrated = serializers.BooleanField(
        help_text="Whether its confidence was corrected by what came true before."
    )
    forecaster = serializers.CharField()
    chances = ChanceOut(many=True)
    measured = serializers.FloatField(allow_null=True, help_text="Seconds; null until it was timed.")
    policy = serializers.CharField(help_text="What a search would have done with it.")


class SubmissionForecast(ApiView):
    @extend_schema(operation_id="submission_forecast", responses={200: ForecastOut, 404: Error})
    def get(self, request: Request, submission_id: UUID) -> Response:
        """What was forecast of a submission you may see. 404 while there is none."""
        view = of_submission(submissions.get_visible(submission_id, request.user))
        if view is None:
            raise NotFound("Nothing was forecast of this run, or not yet.", code="no_forecast")
        return reply(ForecastOut(view))
