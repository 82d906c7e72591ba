"""Tries every way to another machine or another process that a socket offers."""

import socket

PORT, ABSTRACT = int("@PORT@"), "@ABSTRACT@"


def attempt(name, action):
    try:
        action()
        print("REACHED", name)
    except OSError as error:
        print("tried", name, error)


def datagram(host):
    found = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    found.settimeout(1)
    found.sendto(b"hello", (host, PORT))
    found.recv(10)


def abstract():
    socket.socket(socket.AF_UNIX).connect("\0" + ABSTRACT)


attempt("tcp to the host", lambda: socket.create_connection(("127.0.0.1", PORT), timeout=1))
attempt("tcp outside", lambda: socket.create_connection(("192.0.2.1", 80), timeout=1))
attempt("tcp6", lambda: socket.create_connection(("::1", PORT), timeout=1))
attempt("udp", lambda: datagram("127.0.0.1"))
attempt("dns", lambda: socket.getaddrinfo("example.org", 80))
attempt("abstract", abstract)
attempt("vsock", lambda: socket.socket(40, socket.SOCK_STREAM))
attempt("packet", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
attempt("bluetooth", lambda: socket.socket(31, socket.SOCK_RAW, 0))
attempt("raw", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
for path in ("/run/docker.sock", "/var/run/postgresql/.s.PGSQL.5432", "/tmp/.X11-unix/X0", "/run/dbus/system_bus_socket"):
    attempt(path, lambda: socket.socket(socket.AF_UNIX).connect(path))


def kernel(x):
    return 2 * x + 1
