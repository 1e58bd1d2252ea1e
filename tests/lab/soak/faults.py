"""What goes wrong around the service, and which errors that excuses."""

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.lab.soak.record import Record, Request
from tests.lab.soak.world import World

ONEPERCENT = ("preview_actions", "apply_actions", "undo_last", "cancel_preview")
ROUND_S = 150
LONG_S = 60
"""A soak of this length has time for a lock that outlasts the service's patience."""


@dataclass(frozen=True)
class Excuse:
    """An error that a fault explains: its code, words of its text, and how the names of the tools that may get it begin."""

    code: str
    words: str
    tools: tuple[str, ...]


EXCUSES = {
    "anki dies": [Excuse("ANKI_UNREACHABLE", "", ("anki_",)), Excuse("ANKI_CUT", "", ("anki_",))],
    "anki hangs": [Excuse("ANKI_NO_ANSWER", "", ("anki_",))],
    "upstream gone": [Excuse("UPSTREAM_UNREACHABLE", "", ("sync_docs",))],
    "database locked briefly": [],
    "database locked for long": [Excuse("DATABASE_ERROR", "Another session", ONEPERCENT)],
    "disk full": [
        Excuse("DATABASE_ERROR", "", (*ONEPERCENT, "get_user_snapshot")),
        Excuse("STATE_NOT_WRITABLE", "disk", ("anki_add_notes", "anki_update_notes", "anki_delete_notes")),
        Excuse("DISK_FULL", "", ("sync_docs",)),
    ],
}


@dataclass
class Window:
    """When a fault was there; `ended` is None while it is."""

    fault: str
    began: float
    ended: float | None = None

    def excuses(self, code: str, error: str, request: Request) -> bool:
        fitting = [excuse for excuse in EXCUSES[self.fault] if excuse.code == code and excuse.words in error]
        return self.during(request) and any(request.tool.startswith(excuse.tools) for excuse in fitting)

    def during(self, request: Request) -> bool:
        """Whether it was there at some moment of the call."""
        return self.began <= (request.ended or time.monotonic()) and (self.ended or request.began) >= request.began


class Faults:
    """Threads that each break one thing now and then, in a short soak after shorter calms and not for long."""

    def __init__(self, world: World, seed: int, record: Record, duration_s: float):
        self.world, self.record = world, record
        self.duration_s = duration_s
        self.pace = min(1, duration_s / 120)
        self.stopping = threading.Event()
        self.windows: list[Window] = []
        rounds = {
            "anki": (self.anki_dies, self.anki_hangs),
            "upstream": (self.upstream_gone,),
            "database": (self.locked_briefly, *([self.locked_for_long] if duration_s >= LONG_S else [])),
            "disk": (self.disk_full,) if world.disk else (),
            "publishing": (self.publish,),
        }
        self.rounds: dict[str, threading.Event] = {}
        """Set once every fault of that thread was there."""
        self.threads: list[threading.Thread] = []
        for name, steps in rounds.items():
            if steps:
                chance, self.rounds[name] = random.Random(f"{seed} {name}"), threading.Event()
                self.threads.append(threading.Thread(target=self._run, args=(chance, steps), name=name))

    def start(self) -> None:
        for thread in self.threads:
            thread.start()

    def last(self) -> None:
        """Wait until the time is up and, however short it was, every fault was there once."""
        self.stopping.wait(self.duration_s)
        for done in self.rounds.values():
            done.wait(ROUND_S)

    def stop(self) -> None:
        """End every fault."""
        self.stopping.set()
        for thread in self.threads:
            thread.join()

    def excuse(self, code: str, error: str, request: Request) -> str:
        """The fault that excuses an error; empty where none does."""
        return next((window.fault for window in list(self.windows) if window.excuses(code, error, request)), "")

    def _run(self, chance: random.Random, steps: tuple[Callable, ...]) -> None:
        try:
            while True:
                for step in steps:
                    if self.stopping.wait(chance.uniform(2, 10) * self.pace):
                        return
                    step(chance)
                self.rounds[threading.current_thread().name].set()
        except BaseException as error:
            self.record.complain(f"the soak itself: {threading.current_thread().name}: {error!r}")
            raise

    @contextmanager
    def _active(self, fault: str) -> Iterator[None]:
        window = Window(fault, time.monotonic())
        self.windows.append(window)
        try:
            yield
        finally:
            window.ended = time.monotonic()
            self.record.count(self.record.faults, fault)

    def _last(self, chance: random.Random, least_s: float, most_s: float) -> None:
        self.stopping.wait(chance.uniform(least_s, least_s + (most_s - least_s) * self.pace))

    def anki_dies(self, chance: random.Random) -> None:
        """In the middle of an action, if one comes soon."""
        with self._active("anki dies"):
            if self.world.anki.die_within(chance.randint(1, 8), timeout_s=3):
                self.record.count(self.record.checks, "deaths of Anki in the middle of an action")
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
        self._locked(chance, "database locked briefly", 2, 4)

    def locked_for_long(self, chance: random.Random) -> None:
        self._locked(chance, "database locked for long", 17, 18)

    def _locked(self, chance: random.Random, fault: str, least_s: float, most_s: float) -> None:
        with self._active(fault), self.world.database_locked():
            self._last(chance, least_s, most_s)

    def disk_full(self, chance: random.Random) -> None:
        with self._active("disk full"), self.world.disk.full():
            self._last(chance, 2, 4)
