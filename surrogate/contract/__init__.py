"""The forecast contract: what a forecaster is asked and what it may answer. No Django, no torch."""
