"""A session with the client of SDK 1.x, in an environment of its own: prints what it saw as JSON.

usage: python sdk1_client.py SERVER WORD …
"""

import asyncio
import json
import os
import sys
from datetime import timedelta

from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client


async def person(context, params):
    return types.ElicitResult(action="accept")


async def session(command):
    seen = {}
    parameters = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
    async with (
        stdio_client(parameters) as (read, write),
        ClientSession(read, write, elicitation_callback=person) as one,
    ):
        seen["server"] = (await one.initialize()).serverInfo.name
        seen["tools"] = [tool.name for tool in (await one.list_tools()).tools]
        seen["prompts"] = [prompt.name for prompt in (await one.list_prompts()).prompts]
        seen["resources"] = [str(resource.uri) for resource in (await one.list_resources()).resources]
        seen["templates"] = [x.uriTemplate for x in (await one.list_resource_templates()).resourceTemplates]
        await calls(one, seen)
        await content(one, seen)
        await progress(one, seen)
        await cancellation(one, seen)
    return seen


async def calls(one, seen):
    seen["greeting"] = (await one.call_tool("greet", {"name": "Ann"})).content[0].text
    wrong = await one.call_tool("greet", {"nam": "Ann"})
    seen["error"] = [wrong.isError, wrong.structuredContent["code"]]
    seen["asked"] = (await one.call_tool("test_asks", {"text": "Really?"})).structuredContent["answer"]


async def content(one, seen):
    prompt = await one.get_prompt("klipper_question", {"question": "BLTouch?", "language": "en"})
    seen["prompt"] = prompt.messages[0].content.text
    seen["page"] = (await one.read_resource("klipper://docs/Bed_Mesh.md")).contents[0].text
    ref = types.ResourceTemplateReference(type="ref/resource", uri="klipper://docs/{path}")
    seen["completion"] = (await one.complete(ref, {"name": "path", "value": "mesh"})).completion.values


async def progress(one, seen):
    seen["progress"] = []

    async def note(done, total, message):
        seen["progress"].append([done, total, message])

    await one.call_tool("test_counts", {"steps": 40}, progress_callback=note)


async def cancellation(one, seen):
    try:
        await one.call_tool("test_sleeps", {"seconds": 30}, read_timeout_seconds=timedelta(milliseconds=200))
    except Exception as error:
        seen["given up"] = type(error).__name__
    seen["afterwards"] = (await one.call_tool("test_sleeps", {"seconds": 0})).isError


if __name__ == "__main__":
    print(json.dumps(asyncio.run(session(sys.argv[1:]))))
