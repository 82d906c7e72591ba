"""Asking Claude: typed requests and outcomes, retries under a deadline, money reserved before it is spent."""
