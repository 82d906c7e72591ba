from django.apps import AppConfig


class SearchLlmConfig(AppConfig):
    name = "leaderboard.search.llm"
    label = "search_llm"
    verbose_name = "Language models' part in searches"
