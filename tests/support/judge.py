"""The judge of our protocol: the SDK's own server over the same answers, asked the same."""

import json

import anyio
import mcp_types as types
from mcp.server.lowlevel import NotificationOptions
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from tests.support.sdk_server import SdkServer
from tools import protocol, stdio
from tools.core.errors import RpcError

ANSWER_S = 10
NOTHING = "no answer"
REFUSED = "refused as no message"


def sdk_answers(lines):
    """What the SDK answers to these lines, asked one after the other: by the id of the request, as JSON."""
    return anyio.run(_ask, lines)


async def _ask(lines):
    sdk = SdkServer().server
    listen = ListenHandler(InMemorySubscriptionBus())
    sdk.add_request_handler(protocol.LISTEN, types.SubscriptionsListenRequestParams, listen)
    options = sdk.create_initialization_options(NotificationOptions(tools_changed=True))
    inbox, requests = anyio.create_memory_object_stream(0)
    answers, outbox = anyio.create_memory_object_stream(100)
    answers_by_id = {}
    async with anyio.create_task_group() as tasks, inbox, requests, answers, outbox:
        tasks.start_soon(sdk.run, requests, answers, options)
        for line in lines:
            message = parse(line)
            if message is None:
                answers_by_id[None] = REFUSED
                continue
            await inbox.send(SessionMessage(message))
            if isinstance(message, types.JSONRPCRequest):
                answered = answers_by_id.setdefault(json.dumps(message.id), [])
                answered.append(await answer_to(message, outbox))
        tasks.cancel_scope.cancel()
    return answers_by_id


def parse(line):
    """The message that the SDK's own parser makes of a line; None if it is none."""
    try:
        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        return None
    # An id of a wrong type makes a request look like a notification to the SDK, which would not answer it.
    is_refused = isinstance(message, types.JSONRPCNotification) and "id" in json.loads(line)
    return None if is_refused else message


async def answer_to(request, outbox):
    """The answer to a request, or the acknowledgement of a stream."""
    with anyio.move_on_after(ANSWER_S):
        while True:
            message = (await outbox.receive()).message
            is_acknowledged = getattr(message, "method", "") == protocol.ACKNOWLEDGED
            if is_acknowledged or getattr(message, "id", None) == request.id:
                return message.model_dump(by_alias=True, exclude_unset=True)
    return NOTHING


def compared(message):
    """A message in the form that is compared: only the code of an error, since its words are our own."""
    if "error" in message:
        message = {**message, "error": message["error"]["code"]}
    return json.dumps(message, sort_keys=True)


def is_message(line):
    """True if our parser takes the line."""
    try:
        stdio.parse(line)
    except RpcError:
        return False
    return True
