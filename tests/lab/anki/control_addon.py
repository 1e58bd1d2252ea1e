"""An add-on that runs Python texts in Anki's main thread, one per connection."""

import json
import os
import socket
import threading
import traceback

from aqt import mw


def run(text):
    names = {"mw": mw}
    try:
        return eval(text, names)
    except SyntaxError:
        exec(text, names)
        return names.get("result")


def answer(connection):
    data = b""
    while not data.endswith(b"\0"):
        data += connection.recv(65536)
    done = threading.Event()
    outcome = []

    def on_main():
        try:
            outcome.append(json.dumps(run(data[:-1].decode()), default=str))
        except Exception:
            outcome.append(json.dumps({"lab_error": traceback.format_exc()}))
        done.set()

    mw.taskman.run_on_main(on_main)
    done.wait()
    connection.sendall(outcome[0].encode())
    connection.close()


def serve():
    listener = socket.create_server(("127.0.0.1", int(os.environ["LAB_CONTROL_PORT"])))
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=answer, args=(connection,), daemon=True).start()


threading.Thread(target=serve, daemon=True).start()
