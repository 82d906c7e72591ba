"""Inherits the reference and changes nothing."""

from reference import Model


class ModelNew(Model):
    pass


kernel = ModelNew()
