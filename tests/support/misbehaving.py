"""Tools that do what a tool must not, or only slowly."""

import json
import os
import random
import re
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path

from tools.core import calls, toolsets
from tools.core.errors import ToolError
from tools.core.tool import Tool


@Tool("test.prints", envelope=True)
def prints():
    """Print to stdout, from Python, from C and from a child process."""
    print("from print", flush=True)
    sys.stdout.write("from sys.stdout\n")
    sys.stdout.flush()
    os.write(1, b"from fd 1\n")
    subprocess.run(["echo", "from a child"], check=True)
    return {"stdin": sys.stdin.read()}


@Tool("test.returns")
def returns(value: str):
    """Answer with this JSON value."""
    return json.loads(value)


@Tool("test.hogs", envelope=True)
def hogs():
    """Hold the interpreter for years, as a regular expression can."""
    re.match(r"(a+)+$", "a" * 64 + "b")


@Tool("test.computes", envelope=True)
def computes(seconds: float):
    """Compute for so many seconds of processor time, and let other threads run meanwhile."""
    ends = time.thread_time() + seconds
    while time.thread_time() < ends:
        pass


@Tool("test.surrogates", envelope=True)
def surrogates():
    """Answer half a surrogate pair, as foreign JSON may."""
    return {"text": "a\ud800b"}


@Tool("test.asks", envelope=True)
def asks(text: str):
    """Ask the person."""
    return {"answer": calls.ask(text)}


@Tool("test.crashes", envelope=True)
def crashes():
    """Raise what nobody foresaw."""
    raise RuntimeError("secret of the house")


@Tool("test.counts", envelope=True)
def counts(steps: int, mark: str = ""):
    """Count up with progress until told to stop."""
    for step in range(steps):
        calls.report(step + 1, steps, f"step {step + 1}")
        try:
            calls.checkpoint()
        except ToolError:
            Path(mark).write_text(f"stopped after {step}", "utf-8")
            raise
        time.sleep(0.01)
    return {"steps": steps}


# Whatever sleeps in this process goes on once it is set.
AWAKE = threading.Event()


@Tool("test.sleeps", envelope=True)
def sleeps(seconds: float):
    """Sleep."""
    AWAKE.wait(seconds)
    return {"slept": seconds}


@Tool("test.process", envelope=True)
def process():
    """Tell the process id, the folder, the environment, the offset of local time, and something random."""
    return {
        "pid": os.getpid(),
        "folder": os.getcwd(),
        "environ": dict(os.environ),
        "offset": time.strftime("%z"),
        "uuid": str(uuid.uuid4()),
        "number": random.random(),
    }


NOTE = [""]


@Tool("test.notes", envelope=True, description_suffix=lambda: NOTE[0])
def notes(text: str):
    """Change its own description."""
    NOTE[0] = text
    toolsets.tools_changed()
