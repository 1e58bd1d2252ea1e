"""What a client pays for the tools in every conversation: the bytes of `tools/list`. The anchor is what the SDK's own
server lists for the same functions."""

import asyncio
import json
from collections.abc import Iterator

from tests import golden
from tests.lab.bench.rows import Row


def rows() -> Iterator[Row]:
    ours = [golden.size_bytes(tool) for tool in golden.listing()]
    theirs = [golden.size_bytes(tool) for tool in asyncio.run(by_the_sdk())]
    average = sum(ours) / len(ours)
    anchor = "as the SDK lists them"
    yield Row(f"tools/list, all {len(ours)} tools", sum(ours), "bytes", sum(theirs), anchor)
    yield Row(
        "tools/list, a tool", average, "bytes", sum(theirs) / len(theirs), anchor, "at most 900 bytes", average <= 900
    )


async def by_the_sdk() -> list[dict]:
    from mcp.server import MCPServer

    from tools.core import registry, settings

    server = MCPServer("anchor")
    for tool in registry.listed(settings.load({})).values():
        server.add_tool(tool.function, name=tool.listed_name, description=tool.description)
    return [json.loads(one.model_dump_json(by_alias=True, exclude_none=True)) for one in await server.list_tools()]
