from django.apps import AppConfig


class SurrogateConfig(AppConfig):
    name = "surrogate"
    verbose_name = "Surrogate: predict"
