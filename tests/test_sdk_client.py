"""The SDK's own client against the server, over stdio and over HTTP, in both protocol eras."""

import os

import anyio
import httpx2
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitResult, ResourceTemplateReference

from tests.support.client import ENVELOPE, TEST_SERVER, TIMEOUT_S
from tests.support.http_server import TEST_SERVER as TEST_HTTP_SERVER
from tests.support.http_server import HttpServer

pytestmark = pytest.mark.slow

MODERN = ENVELOPE["io.modelcontextprotocol/protocolVersion"]
PAGES = {"Bed_Mesh.md": "# Bed Mesh\n\nThe mesh of the bed.\n"}


@pytest.fixture
def over(small_docs):
    """A function that runs a session, given a client that is connected by "stdio" or "http"."""
    small_docs(PAGES)

    over = {"stdio": over_stdio, "http": over_http}
    return lambda transport, *how, **options: anyio.run(over[transport], *how, options)


async def over_stdio(mode, session, options):
    command, *words = TEST_SERVER
    parameters = StdioServerParameters(command=command, args=words, env=dict(os.environ))
    async with Client(stdio_client(parameters), mode=mode, **options) as client:
        return await session(client)


async def over_http(mode, session, options):
    with HttpServer(TEST_HTTP_SERVER) as server:
        headers = {"Authorization": f"Bearer {server.token(scope='server klipper')}"}
        async with httpx2.AsyncClient(headers=headers) as http:
            streams = streamable_http_client(server.url, http_client=http)
            async with Client(streams, mode=mode, **options) as client:
                with anyio.fail_after(TIMEOUT_S):
                    return await session(client)


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("mode", ["legacy", MODERN, "auto"])
def test_it_lists_calls_reads_completes_and_gets_progress(over, transport, mode):
    async def session(client):
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert {"greet", "read_doc", "list_docs_map"} <= names
        answer = await client.call_tool("read_doc", {"path": "Bed_Mesh.md"})
        assert answer.structured_content["title"] == "Bed Mesh"
        wrong = await client.call_tool("read_doc", {"path": "No.md"})
        assert wrong.is_error and wrong.structured_content["hint"]
        names = {prompt.name for prompt in (await client.list_prompts()).prompts}
        assert "klipper_question" in names
        prompt = await client.get_prompt("klipper_question", {"question": "BLTouch?"})
        assert "BLTouch?" in prompt.messages[0].content.text
        uris = {str(page.uri) for page in (await client.list_resources()).resources}
        assert "klipper://docs/Bed_Mesh.md" in uris
        page = await client.read_resource("klipper://docs/Bed_Mesh.md")
        assert page.contents[0].text == PAGES["Bed_Mesh.md"]
        ref = ResourceTemplateReference(uri="klipper://docs/{path}")
        completed = await client.complete(ref, {"name": "path", "value": "mesh"})
        assert completed.completion.values == ["Bed_Mesh.md"]
        notes = []

        async def note(*words):
            notes.append(words)

        await client.call_tool("test_counts", {"steps": 60}, progress_callback=note)
        return notes

    notes = over(transport, mode, session)
    assert len(notes) > 1 and notes[-1] == (60.0, 60.0, "step 60")


@pytest.mark.parametrize(
    "transport, mode", [("stdio", "legacy"), ("http", "legacy"), ("http", MODERN)]
)
def test_a_call_that_is_given_up_at_its_first_progress_stops(over, transport, mode, tmp_path):
    mark = tmp_path / "mark"

    async def session(client):
        with anyio.CancelScope() as scope:

            async def give_up(*_):
                scope.cancel()

            counts = {"steps": 6000, "mark": str(mark)}
            await client.call_tool("test_counts", counts, progress_callback=give_up)
        while not (mark.exists() and mark.read_text("utf-8")):
            assert not (await client.call_tool("test_sleeps", {"seconds": 0})).is_error

    over(transport, mode, session)
    assert mark.read_text("utf-8").startswith("stopped")


@pytest.mark.parametrize("mode", ["legacy", MODERN])
def test_over_http_a_question_reaches_the_person_in_the_2026_era_alone(over, mode):
    async def person(context, params):
        return ElicitResult(action="accept", content={})

    async def session(client):
        return (await client.call_tool("test_asks", {"text": "Really?"})).structured_content

    answer = over("http", mode, session, elicitation_callback=person)
    if mode == MODERN:
        assert answer == {"success": True, "answer": "accept"}
    else:
        assert answer["code"] == "CANNOT_ASK" and answer["hint"]
