"""The memory of the service's parent process over time."""

import os
import threading
import time
from dataclasses import dataclass

from tests.bench.processes import memory_kib
from tests.support.services import children

LIMIT_KIB = 1024


@dataclass(frozen=True)
class Sample:
    """`anonymous_kib` is what the parent made itself, shared with its children or not."""

    at_s: float
    rss_kib: int
    anonymous_kib: int
    handles: int
    children: int


class Memory:
    """Samples of a process every `every_s`."""

    def __init__(self, pid: int, every_s: float):
        self.pid, self.every_s = pid, every_s
        self.samples: list[Sample] = []
        self.began = time.monotonic()
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self._watch)

    def start(self) -> None:
        self.began = time.monotonic()
        self.thread.start()

    def stop(self) -> None:
        self.stopping.set()
        self.thread.join()

    def _watch(self) -> None:
        while not self.stopping.wait(self.every_s):
            self.take()

    def take(self) -> None:
        self.samples.append(self._sample())

    def _sample(self) -> Sample:
        sizes = memory_kib(self.pid)
        handles = len(os.listdir(f"/proc/{self.pid}/fd"))
        at_s = time.monotonic() - self.began
        return Sample(at_s, sizes["Rss"], sizes["Anonymous"], handles, len(children(self.pid)))

    def warm(self, after_s: float) -> list[Sample]:
        """Those from when the service had served for a while."""
        return [sample for sample in self.samples if sample.at_s >= after_s]


def slope(samples: list[Sample]) -> float:
    """KiB a minute of RSS, by least squares."""
    times = [sample.at_s / 60 for sample in samples]
    middle, mean = sum(times) / len(times), sum(sample.rss_kib for sample in samples) / len(samples)
    spread = sum((at - middle) ** 2 for at in times)
    return sum((at - middle) * (sample.rss_kib - mean) for at, sample in zip(times, samples, strict=True)) / (
        spread or 1
    )
