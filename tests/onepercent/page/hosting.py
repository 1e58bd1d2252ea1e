"""A client that shows pages: an HTTP server on loopback with a host page, in front of the real server over stdio."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
EXTENSION = "io.modelcontextprotocol/ui"
MIME = "text/html;profile=mcp-app"
CAPABLE = {"extensions": {EXTENSION: {"mimeTypes": [MIME]}}}


class Host:
    """Serves host.html and what it asks for; `client` is a session with the MCP server, already initialized, `script`
    what speaks to the page in place of host.js."""

    def __init__(self, client: Any, script: str = ""):
        self.client = client
        self.files = {"/": _read("host.html"), "/host.js": script or _read("host.js")}
        self.tools = {tool["name"]: tool for tool in client.request("tools/list")["result"]["tools"]}
        self.private = True
        """Whether it hands a result's `_meta` on to the page."""
        self.lock = threading.Lock()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        host = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                path = self.path.partition("?")[0]
                text = host.files.get(path, "")
                self.reply(text, "text/javascript" if path.endswith("js") else "text/html", 200 if text else 404)

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                answer = host.page(body["uri"]) if self.path == "/page" else host.ask(**body)
                self.reply(json.dumps(answer), "application/json", 200)

            def reply(self, text: str, kind: str, status: int) -> None:
                data = text.encode()
                self.send_response(status)
                self.send_header("Content-Type", f"{kind}; charset=utf-8")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                pass

        return Handler

    def ask(self, name: str, arguments: dict[str, Any], **more: Any) -> dict[str, Any]:
        """A tool's result, if whoever asks (`as`: model or page) may see the tool, and the URI of its page."""
        ui = self.tools[name].get("_meta", {}).get("ui", {})
        who = "app" if more["as"] == "page" else "model"
        assert who in ui.get("visibility", ["model", "app"]), f"{name} is not for the {who}"
        with self.lock:
            answer = self.client.request("tools/call", name=name, arguments=arguments)
        result = {name: part for name, part in answer["result"].items() if self.private or name != "_meta"}
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


def _read(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")
