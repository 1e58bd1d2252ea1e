"""The server and the SDK's own client, in both protocol eras."""

import os
from functools import partial

import anyio
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.support.client import ENVELOPE, TEST_SERVER
from tests.support.sdk_sessions import PAGES, count, give_up_a_call, list_and_call, read_and_complete

pytestmark = pytest.mark.slow

ERAS = ["legacy", ENVELOPE["io.modelcontextprotocol/protocolVersion"], "auto"]


def run(session, command, mode):
    """Run `session`, given a client of the server that `command` starts."""

    async def connected():
        parameters = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
        async with Client(stdio_client(parameters), mode=mode) as client:
            return await session(client)

    return anyio.run(connected)


@pytest.mark.parametrize("mode", ERAS)
def test_the_sdk_client_lists_calls_reads_and_gets_progress(small_docs, mode):
    small_docs(PAGES)

    async def session(client):
        await list_and_call(client)
        await read_and_complete(client)
        return await count(client, steps=40)

    assert run(session, TEST_SERVER, mode)[-1] == (40.0, 40.0, "step 40")


def test_the_sdk_client_may_give_a_call_up(tmp_path):
    run(partial(give_up_a_call, mark=tmp_path / "mark"), TEST_SERVER, "legacy")
