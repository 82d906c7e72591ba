"""The ``cuda`` language: one .cu file, compiled by nvcc without torch's headers, and what nvcc knows of it.

Nothing here needs a GPU or its driver: a machine with the compiler alone can serve the check mode.
"""
