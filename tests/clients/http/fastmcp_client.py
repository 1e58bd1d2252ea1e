"""FastMCP's client over HTTP: prints what it saw as JSON.

usage: python fastmcp_client.py URL TOKEN
"""

import asyncio
import json
import sys

from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport


async def session(url, token):
    seen = {"progress": []}

    async def note(done, total, message):
        seen["progress"].append([done, total, message])

    async with Client(StreamableHttpTransport(url, auth=token)) as client:
        seen["tools"] = [tool.name for tool in await client.list_tools()]
        seen["greeting"] = (await client.call_tool("greet", {"name": "Ann"})).content[0].text
        wrong = await client.call_tool("greet", {"name": "Ann", "nam": "x"}, raise_on_error=False)
        seen["error"] = wrong.structured_content["code"]
        await client.call_tool("test_counts", {"steps": 40}, progress_handler=note)
        prompt = await client.get_prompt("klipper_question", {"question": "BLTouch?", "language": "en"})
        seen["prompt"] = prompt.messages[0].content.text
        seen["page"] = (await client.read_resource("klipper://docs/Bed_Mesh.md"))[0].text
    return seen


if __name__ == "__main__":
    print(json.dumps(asyncio.run(session(*sys.argv[1:]))))
