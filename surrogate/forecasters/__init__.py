"""Forecasters: everything that can say how fast a kernel will be without running it."""
