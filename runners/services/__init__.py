"""Writes of the measuring side. Every status change is a conditional UPDATE."""
