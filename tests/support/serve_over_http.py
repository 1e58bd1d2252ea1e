"""The real server over HTTP with more tools in its toolset `server`, to be started as a process of its own.

usage: python serve_over_http.py FILE
"""

import importlib.util
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

import server

if __name__ == "__main__":
    spec = importlib.util.spec_from_file_location("tools.server.testing", sys.argv[1])
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    sys.exit(server.main(["--http"]))
