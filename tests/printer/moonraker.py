"""A Moonraker on loopback that answers as a real one did: `moonraker.json`, recorded by tests/lab/klipper."""

import json
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from tests.printer import klippy
from tests.support import web

RECORDED = json.loads(Path(__file__).with_name("moonraker.json").read_text("utf-8"))
JSON = "application/json; charset=UTF-8"
JOB = json.loads(RECORDED["server/history/list?limit=1"]["body"])["result"]["jobs"][0] | {
    "filename": "benchy.gcode", "status": "klippy_shutdown", "end_time": 1785751900.0,
    "print_duration": 612.4, "filament_used": 1234.5,
}  # fmt: skip


class Moonraker:
    """A printer's folder and what Klipper says there; `results` None: Klipper was never there."""

    def __init__(self, folder, results=klippy.RESULTS, jobs=(), key=""):
        self.folder = folder
        self.results = results
        self.jobs = jobs
        self.key = key
        self.requests = []

    def answer(self, path, headers):
        """Status, body and headers of the answer to a request, which is noted."""
        self.requests.append(path)
        url = urlsplit(path)
        path = unquote(url.path)
        query = dict(parse_qsl(url.query, keep_blank_values=True))
        file = self.folder / path.removeprefix("/server/files/").lstrip("/")
        if self.key and headers.get("X-Api-Key") != self.key:
            return recorded("it wants a key")
        if path.startswith("/printer") and self.results is None:
            return recorded("Klipper was never there")
        if path == "/printer/info":
            return result(self.results["info"])
        if path == "/printer/objects/query":
            objects = {name: fields.split(",") for name, fields in query.items()}
            status = klippy.status(self.results["objects/query"], objects)
            return result({"status": status})
        if path == "/server/history/list":
            return result({"jobs": self.jobs})
        if path == "/server/files/list":
            return result(listing(self.folder / query["root"]))
        if file.is_file():
            return content(file.read_bytes(), headers.get("Range", ""))
        return recorded("server/files/logs/nope.log")


def recorded(name):
    response = RECORDED[name]
    return response["status"], response["body"].encode(), {"Content-Type": response["type"]}


def result(value):
    return 200, json.dumps({"result": value}).encode(), {"Content-Type": JSON}


def listing(folder):
    files = []
    for path in filter(Path.is_file, sorted(folder.rglob("*"))):
        status = path.stat()
        files.append(
            {
                "path": str(path.relative_to(folder)),
                "modified": status.st_mtime,
                "size": status.st_size,
                "permissions": "r",
            }
        )
    return files


def content(data, wanted):
    """A file; of `bytes=-20` its end, or all of it if it is shorter."""
    size = len(data)
    most = int(wanted.removeprefix("bytes=-") or size)
    headers = {"Content-Type": "text/plain"}
    if most >= size:
        return 200, data, headers
    headers["Content-Range"] = f"bytes {size - most}-{size - 1}/{size}"
    return 206, data[-most:], headers


@contextmanager
def serving(moonraker):
    """Its address while it is there."""
    with web.serving() as server:
        server.otherwise = lambda handler: handler.send(
            *moonraker.answer(handler.path, handler.headers)
        )
        yield server.url()
