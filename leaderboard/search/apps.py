from django.apps import AppConfig
from django.db import models


class SearchConfig(AppConfig):
    name = "leaderboard.search"
    label = "search"
    verbose_name = "Search runs"

    def ready(self) -> None:
        from leaderboard.search import receivers  # noqa: F401  connects the signals of runners
        from surrogate.visibility import may_be_read

        may_be_read(models.Q(evaluation__search_candidate__run__is_public=True))
