"""The most memory that each process of the service ever had, by the kernel's own account: none escapes between samples."""

import threading
from collections.abc import Iterator
from pathlib import Path

from tests.support.services import children

EVERY_S = 0.1
MOST_MIB, MOST_WITH_PICTURE_MIB = 200, 150


class Peaks:
    """Of the service, its sessions, and what those start. `pictures` are the sessions that were sent large pictures."""

    def __init__(self, pid: int):
        self.pid = pid
        self.mib: dict[int, tuple[int, str]] = {}
        self.pictures: set[int] = set()
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
        for pid in (self.pid, *descendants(self.pid)):
            try:
                status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
            except OSError:
                continue
            fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
            if "VmHWM" in fields:
                mib = int(fields["VmHWM"].split()[0]) // 1024
                if mib >= self.mib.get(pid, (0, ""))[0]:
                    self.mib[pid] = (mib, fields["Name"])

    def largest(self, *, with_picture: bool) -> tuple[int, str]:
        """The most of any process, in MiB, and its name."""
        chosen = [peak for pid, peak in self.mib.items() if (pid in self.pictures) is with_picture]
        return max(chosen, default=(0, "none"))

    def are_small(self) -> bool:
        most, picture = self.largest(with_picture=False), self.largest(with_picture=True)
        return most[0] <= MOST_MIB and picture[0] <= MOST_WITH_PICTURE_MIB


def descendants(pid: int) -> Iterator[int]:
    try:
        below = children(pid)
    except OSError:
        return
    for child in below:
        yield child
        yield from descendants(child)
