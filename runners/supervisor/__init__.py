"""The trusted side of an evaluation: the only place that holds reference, inputs, clock and verdict."""
