"""Judging forecasters on measured kernels that they did not learn from."""
