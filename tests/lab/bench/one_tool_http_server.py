"""The smallest server over HTTP that one can write with the SDK: the anchor of the figures over HTTP.

usage: one_tool_http_server.py PORT
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from tests.lab.bench.one_tool_server import server

if __name__ == "__main__":
    server.settings.log_level = "WARNING"  # no line for each request, as ours writes none
    server.run("streamable-http", port=int(sys.argv[1]), stateless_http=True)
