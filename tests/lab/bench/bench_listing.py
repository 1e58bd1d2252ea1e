"""What a client pays for the tools in every conversation: the bytes of `tools/list`. The anchor is what the SDK's own
server lists for the same functions."""

import asyncio
import json
from collections.abc import Iterator

from tests import golden
from tests.lab.bench.rows import Row

ANCHOR = "as the SDK lists them"


def rows() -> Iterator[Row]:
    ours, theirs = (sum(map(golden.size_bytes, tools)) for tools in (golden.listing(), asyncio.run(by_the_sdk())))
    count = len(golden.listing())
    yield Row(f"tools/list, all {count} tools", ours, "bytes", theirs, ANCHOR)
    limit = "at most 900 bytes"
    yield Row("tools/list, a tool", ours / count, "bytes", theirs / count, ANCHOR, limit, ours / count <= 900)


async def by_the_sdk() -> list[dict]:
    from mcp.server import MCPServer

    from tools.core import registry, settings

    server = MCPServer("anchor")
    for tool in registry.listed(settings.load({})).values():
        server.add_tool(tool.function, name=tool.listed_name, description=tool.description)
    return [json.loads(one.model_dump_json(by_alias=True, exclude_none=True)) for one in await server.list_tools()]
