from django.apps import AppConfig
from django.db import models


class LeaderboardConfig(AppConfig):
    name = "leaderboard"
    verbose_name = "Leaderboard: rank and search"

    def ready(self) -> None:
        from leaderboard import receivers  # noqa: F401  connects the signals of runners
        from surrogate.visibility import may_be_read

        entered = models.Q(evaluation__submission__isnull=False)
        may_be_read(entered & models.Q(evaluation__submission__is_public=True))
        may_be_read(entered & ~models.Q(evaluation__submission__baseline=""))
