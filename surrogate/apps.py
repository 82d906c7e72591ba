from django.apps import AppConfig


class SurrogateConfig(AppConfig):
    name = "surrogate"
    verbose_name = "Surrogate: predict"

    def ready(self) -> None:
        from surrogate import receivers  # noqa: F401 - connects them
