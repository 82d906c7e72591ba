"""Search runs in the API: start, follow by number, pause, resume, extend, cancel."""
