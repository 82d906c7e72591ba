"""REST API v1: everything a page can do, for programs."""
