"""A loopback stand-in of the three model APIs: its model asks for one tool after another, then ends."""

import json
from http.server import ThreadingHTTPServer

from tests.support.web import Handler


class ModelApi(ThreadingHTTPServer):
    """`plan` are the calls (name, arguments) that the model makes; `requests` the bodies of what clients
    asked."""

    daemon_threads = True

    def __init__(self, plan):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.plan = plan
        self.requests = []
        self.url = f"http://127.0.0.1:{self.server_port}"

    def last(self):
        """The request with the most answers of tools in it."""
        return max(self.requests, key=lambda request: len(json.dumps(request)))


class _Handler(Handler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.body()
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            body = b"".join(iter(self._chunk, b""))
        request = json.loads(body)
        self.server.requests.append(request)
        step = next_step(request, self.server.plan)
        events = next((api(request, step) for part, api in APIS.items() if part in self.path), {})
        if isinstance(events, dict):
            return self._send("application/json", json.dumps(events))
        text = ""
        for event in events:
            if "type" in event:
                text += f"event: {event['type']}\n"
            text += f"data: {json.dumps(event)}\n\n"
        self._send("text/event-stream", text)

    def do_GET(self):
        self._send("application/json", '{"data": [], "models": []}')

    def _chunk(self):
        size = int(self.rfile.readline(), 16)
        data = self.rfile.read(size)
        self.rfile.readline()
        return data

    def _send(self, kind, body):
        self.send(200, body.encode(), {"Content-Type": kind})


def tools(request):
    """{name: namespace} of all tools that a request offers."""
    namespaces = {}
    for tool in request.get("tools") or []:
        members = tool.get("tools") or tool.get("functionDeclarations") or [tool]
        namespace = tool["name"] if tool.get("type") == "namespace" else ""
        namespaces |= {member["name"]: namespace for member in members if "name" in member}
    return namespaces


# The member that has the answer of a tool: OpenAI's, Anthropic's, Gemini's.
ANSWERS = {
    "function_call_output": "output",
    "tool_result": "content",
    "functionResponse": "response",
}


def answers(value):
    """The answers of tools in a request, or in a part of it, as the model reads them, in order."""
    if isinstance(value, list):
        return [answer for member in value for answer in answers(member)]
    if not isinstance(value, dict):
        return []
    value = value.get("functionResponse", value)
    kind = value.get("type", "functionResponse")
    if isinstance(kind, str) and ANSWERS.get(kind) in value:
        return [value[ANSWERS[kind]]]
    return answers(list(value.values()))


def next_step(request, plan):
    """(number, namespace, name, arguments) of the call that comes next, or None."""
    number = len(answers(request))
    for wanted_name, arguments in plan[number : number + 1]:
        for name, namespace in tools(request).items():
            if name == wanted_name or name.endswith((f"__{wanted_name}", f"_pi_{wanted_name}")):
                return number, namespace, name, arguments
    return None


def anthropic(request, step):
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "m", "type": "message", "role": "assistant", "model": request["model"]}
    message |= {"content": [], "usage": usage}
    if step:
        number, _, name, arguments = step
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
        end = {"stop_reason": "tool_use"}
    else:
        block = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": "done"}
        end = {"stop_reason": "end_turn"}
    if not request.get("stream"):  # asked beside the conversation
        return {**message, "content": [{"type": "text", "text": "done"}], **end}
    return [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": end, "usage": usage},
        {"type": "message_stop"},
    ]


def openai(request, step):
    if step:
        number, namespace, name, arguments = step
        item = {"type": "function_call", "call_id": f"call_{number}", "name": name}
        item["arguments"] = json.dumps(arguments)
        if namespace:
            item["namespace"] = namespace
    else:
        item = {"type": "message", "role": "assistant"}
        item["content"] = [{"type": "output_text", "text": "done"}]
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    return [
        {"type": "response.created", "response": {"id": "r"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"id": "r", "usage": usage}},
    ]


def gemini(request, step):
    part = {"functionCall": {"name": step[2], "args": step[3]}} if step else {"text": "done"}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    return [{"candidates": [candidate], "usageMetadata": usage}]


# Each API by a part of its path; what clients ask besides is answered with an empty object.
APIS = {"/v1/messages": anthropic, "/responses": openai, ":streamGenerateContent": gemini}
