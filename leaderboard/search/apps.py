from django.apps import AppConfig


class SearchConfig(AppConfig):
    name = "leaderboard.search"
    label = "search"
    verbose_name = "Search runs"

    def ready(self) -> None:
        from leaderboard.search import receivers  # noqa: F401  connects the signals of runners
        from leaderboard.search.readers import READERS
        from surrogate.visibility import declare

        declare(READERS)
