"""Search for fast kernels: generators propose, the surrogate sieves, the device measures the few that matter.

``grid``, ``generators``, ``archive``, ``state``, ``sieve``, ``outlook`` and ``loop`` are pure: no clock, no
database, no randomness of their own. ``services`` turns their decisions into rows.
"""
