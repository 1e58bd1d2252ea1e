"""The smallest server one can write with the SDK: the anchor of the figures. With a PORT it serves over
HTTP."""

import sys

from mcp.server import MCPServer

server = MCPServer("one-tool")


@server.tool()
def greet(name):
    """Greet."""
    return f"Hello, {name}"


if __name__ == "__main__":
    if sys.argv[1:]:
        server.settings.log_level = "WARNING"  # no line for each request, as ours writes none
        server.run("streamable-http", port=int(sys.argv[1]), stateless_http=True)
    else:
        server.run()
