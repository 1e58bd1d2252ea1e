"""A loopback stand-in of the three model APIs: its model asks for one tool after another, then ends."""

import json
import threading
from http.server import ThreadingHTTPServer

from tests.support.web import Handler


class ModelApi(ThreadingHTTPServer):
    """`plan` are the calls (name, arguments) that the model makes; `requests` the bodies of what clients
    asked."""

    daemon_threads = True

    def __init__(self, plan):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.plan, self.requests = plan, []
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def last(self):
        """The request with the most answers of tools in it."""
        return max(self.requests, key=lambda one: len(json.dumps(one)))

    def handle_error(self, *_):
        """A client that hangs up."""


class _Handler(Handler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.body()
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            body = b"".join(iter(self._chunk, b""))
        request = json.loads(body)
        self.server.requests.append(request)
        api = next((found for part, found in APIS.items() if part in self.path), None)
        if api is None:
            return self._send("application/json", b"{}")
        step = next_step(request, self.server.plan)
        events = api(request, step)
        if isinstance(events, dict):
            return self._send("application/json", json.dumps(events).encode())
        lines = [f"event: {one['type']}\n" if "type" in one else "" for one in events]
        texts = [
            f"{line}data: {json.dumps(one)}\n\n" for line, one in zip(lines, events, strict=True)
        ]
        self._send("text/event-stream", "".join(texts).encode())

    def do_GET(self):
        self._send("application/json", b'{"data": [], "models": []}')

    def _chunk(self):
        size = int(self.rfile.readline(), 16)
        data = self.rfile.read(size)
        self.rfile.readline()
        return data

    def _send(self, kind, body):
        self.send(200, body, {"Content-Type": kind})


def tools(request):
    """{name: (namespace, tool)} of all that a request offers."""
    found = {}
    for tool in request.get("tools") or []:
        if tool.get("type") == "namespace":
            found |= {one["name"]: (tool["name"], one) for one in tool["tools"]}
        for one in tool.get("functionDeclarations", [tool] if "name" in tool else []):
            found[one["name"]] = ("", one)
    return found


def answers(request):
    """The answers of tools in a request, as the model reads them, in order."""
    return [answer for message in _messages(request) for answer in _answers(message)]


def _messages(request):
    return request.get("messages") or request.get("contents") or request.get("input") or []


def _answers(message):
    if not isinstance(message, dict):
        return
    if message.get("type") == "function_call_output":  # OpenAI
        yield message["output"]
    content = message.get("content")
    for part in content if isinstance(content, list) else []:  # Anthropic
        if part.get("type") == "tool_result":
            yield part["content"]
    for part in message.get("parts") or []:  # Gemini
        if "functionResponse" in part:
            yield part["functionResponse"]["response"]


def next_step(request, plan):
    """(number, namespace, name, arguments) of the call that comes next, or None."""
    offered, number = tools(request), len(answers(request))
    if number >= len(plan):
        return None
    wanted, arguments = plan[number]
    for name, (namespace, _) in offered.items():
        if name == wanted or name.endswith((f"__{wanted}", f"_pi_{wanted}")):
            return number, namespace, name, arguments
    return None


def anthropic(request, step):
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": request["model"],
        "content": [],
    }
    message |= {"stop_reason": None, "stop_sequence": None, "usage": usage}
    if step:
        number, _, name, arguments = step
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
        whole = {**block, "input": arguments}
    else:
        block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": "done"}
        whole = {"type": "text", "text": "done"}
    reason = "tool_use" if step else "end_turn"
    if not request.get("stream"):
        return {**message, "content": [whole], "stop_reason": reason}
    return [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": reason, "stop_sequence": None},
            "usage": usage,
        },
        {"type": "message_stop"},
    ]


def openai(request, step):
    if step:
        number, namespace, name, arguments = step
        item = {
            "type": "function_call",
            "id": f"fc_{number}",
            "call_id": f"call_{number}",
            "name": name,
        }
        item |= {"arguments": json.dumps(arguments), "status": "completed"}
        item |= {"namespace": namespace} if namespace else {}
    else:
        text = {"type": "output_text", "text": "done", "annotations": []}
        item = {
            "type": "message",
            "id": "m",
            "role": "assistant",
            "status": "completed",
            "content": [text],
        }
    response = {"id": "r", "object": "response", "status": "completed", "output": [item]}
    response["usage"] = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    return [
        {
            "type": "response.created",
            "response": {"id": "r", "object": "response", "status": "in_progress"},
        },
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": response},
    ]


def gemini(request, step):
    part = {"functionCall": {"name": step[2], "args": step[3]}} if step else {"text": "done"}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    return [{"candidates": [candidate], "usageMetadata": usage}]


# Each API by a part of its path; what clients ask besides is answered with an empty object.
APIS = {"/v1/messages": anthropic, "/responses": openai, ":streamGenerateContent": gemini}
