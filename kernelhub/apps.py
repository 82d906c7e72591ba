from django.apps import AppConfig


class KernelHubConfig(AppConfig):
    name = "kernelhub"

    def ready(self) -> None:
        from kernelhub import broker, checks  # noqa: F401  the broker must be set before actors are declared
