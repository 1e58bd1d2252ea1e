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
import urllib.request
from pathlib import Path

import pytest

from tests.support.browser import SETTLED, Clicks
from tests.support.client import HEADERS
from tests.support.services import free_port, is_listening, wait_until

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"Tab": "\ue004", "Enter": "\ue007", "ArrowLeft": "\ue012", "ArrowRight": "\ue014"}
TIMEOUT_S = 30
# The commands: of Marionette, and the method and path of HTTP.
COMMANDS_TEXT = """
NewSession POST
DeleteSession DELETE
SetTimeouts POST /timeouts
GetWindowHandle GET /window
NewWindow POST /window/new
SwitchToWindow POST /window
CloseWindow DELETE /window
SetWindowRect POST /window/rect
Navigate POST /url
SwitchToFrame POST /frame
ExecuteScript POST /execute/sync
ExecuteAsyncScript POST /execute/async
ElementClick POST /element/{id}/click
PerformActions POST /actions
TakeScreenshot GET /screenshot
"""
COMMANDS = {name: how for name, *how in map(str.split, COMMANDS_TEXT.strip().splitlines())}


class Failed(Exception):
    """A command was refused; the text is the driver's."""


class Firefox:
    """Firefox without a window, by Marionette: messages of `LENGTH:[type, id, …]`."""

    def __init__(self, folder):
        folder.joinpath("user.js").write_text(
            'user_pref("marionette.port", 0);\nuser_pref("browser.shell.checkDefaultBrowser", false);\n'
            'user_pref("datareporting.policy.dataSubmissionEnabled", false);\nuser_pref("media.autoplay.default", 0);\n'
            'user_pref("browser.startup.homepage_override.mstone", "ignore");\n'
        )
        command = ["firefox", "--headless", "--marionette", "--no-remote", "--profile", str(folder)]
        silent = dict.fromkeys(("stdout", "stderr"), subprocess.DEVNULL)
        self.process = subprocess.Popen(command, **silent)
        port_file = folder / "MarionetteActivePort"
        wait_until(lambda: port_file.exists() and port_file.read_text())
        port = int(port_file.read_text())
        self.socket = socket.create_connection(("127.0.0.1", port), TIMEOUT_S * 2)
        self.answers = self.socket.makefile("rb")
        self.ids = itertools.count(1)
        self._read()  # its greeting
        self.send("NewSession", capabilities={})

    def send(self, name, **params):
        text = json.dumps([0, next(self.ids), f"WebDriver:{name}", params])
        self.socket.sendall(f"{len(text.encode())}:{text}".encode())
        _, _, error, result = self._read()
        if error:
            raise Failed(error["message"])
        return result.get("value", result) if isinstance(result, dict) else result

    def _read(self):
        length = b""
        while (byte := self.answers.read(1)) != b":":
            assert byte, "Firefox has ended"
            length += byte
        return json.loads(self.answers.read(int(length)))

    def close(self):
        self.answers.close()
        self.socket.close()
        self.process.kill()
        self.process.wait(TIMEOUT_S)


class WebKit:
    """WebKitGTK's MiniBrowser by its driver."""

    def __init__(self, folder):
        port = free_port()
        command = ["WebKitWebDriver", f"--port={port}", "--host=127.0.0.1"]
        self.process = subprocess.Popen(command, start_new_session=True)
        self.url = f"http://127.0.0.1:{port}/session"
        (program,) = Path("/usr/lib").glob("*/webkit2gtk-4.*/MiniBrowser")
        options = {"binary": str(program), "args": ["--automation"]}
        always = {"browserName": "MiniBrowser", "webkitgtk:browserOptions": options}
        wait_until(lambda: is_listening(port))
        session = self.send("NewSession", capabilities={"alwaysMatch": always})
        self.url += "/" + session["sessionId"]

    def send(self, name, **params):
        method, *path = COMMANDS[name]
        url = "".join([self.url, *path]).format(**params)
        data = json.dumps(params).encode() if method == "POST" else None
        request = urllib.request.Request(url, data, HEADERS, method=method)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_S * 2) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise Failed(json.load(error)["value"]["message"]) from None

    def close(self):
        self.send("DeleteSession")
        self.process.kill()
        self.process.wait(TIMEOUT_S)


