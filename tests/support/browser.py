"""Headless Chromium, driven over its own pipe: the DevTools protocol, JSON messages that end with a NUL.

https://chromedevtools.github.io/devtools-protocol/
"""

import base64
import itertools
import json
import os
import shutil
import subprocess
import threading

PROGRAMS = "chromium chromium-headless-shell chromium-browser google-chrome".split()
OPTIONS = """--headless --no-sandbox --disable-gpu --disable-quic --disable-dev-shm-usage --hide-scrollbars
--no-first-run --disable-background-networking --disable-component-update --disable-sync --disable-extensions
--force-color-profile=srgb --disable-features=IsolateSandboxedIframes,Translate --remote-debugging-pipe""".split()
TIMEOUT_S = 30
KEYS = {"Tab": 9, "Enter": 13, " ": 32, "ArrowLeft": 37, "ArrowRight": 39, "r": 82}
KEYS |= {str(digit): 48 + digit for digit in range(10)}


# Two frames were drawn; where an element is clicked; where the frame of the page is.
SETTLED = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
MIDDLE = "(e => (e = e.getBoundingClientRect(), [e.x + Math.min(12, e.width / 2), e.y + e.height / 2]))({})"
CORNER = "(e => e ? [e.getBoundingClientRect().x, e.getBoundingClientRect().y] : [0, 0])(document.querySelector('iframe'))"


