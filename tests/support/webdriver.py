"""Firefox and WebKitGTK in the place of Chromium, for the same tests: `PI_MCP_BROWSER=firefox` or `webkit`.

Both take the commands of WebDriver (https://www.w3.org/TR/webdriver2/): Firefox over its own socket, Marionette, WebKitGTK
over the HTTP of its WebKitWebDriver, which needs a display (xvfb-run). What only Chromium's protocol can, skips a test.
"""

import base64
import itertools
import json
import shutil
import socket
import subprocess
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.support.browser import Clicks
from tests.support.services import free_port

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"Tab": "\ue004", "Enter": "\ue007", "ArrowLeft": "\ue012", "ArrowRight": "\ue014"}
TIMEOUT_S = 30
# Pixels by which a window may be larger than what it shows.
HEIGHT = 900
# The commands: of Marionette, and the method and path of HTTP.
COMMANDS = {
    "NewSession": ("POST", ""),
    "SetTimeouts": ("POST", "/timeouts"),
    "GetWindowHandle": ("GET", "/window"),
    "NewWindow": ("POST", "/window/new"),
    "SwitchToWindow": ("POST", "/window"),
    "CloseWindow": ("DELETE", "/window"),
    "SetWindowRect": ("POST", "/window/rect"),
    "Navigate": ("POST", "/url"),
    "SwitchToFrame": ("POST", "/frame"),
    "ExecuteScript": ("POST", "/execute/sync"),
    "ExecuteAsyncScript": ("POST", "/execute/async"),
    "ElementClick": ("POST", "/element/{id}/click"),
    "PerformActions": ("POST", "/actions"),
    "TakeScreenshot": ("GET", "/screenshot"),
}
SETTLED = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


class Failed(Exception):
    """A command was refused; the text is the driver's."""


class Firefox:
    """Firefox without a window, by Marionette: messages of `LENGTH:[type, id, …]`."""

    def __init__(self, folder: Path):
        folder.joinpath("user.js").write_text(
            'user_pref("marionette.port", 0);\nuser_pref("browser.shell.checkDefaultBrowser", false);\n'
            'user_pref("datareporting.policy.dataSubmissionEnabled", false);\nuser_pref("media.autoplay.default", 0);\n'
            'user_pref("browser.startup.homepage_override.mstone", "ignore");\n'
        )
        command = ["firefox", "--headless", "--marionette", "--no-remote", "--profile", str(folder)]
        self.process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        port = int(_appears(folder / "MarionetteActivePort"))
        self.socket = socket.create_connection(("127.0.0.1", port), TIMEOUT_S * 2)
        self.ids = itertools.count(1)
        self._read()  # its greeting
        self.send("NewSession", {"capabilities": {}})

    def send(self, name: str, params: dict[str, Any]) -> Any:
        text = json.dumps([0, next(self.ids), f"WebDriver:{name}", params])
        self.socket.sendall(f"{len(text.encode())}:{text}".encode())
        _, _, error, result = self._read()
        if error:
            raise Failed(error["message"])
        return result.get("value", result) if isinstance(result, dict) else result

    def _read(self) -> Any:
        length = b""
        while (byte := self.socket.recv(1)) != b":":
            assert byte, "Firefox has ended"
            length += byte
        data = b""
        while len(data) < int(length):
            data += self.socket.recv(int(length) - len(data))
        return json.loads(data)

    def close(self) -> None:
        self.socket.close()
        self.process.kill()
        self.process.wait(TIMEOUT_S)


class WebKit:
    """WebKitGTK's MiniBrowser by its driver."""

    def __init__(self, folder: Path):
        port = free_port()
        self.process = subprocess.Popen(
            ["WebKitWebDriver", f"--port={port}", "--host=127.0.0.1"], start_new_session=True
        )
        self.url = f"http://127.0.0.1:{port}/session"
        (program,) = Path("/usr/lib").glob("*/webkit2gtk-4.*/MiniBrowser")
        options = {"binary": str(program), "args": ["--automation"]}
        always = {"browserName": "MiniBrowser", "webkitgtk:browserOptions": options}
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            try:
                session = self.send("NewSession", {"capabilities": {"alwaysMatch": always}})
                break
            except urllib.error.URLError:
                assert time.monotonic() < deadline, "WebKitWebDriver does not listen"
        self.url += "/" + session["sessionId"]

    def send(self, name: str, params: dict[str, Any]) -> Any:
        method, path = COMMANDS[name]
        data = json.dumps(params).encode() if method == "POST" else None
        request = urllib.request.Request(self.url + path.format(**params), data, method=method)
        request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_S * 2) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise Failed(json.load(error)["value"]["message"]) from None

    def close(self) -> None:
        request = urllib.request.Request(self.url, method="DELETE")
        urllib.request.urlopen(request, timeout=TIMEOUT_S).close()
        self.process.kill()
        self.process.wait(TIMEOUT_S)


ENGINES = {"firefox": (Firefox, "firefox"), "webkit": (WebKit, "WebKitWebDriver")}


