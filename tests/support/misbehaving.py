"""Tools that do what a tool must not, or only slowly."""

import json
import os
import random
import re
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

from tools.core import calls, registry
from tools.core.errors import ToolError
from tools.core.tool import Tool


@Tool("test.prints")
def prints() -> dict:
    """Print to stdout, from Python, from C and from a child process.

    Source: the tests.
    """
    print("from print", flush=True)
    sys.stdout.write("from sys.stdout\n")
    sys.stdout.flush()
    os.write(1, b"from fd 1\n")
    subprocess.run(["echo", "from a child"], check=True)
    return {"stdin": sys.stdin.read()}


@Tool("test.returns", raw=True)
def returns(value: str) -> Any:
    """Answer with this JSON value.

    Source: the tests.
    """
    return json.loads(value)


@Tool("test.hogs")
def hogs() -> None:
    """Hold the interpreter for years, as a regular expression can.

    Source: the tests.
    """
    re.match(r"(a+)+$", "a" * 64 + "b")


@Tool("test.surrogates")
def surrogates() -> dict:
    """Answer half a surrogate pair, as foreign JSON may.

    Source: the tests.
    """
    return {"text": "a\ud800b"}


@Tool("test.asks")
def asks(text: str) -> dict:
    """Ask the person.

    Source: the tests.
    """
    return {"answer": calls.ask(text)}


@Tool("test.exits")
def exits() -> None:
    """Call sys.exit.

    Source: the tests.
    """
    sys.exit(3)


@Tool("test.crashes")
def crashes() -> None:
    """Raise what nobody foresaw.

    Source: the tests.
    """
    raise RuntimeError("secret of the house")


@Tool("test.counts")
def counts(steps: int, mark: str = "") -> dict:
    """Count up with progress until told to stop.

    Source: the tests.
    """
    for step in range(steps):
        calls.report(step + 1, steps, f"step {step + 1}")
        try:
            calls.checkpoint()
        except ToolError:
            Path(mark).write_text(f"stopped after {step}", encoding="utf-8")
            raise
        time.sleep(0.01)
    return {"steps": steps}


@Tool("test.sleeps")
def sleeps(seconds: float) -> dict:
    """Sleep.

    Source: the tests.
    """
    time.sleep(seconds)
    return {"slept": seconds}


@Tool("test.process")
def process() -> dict:
    """Tell the process id, the folder, the environment, the offset of local time, and something random.

    Source: the tests.
    """
    told = {"pid": os.getpid(), "folder": os.getcwd(), "environ": dict(os.environ), "offset": time.strftime("%z")}
    return told | {"uuid": str(uuid.uuid4()), "number": random.random()}


NOTE = [""]


@Tool("test.notes", description_suffix=lambda: NOTE[0])
def notes(text: str) -> None:
    """Change its own description.

    Source: the tests.
    """
    NOTE[0] = text
    registry.tools_changed()
