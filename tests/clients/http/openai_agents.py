"""openai-agents' MCPServerStreamableHttp: prints what it saw as JSON.

usage: python openai_agents.py URL TOKEN
"""

import asyncio
import json
import sys

from agents.mcp import MCPServerStreamableHttp


async def session(url, token):
    seen = {}
    parameters = {"url": url, "headers": {"Authorization": f"Bearer {token}"}}
    async with MCPServerStreamableHttp(parameters, client_session_timeout_seconds=30) as server:
        seen["tools"] = [tool.name for tool in await server.list_tools()]
        seen["greeting"] = (await server.call_tool("greet", {"name": "Ann"})).content[0].text
        wrong = await server.call_tool("greet", {"name": "Ann", "nam": "x"})
        seen["error"] = json.loads(wrong.content[0].text)["code"]
        prompt = await server.get_prompt("klipper_question", {"question": "BLTouch?", "language": "en"})
        seen["prompt"] = prompt.messages[0].content.text
    return seen


if __name__ == "__main__":
    print(json.dumps(asyncio.run(session(*sys.argv[1:]))))
