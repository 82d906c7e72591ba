"""Lent database connections: web processes share a few, so nobody keeps one that he does not use."""

from django.db import connection


def give_back() -> None:
    """Between two queries, where what follows takes a while; the next query borrows one again.

    Does nothing inside a transaction.
    """
    if not connection.in_atomic_block:
        connection.close()
