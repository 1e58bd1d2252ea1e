"""A client that shows pages: an HTTP server on loopback with a host page, in front of the real server over
stdio."""

import json
import re
import shutil
import subprocess
import threading
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.support.client import Client, finished
from tests.support.web import Handler, listening

HERE = Path(__file__).parent
EXTENSION = "io.modelcontextprotocol/ui"
MIME = "text/html;profile=mcp-app"
CAPABLE = {"extensions": {EXTENSION: {"mimeTypes": [MIME]}}}
AXE = "axe-core@4.14.1"
MONDAY = "2026-11-23"  # where the clock of a test's server stands at first
NPM_WAIT_S = 120
NPM = """npm install --no-audit --no-fund --ignore-scripts --loglevel=error --fetch-retries=0
--fetch-timeout=30000""".split()


def capable(capabilities=CAPABLE, command=None, **settings):
    """A session of a client that shows pages, and says so unless its `capabilities` are others; `command`
    starts its server."""
    client = Client(command, **settings)
    client.initialize(**capabilities)
    return client


def shown(browser, url, tool, arguments, width, **options):
    """A tab in which a host at `url` shows the page of the model's call of a tool; `options` are
    the host's."""
    tab = browser.open(f"{url}?{urlencode(options)}", width)
    tab.wait("document.readyState === 'complete' && typeof show === 'function'", host=True)
    tab.run(f"show({json.dumps(tool)}, {json.dumps(arguments)})", host=True)
    return tab


def installed(folder, *packages):
    """The node_modules with these packages of npm; skips the test if npm is missing or does not answer."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    options = {"cwd": folder, "stdin": subprocess.DEVNULL, "timeout": NPM_WAIT_S}
    try:
        finished([*NPM, f"--prefix={folder}", *packages], check=True, **options)
    except (subprocess.SubprocessError, OSError):
        pytest.skip(f"npm does not give {', '.join(packages)}")
    return folder / "node_modules"


class Host:
    """Serves host.html and what it asks for; `client` is a session with the MCP server, already initialized,
    `script` what speaks to the page in place of host.js."""

    def __init__(self, client, script=""):
        self.client = client
        self.files = {
            "/": (HERE / "host.html").read_text("utf-8"),
            "/host.js": script or (HERE / "host.js").read_text("utf-8"),
        }
        tools = client.request("tools/list")["result"]["tools"]
        self.tools = {tool["name"]: tool for tool in tools}
        # Whether it hands a result's `_meta` on to the page.
        self.private = True
        self.lock = threading.Lock()
        self.serving = ExitStack()
        self.url = self.serving.enter_context(listening(self._handler())) + "/"

    def _handler(self):
        host = self

        class Pages(Handler):
            def do_GET(self):
                path = self.path.partition("?")[0]
                text = host.files.get(path, "")
                kind = "text/javascript" if path.endswith("js") else "text/html"
                self.reply(text, kind, 200 if text else 404)

            def do_POST(self):
                body = json.loads(self.body())
                answer = host.page(body["uri"]) if self.path == "/page" else host.ask(**body)
                self.reply(json.dumps(answer), "application/json", 200)

            def reply(self, text, kind, status):
                self.send(status, text.encode(), {"Content-Type": f"{kind}; charset=utf-8"})

        return Pages

    def ask(self, name, arguments, **more):
        """A tool's result, if whoever asks (`as`: model or page) may see the tool, and the URI of its
        page."""
        ui = self.tools[name].get("_meta", {}).get("ui", {})
        who = "app" if more["as"] == "page" else "model"
        assert who in ui.get("visibility", ["model", "app"]), f"{name} is not for the {who}"
        with self.lock:
            answer = self.client.request("tools/call", name=name, arguments=arguments)
        result = answer["result"]
        if not self.private:
            result.pop("_meta", None)
        return {"result": result, "uri": ui.get("resourceUri")}

    def page(self, uri):
        """The document of a page."""
        with self.lock:
            (content,) = self.client.request("resources/read", uri=uri)["result"]["contents"]
        assert content["mimeType"] == MIME
        return content["text"]

    def close(self):
        self.serving.close()


def is_drawn(tab):
    """Check that a page shows a success: no failure, nothing missing, no name of JavaScript's."""
    tab.wait("document.querySelector('h1').textContent && !/Loading/.test(document.body.innerText)")
    text = tab.text()
    wrong = "That did not work|Try again|undefined|null|NaN|\\[object|Invalid Date"
    assert not re.search(wrong, text), text
    assert not tab.console
