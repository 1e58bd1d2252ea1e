"""The types of ASGI, between the HTTP server and what it serves."""

from collections.abc import Awaitable, Callable

from tools.core.json_types import JsonObject

Receive = Callable[[], Awaitable[JsonObject]]
Send = Callable[[JsonObject], Awaitable[None]]
App = Callable[[JsonObject, Receive, Send], Awaitable[None]]
DISCONNECT: JsonObject = {"type": "http.disconnect"}
