from django.apps import AppConfig


class LeaderboardConfig(AppConfig):
    name = "leaderboard"
    verbose_name = "Leaderboard: rank and search"

    def ready(self) -> None:
        from leaderboard import receivers  # noqa: F401  connects the signals of runners
        from leaderboard.readers import READERS
        from surrogate.visibility import declare

        declare(READERS)
