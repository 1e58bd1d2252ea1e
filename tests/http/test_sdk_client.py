"""The server over HTTP and the SDK's own client, in both protocol eras."""

from functools import partial

import anyio
import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitResult

from tests.support.client import ENVELOPE, TIMEOUT_S
from tests.support.http_server import TEST_SERVER, HttpServer
from tests.support.sdk_sessions import PAGES, count, give_up_a_call, list_and_call, read_and_complete

pytestmark = pytest.mark.slow

MODERN = ENVELOPE["io.modelcontextprotocol/protocolVersion"]
ERAS = ["legacy", MODERN, "auto"]


@pytest.fixture
def server(small_docs):
    small_docs(PAGES)
    with HttpServer(TEST_SERVER) as running:
        yield running


def run(session, server, mode, **options):
    """Run `session`, given a client that sends a token."""

    async def connected():
        headers = {"Authorization": f"Bearer {server.token(scope='server klipper')}"}
        async with (
            httpx2.AsyncClient(headers=headers) as http,
            Client(streamable_http_client(server.url, http_client=http), mode=mode, **options) as client,
        ):
            with anyio.fail_after(TIMEOUT_S):
                return await session(client)

    return anyio.run(connected)


@pytest.mark.parametrize("mode", ERAS)
def test_it_lists_calls_reads_and_completes(server, mode):
    async def session(client):
        await list_and_call(client)
        await read_and_complete(client)

    run(session, server, mode)


@pytest.mark.parametrize("mode", ERAS)
def test_it_gets_progress_while_a_call_runs(server, mode):
    notes = run(partial(count, steps=60), server, mode)
    assert len(notes) > 1
    assert notes[-1] == (60.0, 60.0, "step 60")


@pytest.mark.parametrize("mode", ["legacy", MODERN])
def test_a_call_that_is_given_up_stops(server, mode, tmp_path):
    run(partial(give_up_a_call, mark=tmp_path / "mark"), server, mode)


def asked(server, mode):
    """What the test's question gets where the client can ask its person."""

    async def person(context, params):
        return ElicitResult(action="accept", content={})

    async def session(client):
        return (await client.call_tool("test_asks", {"text": "Really?"})).structured_content

    return run(session, server, mode, elicitation_callback=person)


def test_a_question_reaches_the_person_in_the_2026_era(server):
    assert asked(server, MODERN) == {"success": True, "answer": "accept"}


def test_in_the_2025_era_there_is_nobody_to_ask_and_the_answer_says_so(server):
    answer = asked(server, "legacy")
    assert answer["code"] == "CANNOT_ASK"
    assert answer["hint"]
