"""The real server with tools that misbehave, to be started as a process of its own."""

import importlib.util
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent))

import server  # noqa: E402

if __name__ == "__main__":
    spec = importlib.util.spec_from_file_location("tools.testing.misbehaving", HERE / "misbehaving.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    server.STUCK_S = float(os.environ.get("TEST_STUCK_S", server.STUCK_S))
    sys.exit(server.main(sys.argv[1:] or ["--standalone"]))
