"""Writes. Keyword-only, typed, atomic; a refusal is a services.errors.Refusal."""