ENGINES = {"firefox": (Firefox, "firefox"), "webkit": (WebKit, "WebKitWebDriver")}


class Browser:
    """One browser of an engine, as tests/support/browser.py has Chromium."""

    def __init__(self, engine, folder):
        kind, program = ENGINES[engine]
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed; no page is looked at")
        self.engine = kind(folder)
        self.engine.send("SetTimeouts", script=TIMEOUT_S * 1000)
        self.first = self.engine.send("GetWindowHandle")

    def open(self, url, width=720):
        """A new tab at `url`, `width` CSS pixels wide."""
        self.engine.send("SwitchToWindow", handle=self.first)  # the last one may be closed
        handle = self.engine.send("NewWindow", type="window")["handle"]
        tab = Tab(self.engine, handle)
        tab.resize(width)
        self.engine.send("Navigate", url=url)
        if tab.run("innerWidth", host=True) > width:  # no window is as narrow as a phone
            if url.startswith("file:"):
                pytest.skip("only a host's page can be narrower than a window")
            tab.run(f"document.body.style.width = '{width}px'", host=True)
        return tab

    def close(self):
        self.engine.close()


class Tab(Clicks):
    """A tab; what its console says and what it asks the network for is not seen here."""

    def __init__(self, engine, handle):
        self.engine = engine
        self.handle = handle
        self.console = []
        self.requests = []

    def send(self, method, **params):
        """Skips the test: Chromium's own protocol is not spoken here."""
        pytest.skip(f"{method} is Chromium's")

    def resize(self, width, scale=1):
        if scale != 1:
            pytest.skip("only Chromium zooms")
        self._outside()
        outer = width
        for _ in range(2):  # the frame of the window is as wide as it is
            self.engine.send("SetWindowRect", width=outer, height=900)
            outer += width - self._script("return innerWidth")

    def _script(self, script, command="ExecuteScript"):
        return self.engine.send(command, script=script, args=[])

    def _outside(self):
        self.engine.send("SwitchToWindow", handle=self.handle, focus=True)
        self.engine.send("SwitchToFrame", id=None)

    def _inside(self):
        """Go into the frame of the page; a host may put a sandbox of its own around it."""
        self._outside()
        for _ in range(2):
            frames = self._script("return document.querySelectorAll('iframe')")
            if not frames:
                return
            self.engine.send("SwitchToFrame", id=frames[-1], element=frames[-1][ELEMENT])
            if self._script("return location.pathname") != "/sandbox.html":
                return

    def run(self, expression, host=False):
        """The value of a JavaScript expression in the page, or in the host around it."""
        self._outside() if host else self._inside()
        # A script of the page itself sees its constants; what is no expression has no value.
        forms = [f"({expression}\n)", f"{{ {expression} }}"]
        script = f"""const done = arguments[arguments.length - 1];
            delete window.asked;
            for (const form of {json.dumps(forms)}) {{
              const script = document.createElement("script");
              script.textContent = "window.asked = () => " + form;
              if (!window.asked) document.documentElement.append(script);
              script.remove();
            }}
            try {{ Promise.resolve(window.asked()).then(value => done([value]), error => done([0, String(error)])) }}
            catch (error) {{ done([0, String(error)]) }}"""
        value = self._script(script, "ExecuteAsyncScript")
        assert len(value) == 1, value[1]
        return value[0]

    def _click(self, find):
        self.run(f"{find}.scrollIntoView({{ block: 'center' }})")
        self.run(SETTLED)
        self.engine.send("ElementClick", id=self._script(f"return {find}")[ELEMENT])

    def key(self, name):
        self.type([KEYS.get(name, name)])

    def type(self, keys):
        """Press keys where the focus of the page is."""
        self._outside()
        frame = "const frame = document.querySelector('iframe')"
        self._script(f"{frame}; if (document.activeElement !== frame) frame?.focus()")
        self._inside()
        moves = [{"type": event, "value": key} for key in keys for event in ("keyDown", "keyUp")]
        keyboard = {"type": "key", "id": "keyboard", "actions": moves}
        self.engine.send("PerformActions", actions=[keyboard])

    def picture(self, file):
        self._outside()
        file.write_bytes(base64.b64decode(self.engine.send("TakeScreenshot", full=True)))

    def close(self):
        self._outside()
        self.engine.send("CloseWindow")
