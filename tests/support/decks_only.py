"""AnkiConnect as far as listing decks: for tests that are about the way there."""

import socket
import threading
from contextlib import contextmanager

ANSWER = b'{"result": {"Default": 1}, "error": null}'


@contextmanager
def decks_only(port=0):
    """Gives the loopback port where it listens; 0: any that is free."""
    with socket.create_server(("127.0.0.1", port)) as listener:
        threading.Thread(target=_serve, args=(listener,), daemon=True).start()
        try:
            yield listener.getsockname()[1]
        finally:
            listener.shutdown(socket.SHUT_RDWR)


def _serve(listener):
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection:
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(ANSWER), ANSWER))
