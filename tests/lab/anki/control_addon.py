"""An add-on that runs Python texts in Anki's main thread, one per connection."""

import json
import os
import socket
import threading
import traceback
from concurrent.futures import Future

from aqt import mw


def run(text):
    names = {"mw": mw}
    try:
        return eval(text, names)
    except SyntaxError:
        exec(text, names)
        return names.get("result")


def outcome(text):
    """The JSON of what a text gives, or of its error."""
    try:
        return json.dumps(run(text), default=str)
    except Exception:
        return json.dumps({"lab_error": traceback.format_exc()})


def answer(connection):
    data = b""
    while not data.endswith(b"\0"):
        data += connection.recv(65536)
    reply = Future()
    mw.taskman.run_on_main(lambda: reply.set_result(outcome(data[:-1].decode())))
    connection.sendall(reply.result().encode())
    connection.close()


def serve():
    listener = socket.create_server(("127.0.0.1", int(os.environ["LAB_CONTROL_PORT"])))
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=answer, args=(connection,), daemon=True).start()


threading.Thread(target=serve, daemon=True).start()
