"""An add-on that runs Python texts in Anki's main thread, one per connection; and watches how long it is held."""

import json
import os
import socket
import threading
import time
import traceback

from aqt import mw
from aqt.qt import QTimer

TICK_MS = 20
holds: list[float] = []
"""Longest times without a tick of the window, in seconds, since they were last asked for."""
last = time.monotonic()


def tick() -> None:
    global last
    now = time.monotonic()
    holds.append(now - last)
    last = now


def run(text: str) -> object:
    names = {"mw": mw, "holds": holds}
    try:
        return eval(text, names)
    except SyntaxError:
        exec(text, names)
        return names.get("result")


def answer(connection: socket.socket) -> None:
    data = b""
    while not data.endswith(b"\0"):
        data += connection.recv(65536)
    done = threading.Event()
    outcome: list[object] = []

    def on_main() -> None:
        try:
            outcome.append(json.dumps(run(data[:-1].decode()), default=str))
        except Exception:
            outcome.append(json.dumps({"lab_error": traceback.format_exc()}))
        done.set()

    mw.taskman.run_on_main(on_main)
    done.wait()
    connection.sendall(str(outcome[0]).encode())
    connection.close()


def serve() -> None:
    listener = socket.create_server(("127.0.0.1", int(os.environ["LAB_CONTROL_PORT"])))
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=answer, args=(connection,), daemon=True).start()


timer = QTimer(mw)
timer.timeout.connect(tick)
timer.start(TICK_MS)
threading.Thread(target=serve, daemon=True).start()