def _appears(file: Path) -> str:
    """The text of a file that another process writes."""
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        if file.exists() and (text := file.read_text()):
            return text
        time.sleep(0.05)
    raise AssertionError(f"{file.name} does not appear")


class Browser:
    """One browser of an engine, as tests/support/browser.py has Chromium."""

    def __init__(self, engine: str, folder: Path):
        kind, program = ENGINES[engine]
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed; no page is looked at")
        self.engine = kind(folder)
        self.engine.send("SetTimeouts", {"script": TIMEOUT_S * 1000})
        self.first = self.engine.send("GetWindowHandle", {})

    def open(self, url: str, width: int = 720) -> "Tab":
        """A new tab at `url`, `width` CSS pixels wide."""
        self.engine.send("SwitchToWindow", {"handle": self.first})  # the last one may be closed
        handle = self.engine.send("NewWindow", {"type": "window"})["handle"]
        tab = Tab(self.engine, handle)
        tab.resize(width)
        self.engine.send("Navigate", {"url": url})
        if tab.run("innerWidth", host=True) > width:  # no window is as narrow as a phone
            if url.startswith("file:"):
                pytest.skip("only a host's page can be narrower than a window")
            tab.run(f"document.body.style.width = '{width}px'", host=True)
        return tab

    def close(self) -> None:
        self.engine.close()


class Tab(Clicks):
    """A tab; what its console says and what it asks the network for is not seen here."""

    def __init__(self, engine: Firefox | WebKit, handle: str):
        self.engine, self.handle = engine, handle
        self.console: list[str] = []
        self.requests: list[str] = []

    def send(self, method: str, **params: Any) -> None:
        """Skips the test: Chromium's own protocol is not spoken here."""
        pytest.skip(f"{method} is Chromium's")

    def type(self, text: str) -> None:
        self._keys(text)

    def resize(self, width: int, scale: float = 1) -> None:
        if scale != 1:
            pytest.skip("only Chromium zooms")
        self._outside()
        outer = width
        for _ in range(2):  # the frame of the window is as wide as it is
            self.engine.send("SetWindowRect", {"width": outer, "height": HEIGHT})
            shown = self.engine.send("ExecuteScript", {"script": "return innerWidth", "args": []})
            outer += width - shown

    def _outside(self) -> None:
        self.engine.send("SwitchToWindow", {"handle": self.handle, "focus": True})
        self.engine.send("SwitchToFrame", {"id": None})

    def _inside(self) -> None:
        """Go into the frame of the page; a host may put a sandbox of its own around it."""
        self._outside()
        for _ in range(2):
            script = "return [document.querySelectorAll('iframe'), location.pathname]"
            frames, _ = self.engine.send("ExecuteScript", {"script": script, "args": []})
            if not frames:
                return
            self.engine.send("SwitchToFrame", {"id": frames[-1], "element": frames[-1][ELEMENT]})
            script = "return location.pathname"
            if self.engine.send("ExecuteScript", {"script": script, "args": []}) != "/sandbox.html":
                return

    def run(self, expression: str, host: bool = False) -> Any:
        """The value of a JavaScript expression in the page, or in the host around it."""
        self._outside() if host else self._inside()
        # A script of the page itself sees its constants; what is no expression has no value.
        forms = [
            f"window.asked = () => ({expression}\n)",
            f"window.asked = () => {{ {expression} }}",
        ]
        script = f"""const done = arguments[arguments.length - 1];
            delete window.asked;
            for (const form of {json.dumps(forms)}) {{
              const script = document.createElement("script");
              script.textContent = form;
              if (!window.asked) document.documentElement.append(script);
              script.remove();
            }}
            try {{ Promise.resolve(window.asked()).then(value => done([value]), error => done([0, String(error)])) }}
            catch (error) {{ done([0, String(error)]) }}"""
        value = self.engine.send("ExecuteAsyncScript", {"script": script, "args": []})
        assert len(value) == 1, value[1]
        return value[0]

    def text(self, selector: str = "main") -> str:
        return str(self.run(f"document.querySelector({json.dumps(selector)}).innerText")).strip(
            "\n"
        )

    def _click(self, find: str) -> None:
        self.run(f"{find}.scrollIntoView({{ block: 'center' }})")
        self.run(SETTLED)
        element = self.engine.send("ExecuteScript", {"script": f"return {find}", "args": []})[
            ELEMENT
        ]
        self.engine.send("ElementClick", {"id": element})

    def key(self, name: str) -> None:
        self._keys([KEYS.get(name, name)])

    def _keys(self, keys: Any) -> None:
        """Press keys where the focus of the page is."""
        self._outside()
        script = "const frame = document.querySelector('iframe'); if (document.activeElement !== frame) frame?.focus()"
        self.engine.send("ExecuteScript", {"script": script, "args": []})
        self._inside()
        moves = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.engine.send(
            "PerformActions", {"actions": [{"type": "key", "id": "keyboard", "actions": moves}]}
        )

    def picture(self, file: Path) -> None:
        self._outside()
        file.write_bytes(base64.b64decode(self.engine.send("TakeScreenshot", {"full": True})))

    def close(self) -> None:
        self._outside()
        self.engine.send("CloseWindow", {})
