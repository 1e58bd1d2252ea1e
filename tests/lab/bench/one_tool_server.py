"""The smallest server one can write with the SDK: the anchor of the start-up figures."""

from mcp.server import MCPServer

server = MCPServer("one-tool")


@server.tool()
def greet(name: str) -> str:
    """Greet."""
    return f"Hello, {name}"


if __name__ == "__main__":
    server.run()
