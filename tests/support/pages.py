"""A client that shows pages: an HTTP server on loopback with a host page, in front of the real server over
stdio."""

import json
import shutil
import subprocess
import threading
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.support.browser import Browser, Tab
from tests.support.client import HANDSHAKE, Client
from tests.support.web import Handler

HERE = Path(__file__).parent
EXTENSION = "io.modelcontextprotocol/ui"
MIME = "text/html;profile=mcp-app"
CAPABLE = {"extensions": {EXTENSION: {"mimeTypes": [MIME]}}}
AXE = "axe-core@4.14.1"
MONDAY = "2026-11-23"  # where the clock of a test's server stands at first
NPM_WAIT_S = 120
NPM = (
    "--no-audit",
    "--no-fund",
    "--ignore-scripts",
    "--loglevel=error",
    "--fetch-retries=0",
    "--fetch-timeout=30000",
)


def capable(
    capabilities: Any = CAPABLE, command: list[str] | None = None, **settings: str
) -> Client:
    """A session of a client that shows pages, and says so unless its `capabilities` are others; `command`
    starts its server."""
    client = Client(command, **settings)
    client.request("initialize", **HANDSHAKE | {"capabilities": capabilities})
    client.send(method="notifications/initialized")
    return client


def shown(browser: Browser, url: str, tool: str, arguments: Any, width: int, **how: str) -> Tab:
    """A tab in which a host at `url` shows the page of the model's call of a tool; `how` is told to the
    host."""
    tab = browser.open(f"{url}?{urlencode(how)}", width)
    tab.wait("document.readyState === 'complete' && typeof show === 'function'", host=True)
    tab.run(f"show({json.dumps(tool)}, {json.dumps(arguments)})", host=True)
    return tab


def installed(folder: Path, *packages: str) -> Path:
    """The node_modules with these packages of npm; skips the test if npm is missing or does not answer."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    command = ["npm", "install", *NPM, f"--prefix={folder}", *packages]
    try:
        subprocess.run(
            command,
            check=True,
            capture_output=True,
            timeout=NPM_WAIT_S,
            stdin=subprocess.DEVNULL,
            cwd=folder,
        )
    except (subprocess.SubprocessError, OSError):
        pytest.skip(f"npm does not give {', '.join(packages)}")
    return folder / "node_modules"


class Host:
    """Serves host.html and what it asks for; `client` is a session with the MCP server, already initialized,
    `script` what speaks to the page in place of host.js."""

    def __init__(self, client: Any, script: str = ""):
        self.client = client
        self.files = {
            "/": (HERE / "host.html").read_text("utf-8"),
            "/host.js": script or (HERE / "host.js").read_text("utf-8"),
        }
        self.tools = {
            tool["name"]: tool for tool in client.request("tools/list")["result"]["tools"]
        }
        # Whether it hands a result's `_meta` on to the page.
        self.private = True
        self.lock = threading.Lock()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()

    def _handler(self) -> type[Handler]:
        host = self

        class Pages(Handler):
            def do_GET(self) -> None:
                path = self.path.partition("?")[0]
                text = host.files.get(path, "")
                self.reply(
                    text,
                    "text/javascript" if path.endswith("js") else "text/html",
                    200 if text else 404,
                )

            def do_POST(self) -> None:
                body = json.loads(self.body())
                answer = host.page(body["uri"]) if self.path == "/page" else host.ask(**body)
                self.reply(json.dumps(answer), "application/json", 200)

            def reply(self, text: str, kind: str, status: int) -> None:
                self.send(status, text.encode(), {"Content-Type": f"{kind}; charset=utf-8"})

        return Pages

    def ask(self, name: str, arguments: dict[str, Any], **more: Any) -> dict[str, Any]:
        """A tool's result, if whoever asks (`as`: model or page) may see the tool, and the URI of its
        page."""
        ui = self.tools[name].get("_meta", {}).get("ui", {})
        who = "app" if more["as"] == "page" else "model"
        assert who in ui.get("visibility", ["model", "app"]), f"{name} is not for the {who}"
        with self.lock:
            answer = self.client.request("tools/call", name=name, arguments=arguments)
        result = {
            name: part for name, part in answer["result"].items() if self.private or name != "_meta"
        }
        return {"result": result, "uri": ui.get("resourceUri")}

    def page(self, uri: str) -> str:
        """The document of a page."""
        with self.lock:
            (content,) = self.client.request("resources/read", uri=uri)["result"]["contents"]
        assert content["mimeType"] == MIME
        return content["text"]

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


def is_drawn(tab: Tab) -> None:
    """Of a success no page says that it failed, that nothing came, or a name of JavaScript's."""
    tab.wait("document.querySelector('h1').textContent && !/Loading/.test(document.body.innerText)")
    text = tab.text()
    for words in (
        "That did not work",
        "Try again",
        "undefined",
        "null",
        "NaN",
        "[object",
        "Invalid Date",
    ):
        assert words not in text, (words, text)
    assert tab.console == []
