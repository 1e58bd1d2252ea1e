"""The memory of the service and of everything that it starts, over time."""

import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.lab.bench.processes import memory_kib
from tests.support.services import children

EVERY_S = 0.1


@dataclass(frozen=True)
class Sample:
    """Of the service itself; `anonymous_kib` is what it made, shared with its children or not."""

    at_s: float
    rss_kib: int
    anonymous_kib: int
    handles: int


class Watching:
    """Samples of the service, and the most memory that any process of it ever had, by the kernel's own account."""

    def __init__(self, pid: int):
        self.pid = pid
        self.samples: list[Sample] = []
        self.peak = (0, "none")
        self.began = time.monotonic()
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self._watch)

    def start(self) -> None:
        self.thread.start()

    def stop(self) -> None:
        self.stopping.set()
        self.thread.join()

    def _watch(self) -> None:
        while not self.stopping.wait(EVERY_S):
            self.take()

    def take(self) -> None:
        sizes = memory_kib(self.pid)
        handles = len(os.listdir(f"/proc/{self.pid}/fd"))
        at_s = time.monotonic() - self.began
        self.samples.append(Sample(at_s, sizes["Rss"], sizes["Anonymous"], handles))
        for pid in (self.pid, *descendants(self.pid)):
            try:
                status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
            except OSError:
                continue
            fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
            if "VmHWM" in fields:  # a zombie has none
                self.peak = max(self.peak, (int(fields["VmHWM"].split()[0]) // 1024, fields["Name"]))


def descendants(pid: int) -> Iterator[int]:
    try:
        below = children(pid)
    except OSError:
        return
    for child in below:
        yield child
        yield from descendants(child)
