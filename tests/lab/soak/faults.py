"""What goes wrong around the service, and which errors that excuses."""

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.lab.soak.record import Record, Request
from tests.lab.soak.world import World

ROUND_S = 150
LONG_S = 60
"""A soak of this length has time for a lock that outlasts the service's patience."""
EXCUSED = {
    "anki dies": ("ANKI_UNREACHABLE", "ANKI_CUT"),
    "anki hangs": ("ANKI_NO_ANSWER",),
    "upstream gone": ("UPSTREAM_UNREACHABLE",),
    "database locked briefly": (),
    "database locked for long": ("DATABASE_ERROR",),
    "disk full": ("DATABASE_ERROR", "STATE_NOT_WRITABLE", "DISK_FULL"),
}


@dataclass
class Window:
    """When a fault was there; `ended` is None while it is."""

    fault: str
    began: float
    ended: float | None = None

    def excuses(self, code: str, request: Request) -> bool:
        """Whether it explains this error, and was there at some moment of the call."""
        is_then = self.began <= request.ended and (self.ended or request.ended) >= request.began
        return is_then and code in EXCUSED[self.fault]


class Faults:
    """Threads that each break one thing now and then, in a short soak after shorter calms and not for long."""

    def __init__(self, world: World, seed: int, record: Record, duration_s: float):
        self.world, self.record, self.duration_s = world, record, duration_s
        self.pace = min(1, duration_s / 120)
        self.stopping = threading.Event()
        self.windows: list[Window] = []
        rounds = [
            [self.anki_dies, self.anki_hangs],
            [self.upstream_gone],
            [self.locked_briefly, *([self.locked_for_long] if duration_s >= LONG_S else [])],
            [self.publish],
            *([[self.disk_full]] if world.has_disk else []),
        ]
        self.done = [threading.Event() for _ in rounds]
        """Each set once every fault of a round was there."""
        self.threads = []
        for number, (steps, done) in enumerate(zip(rounds, self.done, strict=True)):
            chance = random.Random(f"{seed} {number}")
            self.threads.append(threading.Thread(target=self._run, args=(chance, steps, done)))

    def start(self) -> None:
        for thread in self.threads:
            thread.start()

    def last(self) -> None:
        """Wait until the time is up and, however short it was, every fault was there once."""
        self.stopping.wait(self.duration_s)
        for done in self.done:
            done.wait(ROUND_S)

    def stop(self) -> None:
        """End every fault."""
        self.stopping.set()
        for thread in self.threads:
            thread.join()

    def excuse(self, code: str, request: Request) -> str:
        """The fault that excuses an error; empty where none does."""
        return next((window.fault for window in list(self.windows) if window.excuses(code, request)), "")

    def _run(self, chance: random.Random, steps: list[Callable], done: threading.Event) -> None:
        try:
            while True:
                for step in steps:
                    if self.stopping.wait(chance.uniform(2, 10) * self.pace):
                        return
                    step(chance)
                done.set()
        except BaseException as error:
            self.record.complain(f"the soak itself: {error!r}")
            raise

    @contextmanager
    def _active(self, fault: str) -> Iterator[None]:
        window = Window(fault, time.monotonic())
        self.windows.append(window)
        try:
            yield
        finally:
            window.ended = time.monotonic()
            self.record.count("faults", fault)

    def _last(self, chance: random.Random, least_s: float, most_s: float) -> None:
        self.stopping.wait(chance.uniform(least_s, least_s + (most_s - least_s) * self.pace))

    def anki_dies(self, chance: random.Random) -> None:
        """In the middle of an action, if one comes soon."""
        with self._active("anki dies"):
            if self.world.anki.die_within(chance.randint(1, 8), timeout_s=3):
                self.record.count("compared", "deaths of Anki in the middle of an action")
            self._last(chance, 0, 1)
            self.world.anki.start()

    def anki_hangs(self, chance: random.Random) -> None:
        with self._active("anki hangs"):
            self.world.anki.hang()
            self._last(chance, 5, 7)
            self.world.anki.go_on()

    def upstream_gone(self, chance: random.Random) -> None:
        with self._active("upstream gone"):
            self.world.published.vanish()
            self._last(chance, 2, 4)
            self.world.published.come_back()

    def publish(self, chance: random.Random) -> None:
        """No fault: an upstream as it should be, while it is there."""
        self.world.published.publish()

    def locked_briefly(self, chance: random.Random) -> None:
        """For less than the service waits for the database, so that no call may fail."""
        with self._active("database locked briefly"), self.world.database_locked():
            self._last(chance, 2, 4)

    def locked_for_long(self, chance: random.Random) -> None:
        with self._active("database locked for long"), self.world.database_locked():
            self._last(chance, 17, 18)

    def disk_full(self, chance: random.Random) -> None:
        with self._active("disk full"), self.world.disk_full():
            self._last(chance, 2, 4)
