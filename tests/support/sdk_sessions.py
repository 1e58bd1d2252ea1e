"""What the SDK's own client does with the server, whatever connects the two."""

import anyio
from mcp.types import ResourceTemplateReference

PAGES = {"Bed_Mesh.md": "# Bed Mesh\n\nThe mesh of the bed.\n"}


async def list_and_call(client):
    tools = (await client.list_tools()).tools
    assert {"greet", "read_doc", "list_docs_map"} <= {tool.name for tool in tools}
    answer = await client.call_tool("read_doc", {"path": "Bed_Mesh.md"})
    assert answer.structured_content["title"] == "Bed Mesh"
    wrong = await client.call_tool("read_doc", {"path": "No.md"})
    assert wrong.is_error
    assert wrong.structured_content["hint"]


async def read_and_complete(client):
    assert "klipper_question" in {prompt.name for prompt in (await client.list_prompts()).prompts}
    prompt = await client.get_prompt("klipper_question", {"question": "BLTouch?"})
    assert "BLTouch?" in prompt.messages[0].content.text
    assert "klipper://docs/Bed_Mesh.md" in {str(page.uri) for page in (await client.list_resources()).resources}
    [template] = (await client.list_resource_templates()).resource_templates
    page = await client.read_resource("klipper://docs/Bed_Mesh.md")
    assert page.contents[0].text == PAGES["Bed_Mesh.md"]
    ref = ResourceTemplateReference(uri=template.uri_template)
    completed = await client.complete(ref, {"name": "path", "value": "mesh"})
    assert completed.completion.values == ["Bed_Mesh.md"]


async def give_up_a_call(client, mark):
    """Withdraw a call at its first progress; `mark` is the file in which the tool says how it ended."""
    with anyio.CancelScope() as scope:

        async def give_up(*_):
            scope.cancel()

        await client.call_tool("test_counts", {"steps": 6000, "mark": str(mark)}, progress_callback=give_up)
    while not (mark.exists() and mark.read_text(encoding="utf-8")):
        assert not (await client.call_tool("test_sleeps", {"seconds": 0})).is_error
    assert mark.read_text(encoding="utf-8").startswith("stopped")


async def count(client, steps):
    """The progress notifications of a call that counts."""
    notes = []

    async def note(progress, total, message):
        notes.append((progress, total, message))

    await client.call_tool("test_counts", {"steps": steps}, progress_callback=note)
    return notes
