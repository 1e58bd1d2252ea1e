"""A deadline for all that happens on one connection."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def cutting(connected: socket.socket, deadline: float) -> Iterator[None]:
    """Shut the connection at `deadline` (of `time.monotonic`), however slowly the other side drips.

    A socket's own timeout begins anew with every byte. Raises TimeoutError then.
    """
    late = threading.Event()

    def cut() -> None:
        late.set()
        with suppress(OSError):
            socket.socket.shutdown(connected, socket.SHUT_RDWR)

    timer = threading.Timer(max(0.0, deadline - time.monotonic()), cut)
    timer.daemon = True
    timer.start()
    try:
        yield
    except Exception as error:
        if late.is_set():
            raise TimeoutError from error
        raise
    finally:
        timer.cancel()
    if late.is_set():
        raise TimeoutError
