"""Those who use the service: each opens session after session and lets flows of all systems run in them."""

import random
import threading
from collections.abc import Callable, Iterator
from typing import Any

from tests.lab.soak.docs import Docs
from tests.lab.soak.life import Person
from tests.lab.soak.notes import Notes
from tests.lab.soak.record import Lost, Record, Wrong
from tests.lab.soak.sessions import HandedOver, Judge
from tests.lab.soak.world import World

Flow = Iterator[Any]
WRONG = (Wrong, KeyError, IndexError, TypeError, AttributeError, ValueError)
"""What a flow raises for an answer that is wrong, or has not the documented shape."""


class Worker:
    def __init__(self, name: str, world: World, judge: Judge, record: Record, seed: int):
        self.name, self.world, self.judge, self.record = name, world, judge, record
        self.chance = random.Random(f"{seed} {name}")
        self.person = Person(name, self.chance, self.record)
        self.notes = Notes(name, self.chance, self.record)
        self.docs = Docs(world.published, self.chance, self.record)
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.keep_going, name=name)

    def start(self) -> None:
        self.thread.start()

    def stop(self) -> None:
        self.stopping.set()
        self.thread.join()

    def keep_going(self) -> None:
        """One session after the other until the end."""
        ways = (self.converse, self.converse, self.converse, self.converse_and_die, self.converse_and_die)
        while not self.stopping.is_set():
            try:
                self.chance.choice(ways)()
            except (Wrong, OSError) as wrong:
                self.record.complain(repr(wrong))
            except BaseException as error:
                self.record.complain(f"the soak itself: {self.name}: {error!r}")
                raise

    def environ(self) -> dict[str, str]:
        return {**self.world.environ(), "ONEPERCENT_USER": self.name}

    def session(self, cut_at: int = 0) -> HandedOver:
        return HandedOver(self.world, self.judge, self.chance, self.environ(), cut_at)

    def converse(self) -> None:
        self._talk(self.session())

    def converse_and_die(self) -> None:
        """The caller, or the session, is killed in the middle of one of the first calls."""
        self._talk(self.session(self.chance.randint(1, 6)))

    def _talk(self, session: HandedOver) -> None:
        try:
            systems = (self.person, self.notes, self.docs)
            for _ in range(self.chance.randint(1, 6)):
                if session.over:
                    break
                self.run(self.chance.choice(systems).flow(), session)
        finally:
            session.close()
            self.record.count(self.record.sessions, session.over or session.way)

    def run(self, flow: Flow, session: HandedOver) -> None:
        """Ask what a flow wants to know, until it is through, the session is over or an answer is wrong."""
        asked = None
        try:
            asked = next(flow)
            while True:
                try:
                    answer = session.ask(asked)
                except Lost as lost:
                    flow.throw(lost)
                    raise
                asked = flow.send(answer)
        except (StopIteration, Lost):
            return
        except WRONG as wrong:
            text = f"{self.name}: {type(wrong).__name__}: {wrong}"
            self.record.complain(text, asked)

    def settle(self) -> None:
        """At the end, when nothing is broken any more: what is open is settled, and all is there that must be."""
        self._alone(*([self.person.settle] if self.person.open else []), self.person.look, self.notes.find)

    def sync(self) -> None:
        self._alone(self.docs.sync)

    def _alone(self, *flows: Callable[[], Flow]) -> None:
        try:
            session = self.session()
            for flow in flows:
                self.run(flow(), session)
            session.close()
        except Wrong as wrong:
            self.record.complain(str(wrong))
