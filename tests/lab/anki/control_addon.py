"""An add-on that runs Python texts in Anki's main thread, one per connection."""

import json
import os
import socketserver
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


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        text = self.rfile.read().decode()
        reply = Future()
        mw.taskman.run_on_main(lambda: reply.set_result(outcome(text)))
        self.wfile.write(reply.result().encode())


address = ("127.0.0.1", int(os.environ["LAB_CONTROL_PORT"]))
server = socketserver.ThreadingTCPServer(address, Handler)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
