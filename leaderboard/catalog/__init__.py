"""The built-in tasks: one folder of data each, read by ``loader``."""
