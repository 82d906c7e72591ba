"""Ports for servers that a test starts in another process."""

import random
import socket

#: Below the range from which Linux takes the ports of outgoing connections (32768 to 60999 by default): one
#: of those may be taken by any connection between the moment it is found free and the moment it is used.
_RANGE = (20_000, 32_000)


def free_port() -> int:
    """A port of 127.0.0.1 on which nothing listens."""
    while True:
        port = random.randrange(*_RANGE)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
