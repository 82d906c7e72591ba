"""The task contract: what is computed, on which cases, and what a verdict looks like. No Django, no torch."""
