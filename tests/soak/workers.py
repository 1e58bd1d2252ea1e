"""Those who use the service: each opens session after session and lets flows of all systems run in them."""

import random
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.soak.docs import Docs
from tests.soak.life import Person
from tests.soak.notes import Notes
from tests.soak.record import Answer, Lost, Record, Request, Wrong
from tests.soak.sessions import HandedOver, Judge, Plain, piped
from tests.soak.web import Web
from tests.soak.world import World

Flow = Iterator[Any]
WRONG = (Wrong, KeyError, IndexError, TypeError, AttributeError, ValueError)
"""What a flow raises for an answer that is wrong, or has not the documented shape."""
LOCAL = "local"
"""Who a plain connection is: it has no environment of its own to say otherwise."""


class Shared:
    """What all workers have in common; `local` is the person of plain connections, one session's at a time."""

    def __init__(self, world: World, judge: Judge, record: Record, seed: int):
        self.world, self.judge, self.record, self.seed = world, judge, record, seed
        self.local = Person(LOCAL, random.Random(f"{seed} {LOCAL}"), record)
        self.turn = threading.Lock()

    def settle(self) -> None:
        """At the end: what the person of the plain connections has is right."""
        Worker(LOCAL, self).settle(self.local)


class Worker:
    def __init__(self, name: str, shared: Shared):
        self.name, self.shared, self.record = name, shared, shared.record
        self.chance = random.Random(f"{shared.seed} {name}")
        self.person = Person(name, self.chance, self.record)
        self.notes = Notes(name, self.chance, self.record)
        self.docs = Docs(shared.world.published, self.chance, self.record)
        self.web = Web(self.chance, self.record)
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
                self.chance.choice((*ways, self.connect, self.pipe))()
            except (Wrong, OSError) as wrong:
                self.record.complain(repr(wrong))
            except BaseException as error:
                self.record.complain(f"the soak itself: {self.name}: {error!r}")
                raise

    def environ(self) -> dict[str, str]:
        return {**self.shared.world.environ(), "ONEPERCENT_USER": self.name}

    def session(self, cut_at: int = 0) -> HandedOver:
        return HandedOver(self.shared.world, self.shared.judge, self.chance, self.environ(), cut_at)

    def converse(self) -> None:
        self._talk(self.session(), self.person)

    def converse_and_die(self) -> None:
        """The caller, or the session, is killed in the middle of one of the first calls."""
        self._talk(self.session(self.chance.randint(1, 6)), self.person)

    def connect(self) -> None:
        with self.shared.turn:
            self._talk(Plain(self.shared.world, self.shared.judge), self.shared.local)

    def _talk(self, session: HandedOver | Plain, person: Person) -> None:
        try:
            systems = (person, self.notes, self.docs, self.web)
            for _ in range(self.chance.randint(1, 6)):
                if session.over:
                    break
                self.run(self.chance.choice(systems).flow(), session)
        finally:
            session.close()
            self.record.count(self.record.sessions, session.over or session.way)

    def run(self, flow: Flow, session: HandedOver | Plain) -> None:
        """Ask what a flow wants to know, until it is through, the session is over or an answer is wrong."""
        asked = None
        try:
            asked = next(flow)
            while True:
                try:
                    answer = self._ask(asked, session)
                except Lost as lost:
                    flow.throw(lost)
                    raise
                asked = flow.send(answer)
        except (StopIteration, Lost):
            return
        except WRONG as wrong:
            self._complain(f"{type(wrong).__name__}: {wrong}", asked)

    def _complain(self, text: str, asked: Request | list[Request]) -> None:
        request = asked[0] if isinstance(asked, list) else asked
        self.record.complain(f"{self.name}: {text}", request, self.shared.judge.faults.broken_during(request))

    def _ask(self, asked: Request | list[Request], session: HandedOver | Plain) -> Any:
        if isinstance(asked, Request):
            return session.ask(asked)
        with ThreadPoolExecutor(len(asked)) as threads:
            return list(threads.map(lambda request: self._apart(request, session), asked))

    def _apart(self, request: Request, session: HandedOver | Plain) -> Answer:
        """Ask in a session of its own beside this one."""
        beside = session.sibling()
        try:
            return beside.ask(request)
        finally:
            beside.close()

    def pipe(self) -> None:
        """A call to each system at once, then EOF."""
        flows = [self.person.single(), self.notes.flow(), self.docs.single(), self.web.single()]
        begun = [(flow, request) for flow in flows if (request := next(flow, None))]
        world, judge = self.shared.world, self.shared.judge
        answers = piped(world, judge, self.environ(), [request for _, request in begun])
        for (flow, request), answer in zip(begun, answers, strict=True):
            try:
                if isinstance(answer, Wrong):
                    raise answer
                flow.throw(answer) if isinstance(answer, Lost) else flow.send(answer)
                flow.close()
            except (StopIteration, Lost):
                continue
            except WRONG as wrong:
                self._complain(f"piped: {type(wrong).__name__}: {wrong}", request)
        self.record.count(self.record.sessions, "piped")

    def settle(self, person: Person | None = None) -> None:
        """At the end, when nothing is broken any more: what is open is settled, and all is there that must be."""
        person = person or self.person
        self._alone(*([person.settle] if person.open else []), person.look, self.notes.find)

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
