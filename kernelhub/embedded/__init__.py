"""PostgreSQL and Redis from Python wheels, for machines that have neither."""