def program():
    """Chromium's command, if it is installed."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class Browser:
    """One Chromium with a profile of its own in `folder`."""

    def __init__(self, folder):
        commands, self.commands = os.pipe()
        self.events, events = os.pipe()
        # Chromium expects its pipes there: commands at descriptor 3, events at 4.
        script = f'exec 3<&{commands} 4>&{events} "$@"'
        command = ["bash", "-c", script, "browser", program() or "chromium", *OPTIONS]
        command += [f"--user-data-dir={folder}", "about:blank"]
        silent = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        self.process = subprocess.Popen(command, **silent, pass_fds=(commands, events))
        os.close(commands)
        os.close(events)
        self.ids = itertools.count(1)
        self.answers = {}
        self.tabs = {}
        self.changed = threading.Condition()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        incomplete = b""
        while chunk := os.read(self.events, 2**16):
            *messages, incomplete = (incomplete + chunk).split(b"\0")
            for message in messages:
                self._take(json.loads(message))

    def _take(self, message):
        with self.changed:
            if "id" in message:
                self.answers[message["id"]] = message
            elif tab := self.tabs.get(message.get("sessionId", "")):
                tab.take(message["method"], message["params"])
            self.changed.notify_all()

    def send(self, method, session=None, **params):
        """The result of a command."""
        number = next(self.ids)
        message = {"id": number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        with self.changed:
            arrived = self.changed.wait_for(lambda: number in self.answers, TIMEOUT_S)
            assert arrived, f"{method} was not answered"
            answer = self.answers.pop(number)
        assert "error" not in answer, answer
        return answer["result"]

    def open(self, url, width=720):
        """A new tab at `url`, `width` CSS pixels wide."""
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        tab = self.tabs[session] = Tab(self, session, target)
        for domain in ("Page", "Runtime", "Log", "Network"):
            tab.send(f"{domain}.enable")
        tab.resize(width)
        tab.send("Page.navigate", url=url)
        return tab

    def close(self):
        self.process.kill()
        self.process.wait(TIMEOUT_S)
        self.reader.join(TIMEOUT_S)
        os.close(self.commands)
        os.close(self.events)


class Clicks:
    """The ways in which a person uses a tab of any browser, which has `run` and `_click` of its own."""

    def text(self, selector="main"):
        """The visible text of an element of the page."""
        text = self.run(f"document.querySelector({json.dumps(selector)}).innerText")
        return str(text).strip("\n")

    def wait(self, condition, host=False):
        """Wait until a JavaScript condition is true; it is checked before each frame that the browser
        draws."""
        loop = "new Promise(done => {{ const look = () => ({}) ? done(true) : requestAnimationFrame(look); look(); }})"
        self.run(loop.format(condition), host)

    def press(self, label):
        """Click the button or check box of that label, once its place has settled."""
        finder = f"find(e => e.innerText.includes({json.dumps(label)}))"
        self._click(f"[...document.querySelectorAll('button, label')].{finder}")

    def click(self, selector):
        """Click the element of a selector."""
        self._click(f"document.querySelector({json.dumps(selector)})")


class Tab(Clicks):
    """A tab, with what its console said and what it asked the network for; `frame` is the page inside the
    host."""

    def __init__(self, browser, session, target):
        self.browser = browser
        self.session = session
        self.target = target
        self.contexts = {}
        self.console = []
        self.requests = []

    def take(self, method, params):
        match method:
            case "Runtime.executionContextCreated" if params["context"]["auxData"].get("isDefault"):
                self.contexts[params["context"]["auxData"]["frameId"]] = params["context"]["id"]
            case "Runtime.consoleAPICalled" if params["type"] in ("error", "warning"):
                self.console.append(json.dumps(params["args"]))
            case "Runtime.exceptionThrown":
                self.console.append(json.dumps(params["exceptionDetails"]))
            case "Log.entryAdded" if params["entry"]["level"] in ("error", "warning"):
                self.console.append(params["entry"]["text"])
            case "Network.requestWillBeSent":
                self.requests.append(params["request"]["url"])

    def send(self, method, **params):
        return self.browser.send(method, self.session, **params)

    def resize(self, width, scale=1):
        """Make it `width` CSS pixels wide, at a zoom of `scale`."""
        size = {"width": width, "height": 900, "deviceScaleFactor": scale, "mobile": False}
        self.send("Emulation.setDeviceMetricsOverride", **size)

    def frame(self):
        """The id of the page's frame inside the host, or of the host itself if there is none. A host may put
        a sandbox of its own between them."""
        tree = self.send("Page.getFrameTree")["frameTree"]
        page = tree.get("childFrames", [tree])[-1]
        while page["frame"]["url"].endswith("/sandbox.html"):
            page = page.get("childFrames", [tree])[-1]
        return page["frame"]["id"]

    def run(self, expression, host=False):
        """The value of a JavaScript expression in the page, or in the host around it."""
        options = {"awaitPromise": True, "returnByValue": True}
        if not host:
            options["contextId"] = self.contexts[self.frame()]
        answer = self.send("Runtime.evaluate", expression=expression, **options)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def _click(self, find):
        self.run(f"{find}.scrollIntoView({{ block: 'center' }})")
        self.run(SETTLED, host=True)
        x, y = self.run(MIDDLE.format(find))
        left, top = self.run(CORNER, host=True)
        for event in ("mousePressed", "mouseReleased"):
            place = {"x": x + left, "y": y + top}
            self.send("Input.dispatchMouseEvent", type=event, button="left", clickCount=1, **place)

    def key(self, name):
        """Press a key."""
        key = {"key": name, "windowsVirtualKeyCode": KEYS[name]}
        text = "\r" if name == "Enter" else name[:1] * (len(name) == 1)
        self.send("Input.dispatchKeyEvent", type="keyDown", text=text, **key)
        self.send("Input.dispatchKeyEvent", type="keyUp", **key)

    def type(self, text):
        """Type a text where the focus is, one key per letter, as a person does: a page may refuse a key."""
        for letter in text:
            self.send("Input.dispatchKeyEvent", type="keyDown", text=letter, key=letter)
            self.send("Input.dispatchKeyEvent", type="keyUp", key=letter)

    def picture(self, file):
        """Save a screenshot of the whole tab."""
        width, height = self.run("[innerWidth, document.body.scrollHeight]", host=True)
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        answer = self.send("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
        file.write_bytes(base64.b64decode(answer["data"]))

    def close(self):
        self.browser.send("Target.closeTarget", targetId=self.target)
