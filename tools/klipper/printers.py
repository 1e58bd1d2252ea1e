"""The printers that the tools read: the one whose folder is on this machine, and those behind a Moonraker.

Both give the same three things: Klipper's state, its logs, its configuration. Nothing is ever asked that
acts: of a socket two reading methods, of a Moonraker only GET.
"""

import fnmatch
import json
import os
import posixpath
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple
from urllib.parse import quote, urlencode

from tools.core import http, toolsets
from tools.toolkit import JsonObject, ToolError

from . import printer_data, settings
from .config import printer_cfg

# The name of the printer whose folder is on this machine.
HERE = "here"
# Seconds for everything that one call asks of one printer.
PRINTER_TIMEOUT_S = 8.0
# Bytes of one answer of a Moonraker, and of the end of a log.
MOST_MOONRAKER_BYTES = 4_000_000
LONGEST_READ_BYTES = 65_536
# The end of each message on a socket.
MESSAGE_END = b"\x03"
# The methods that are ever asked for (Klipper's API_Server.md), and Moonraker's own about its history.
INFO = "info"
QUERY = "objects/query"
HISTORY = "server.history.list"
LOG_NAME = "klippy.log"
# Errors that reading an answer raises if its form is not Klipper's or Moonraker's.
FORM_ERRORS = (ValueError, TypeError, AttributeError, LookupError, RecursionError)
PrinterName = Annotated[str, "a name of PRINTERS, or `here`"]
FILES_HINT = "Name a file in the printer's own folder."
UNREACHABLE_HINT = "Switch it on, or correct PRINTERS: Moonraker's port is mostly 7125, that of its web page another."


class KlippyLog(NamedTuple):
    """A log of Klipper: its lines, when it was last written to in seconds since 1970, how many bytes of its
    beginning are left out."""

    lines: Callable[[], Iterable[bytes]]
    written: float = 0.0
    cut_bytes: int = 0


def printer_names() -> list[str]:
    """List the printers that there are, the one on this machine first. Raises ToolError NOT_ALLOWED."""
    # Klipper's tools read them too, so the scope is checked here.
    if not toolsets.offers("printer"):
        raise ToolError(
            "The printer's own files are not for this caller",
            "A token needs the scope `printer`, and MCP_TOOLSETS must include it.",
            "NOT_ALLOWED",
        )
    here = [HERE] if printer_data.printer_folder().is_dir() else []
    return [*here, *settings.current().printers]


def printer_named(name: str, alternative: str = "") -> "Printer":
    """Find the printer with this name; without a name the one on this machine, or else the only one.

    `alternative` ends the hint if there is none: what the tool accepts instead. Raises ToolError.
    """
    listed = printer_names() or [HERE]
    if not name and (HERE in listed or len(listed) == 1):
        name = listed[0]
    deadline = time.monotonic() + PRINTER_TIMEOUT_S
    if name == HERE:
        return LocalPrinter(printer_data.existing_folder(alternative), deadline)
    values = settings.current()
    if name not in values.printers:
        raise ToolError(
            f"`printer` must be one of: {', '.join(listed)}",
            "PRINTERS names them.",
            "WHICH_PRINTER",
        )
    return RemotePrinter(name, values.printers[name], values.printer_keys.get(name, ""), deadline)


class LocalPrinter(NamedTuple):
    """The printer on this machine: the folder that Moonraker keeps for it, with Klipper's socket."""

    path: Path
    deadline: float
    name: str = HERE

    def request(self, method: str, params: JsonObject) -> Any:
        """Ask Klipper's socket, or Moonraker's, for the result of a method. Raises ToolError."""
        path = self.path / "comms" / ("moonraker.sock" if method == HISTORY else "klippy.sock")
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
                connection.settimeout(PRINTER_TIMEOUT_S)
                connection.connect(str(path))
                request = {"jsonrpc": "2.0", "id": method, "method": method, "params": params}
                connection.sendall(json.dumps(request).encode() + MESSAGE_END)
                received = b""
                while True:  # notifications come, too
                    connection.settimeout(max(self.deadline - time.monotonic(), 0.001))
                    chunk = connection.recv(LONGEST_READ_BYTES)
                    if not chunk or len(received) > 1_000_000:  # Klipper's have a few thousand
                        raise ValueError("it ends, or does not end")
                    *messages, received = (received + chunk).split(MESSAGE_END)
                    for message in map(json.loads, messages):
                        if message.get("id") == method:
                            return message["result"]
        except (OSError, *FORM_ERRORS) as error:
            raise ToolError(
                f"Klipper is not running, or something else answers at {path}: {error}",
                "printer_log shows what happened; start Klipper, or check its service.",
                "PRINTER_SILENT",
            ) from None

    def config(self, path: str) -> printer_cfg.PrinterConfig:
        """Read a file in its folder config, with what it includes. Raises ToolError."""
        return printer_cfg.from_files(self.path / "config" / path, self.path)

    def logs(self) -> list[KlippyLog]:
        """List the logs, the newest last: Klipper begins one each day. Reading one may raise ToolError."""
        newest = self.path / "logs" / LOG_NAME
        rotated = sorted(newest.parent.glob(f"{LOG_NAME}.*"))  # `klippy.log.2026-08-03`
        written = newest.stat().st_mtime if newest.exists() else 0
        return [KlippyLog(partial(self._lines, path), written) for path in (*rotated, newest)]

    def _lines(self, path: Path) -> Iterator[bytes]:
        with printer_data.opened(path, self.path) as file:
            # The end of a longer log; a day of printing writes 60 MB.
            file.seek(max(0, os.fstat(file.fileno()).st_size - 200_000_000))
            yield from iter(lambda: file.readline(LONGEST_READ_BYTES), b"")


