"""The real server with more tools, to be started as a process of its own.

usage: python serve_with_tools.py FILE MODULE [WORD …]      FILE declares tools as MODULE, WORDs are those of
server.py
"""

import importlib.util
import os
import sys
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

import server
from tests.support.client import MISBEHAVING
from tools import listing
from tools.core import registry
from tools.core.tool import TOOLS


def load(file, name):
    spec = importlib.util.spec_from_file_location(name, file)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextmanager
def misbehaving_tools(name="tools.testing.misbehaving"):
    """Add the tools of misbehaving.py in this process. Yields their module, whose sleepers wake up at the
    end."""
    registry.load()
    with mock.patch.dict(TOOLS):
        module = load(MISBEHAVING, name)
        try:
            yield module
        finally:
            module.AWAKE.set()
            del sys.modules[name]


if __name__ == "__main__":
    load(*sys.argv[1:3])
    path = listing._path  # a listing with more tools is another one
    listing._path = lambda: path().with_suffix(".more")
    server.STUCK_S = float(os.environ.get("TEST_STUCK_S", server.STUCK_S))
    sys.exit(server.main(sys.argv[3:] or ["--standalone"]))
