"""Reads. Selectors return dataclasses or model instances with all a page needs; they change nothing."""
