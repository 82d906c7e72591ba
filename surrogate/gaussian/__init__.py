"""A Gaussian process over a kernel's settings and over what the same kernel took on other devices.

Made for searches: it learns from a handful of measurements, says how unsure it is, and knows how measuring
one kernel lessens the doubt about others. Pure numpy, no Django.
"""
