"""The client of SDK 1.x over HTTP: prints what it saw as JSON.

usage: python sdk1.py URL TOKEN
"""

import asyncio
import json
import sys

import httpx
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client


async def session(url, token):
    seen = {"progress": []}

    async def note(done, total, message):
        seen["progress"].append([done, total, message])

    async with (
        httpx.AsyncClient(headers={"Authorization": f"Bearer {token}"}) as http,
        streamable_http_client(url, http_client=http) as (read, write, _),
        ClientSession(read, write) as client,
    ):
        await client.initialize()
        seen["tools"] = [tool.name for tool in (await client.list_tools()).tools]
        seen["greeting"] = (await client.call_tool("greet", {"name": "Ann"})).content[0].text
        seen["error"] = (await client.call_tool("greet", {"name": "Ann", "nam": "x"})).structuredContent["code"]
        await client.call_tool("test_counts", {"steps": 40}, progress_callback=note)
        prompt = await client.get_prompt("klipper_question", {"question": "BLTouch?", "language": "en"})
        seen["prompt"] = prompt.messages[0].content.text
        seen["page"] = (await client.read_resource("klipper://docs/Bed_Mesh.md")).contents[0].text
    return seen


if __name__ == "__main__":
    print(json.dumps(asyncio.run(session(*sys.argv[1:]))))