class RemotePrinter(NamedTuple):
    """A printer at an address of PRINTERS, by Moonraker's HTTP API (docs/external_api of Moonraker)."""

    name: str
    url: str
    key: str
    deadline: float

    def request(self, method: str, params: JsonObject) -> Any:
        """Ask for the result of a method. Raises ToolError."""
        if method == HISTORY:
            return self._result("server/history/list", params)
        query = {name: ",".join(fields) for name, fields in params.get("objects", {}).items()}
        return self._result(f"printer/{method}", query)

    def config(self, path: str) -> printer_cfg.PrinterConfig:
        """Read a file of its configuration, with what it includes. Raises ToolError."""
        base = posixpath.dirname(path)
        listed = sorted(file["path"] for file in self._files("config"))

        def find_included(path_pattern: str, _: str) -> printer_cfg.IncludedFiles:
            pattern = posixpath.normpath(posixpath.join(base, path_pattern))
            # As many slashes: `*` stands for a part of one name. It means no hidden files.
            for name in fnmatch.filter(listed, pattern):
                if name.count("/") == pattern.count("/") and "/." not in f"/{name}":
                    data = None
                    with suppress(ToolError):
                        data = self._file(name)
                    yield posixpath.relpath(name, base), data

        return printer_cfg.from_bytes(self._file(path), find_included)

    def logs(self) -> list[KlippyLog]:
        """List the logs, the newest last. Raises ToolError."""
        logs = []
        for file in sorted(self._files("logs"), key=lambda file: file["modified"]):
            if file["path"].startswith(LOG_NAME):
                # A file that is read again is not sent again.
                lines = cache(partial(self._lines, file["path"]))
                logs.append(
                    KlippyLog(lines, file["modified"], max(0, file["size"] - MOST_MOONRAKER_BYTES))
                )
        return logs or [KlippyLog(partial(self._lines, LOG_NAME))]

    def _lines(self, name: str) -> list[bytes]:
        headers = {"Range": f"bytes=-{MOST_MOONRAKER_BYTES}"}
        return self._get(f"server/files/logs/{quote(name)}", headers).splitlines()

    def _files(self, root: str) -> list[Any]:
        return self._result("server/files/list", {"root": root}, list)

    def _file(self, path: str) -> bytes:
        """Read a file of the configuration."""
        if ".." in path:
            raise self._error(
                f"shows nothing outside its folder: {path[:80]}", "OUTSIDE", FILES_HINT
            )
        return self._get(f"server/files/config/{quote(path)}")

    def _result(self, path: str, query: JsonObject, expected_type: type = object) -> Any:
        """Ask for a result in JSON of a type. Raises ToolError."""
        with suppress(*FORM_ERRORS):
            result = json.loads(self._get(f"{path}?{urlencode(query)}"))["result"]
            if isinstance(result, expected_type):
                return result
        raise self._error(f"at {self.url} is not a Moonraker", "NOT_MOONRAKER")

    def _get(self, path: str, headers: Mapping[str, str] = {}) -> bytes:
        """Ask for the body of an answer. Raises ToolError."""
        request = http.Request(f"{self.url}/{path}", headers={**headers, "X-Api-Key": self.key})
        try:
            response = http.send(request, http.Bounds(self.deadline, MOST_MOONRAKER_BYTES))
        except http.HttpError as error:
            raise self._error(
                f"does not answer at {self.url}: {error.reason}", "PRINTER_SILENT"
            ) from error
        status = response.status
        if status < 300:
            return response.body
        if status in (401, 403):
            raise self._error(
                "wants an API key, or another one",
                "PRINTER_KEY",
                "Set PRINTER_KEYS to `NAME=KEY`; the printer's web page shows the key.",
            )
        # A web page comes from another program than Moonraker.
        is_absent = status == 404 and response.headers.get_content_type() != "text/html"
        # Moonraker does not know Klipper's addresses until Klipper has run once.
        if status in (502, 503) or (is_absent and path.startswith("printer/")):
            raise self._error(
                "has no Klipper that runs, or no Moonraker",
                "KLIPPER_OFF",
                "printer_log shows what happened; start Klipper there.",
            )
        if is_absent:
            raise self._error(f"has no {path.rpartition('/')[2]}", "UNREADABLE", FILES_HINT)
        raise self._error(f"at {self.url} is not a Moonraker (status {status})", "NOT_MOONRAKER")

    def _error(self, message: str, code: str, hint: str = UNREACHABLE_HINT) -> ToolError:
        return ToolError(f"The printer {self.name} {message}", hint, code)


Printer = LocalPrinter | RemotePrinter
