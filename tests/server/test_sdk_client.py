"""The server and the SDK's own client, in both protocol eras."""

import os
import subprocess
import sys

import anyio
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import ResourceTemplateReference

from tests.support.client import ENVELOPE, SERVER, TEST_SERVER

PAGES = {"Bed_Mesh.md": "# Bed Mesh\n\nThe mesh of the bed.\n"}
ERAS = ["legacy", ENVELOPE["io.modelcontextprotocol/protocolVersion"], "auto"]


def connect(command, mode, **options):
    parameters = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
    return Client(stdio_client(parameters), mode=mode, **options)


@pytest.mark.parametrize("mode", ERAS)
def test_the_sdk_client_lists_calls_and_gets_errors(small_docs, mode):
    small_docs(PAGES)

    async def session():
        async with connect(SERVER, mode) as client:
            tools = (await client.list_tools()).tools
            assert {"read_doc", "list_docs_map"} <= {tool.name for tool in tools}
            answer = await client.call_tool("read_doc", {"path": "Bed_Mesh.md"})
            assert answer.structured_content["title"] == "Bed Mesh"
            wrong = await client.call_tool("read_doc", {"path": "No.md"})
            assert wrong.is_error
            assert wrong.structured_content["hint"]

    anyio.run(session)


@pytest.mark.parametrize("mode", ERAS)
def test_the_sdk_client_gets_prompts_resources_and_completion(small_docs, mode):
    small_docs(PAGES)

    async def session():
        async with connect(SERVER, mode) as client:
            assert "klipper_question" in {one.name for one in (await client.list_prompts()).prompts}
            prompt = await client.get_prompt("klipper_question", {"question": "BLTouch?"})
            assert "BLTouch?" in prompt.messages[0].content.text
            assert "klipper://docs/Bed_Mesh.md" in {str(one.uri) for one in (await client.list_resources()).resources}
            [template] = (await client.list_resource_templates()).resource_templates
            page = await client.read_resource("klipper://docs/Bed_Mesh.md")
            assert page.contents[0].text == PAGES["Bed_Mesh.md"]
            ref = ResourceTemplateReference(uri=template.uri_template)
            found = await client.complete(ref, {"name": "path", "value": "mesh"})
            assert found.completion.values == ["Bed_Mesh.md"]

    anyio.run(session)


@pytest.mark.parametrize("mode", ERAS)
def test_the_sdk_client_gets_progress(mode):
    seen = []

    async def note(progress, total, message):
        seen.append((progress, total, message))

    async def session():
        async with connect(TEST_SERVER, mode) as client:
            await client.call_tool("test_counts", {"steps": 40}, progress_callback=note)

    anyio.run(session)
    assert seen[-1] == (40.0, 40.0, "step 40")


def test_the_sdk_client_may_give_a_call_up(tmp_path):
    mark = tmp_path / "mark"

    async def session():
        async with connect(TEST_SERVER, "legacy") as client:
            with anyio.CancelScope() as scope:

                async def give_up(*_):
                    scope.cancel()

                arguments = {"steps": 6000, "mark": str(mark)}
                await client.call_tool("test_counts", arguments, progress_callback=give_up)
            while not (mark.exists() and mark.read_text(encoding="utf-8")):
                assert not (await client.call_tool("test_sleeps", {"seconds": 0})).is_error

    anyio.run(session)
    assert mark.read_text(encoding="utf-8").startswith("stopped")


def test_the_servers_module_does_nothing_at_import():
    code = "import sys, server; print('mcp' in sys.modules, 'tools.server' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "False False\n"
