"""What once brought the server down, tried again and again while it serves others.

Each attack has a folder of its own for state, settings and documentation; the service and its disk are everybody's.
Raises Wrong if the server gives in.
"""

import json
import os
import random
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

from tests.klipper.upstreams import git
from tests.soak import pictures
from tests.soak.peaks import Peaks
from tests.soak.record import Answer, Request, expect
from tests.soak.sessions import HandedOver, Judge
from tests.soak.world import World
from tests.support.client import HANDSHAKE, PROJECT, TIMEOUT_S, Client
from tools.service import handover

MARK = "attack "
"""How the notes begin that attacks add."""
SILENT = 20
QUESTIONS, ASKED_AT_MOST = 12, 8
OWED = 3000
LARGE_PAGE = 30 * 2**20


class Attacks:
    def __init__(self, world: World, judge: Judge, peaks: Peaks):
        self.world, self.judge, self.peaks = world, judge, peaks
        self.folder = world.folder / "attacks"
        self.folder.mkdir()
        self.pictures: list[tuple[str, str]] = []

    def all(self) -> dict[str, Callable[[random.Random, Path], None]]:
        """By the name that the report gives them."""
        return {
            "silent connections": self.silent_connections,
            "unanswered questions": self.unanswered_questions,
            "a client that reads nothing": self.reads_nothing,
            "half surrogates": self.half_surrogates,
            "lines of many values": self.many_values,
            "refused calls": self.refused_calls,
            "damaged database": self.damaged_database,
            "spoilt import": self.spoilt_import,
            "settings with BOM": self.settings_with_bom,
            "misspelt settings": self.misspelt_settings,
            "foreign checkout": self.foreign_checkout,
            "quadratic patterns": self.quadratic_patterns,
            "odd file names": self.odd_file_names,
            "large page": self.large_page,
            "evil pictures": self.evil_pictures,
            "private addresses": self.private_addresses,
            "dripping Anki": self.dripping_anki,
        }

    def prepare(self) -> None:
        """Make the pictures before anybody waits for this process."""
        self.pictures = list(pictures.evil())

    def run(self, name: str, chance: random.Random) -> None:
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        try:
            self.all()[name](chance, folder)
        finally:
            shutil.rmtree(folder)

    def environ(self, folder: Path, **more: str) -> dict[str, str]:
        """The settings of a session that shares nothing with others but the service, Anki and the search."""
        own = {"MCP_STATE_DIR": str(folder / "state"), "KLIPPER_DOCS_DIR": str(folder / "klipper")}
        return {**self.world.environ(), **own, "XDG_CONFIG_HOME": str(folder), "ONEPERCENT_USER": "attacker", **more}

    @contextmanager
    def session(self, folder: Path, **more: str) -> Iterator[HandedOver]:
        session = HandedOver(self.world, self.judge, random.Random(0), self.environ(folder, **more))
        try:
            yield session
        finally:
            session.close()

    @contextmanager
    def client(self, folder: Path, **more: str) -> Iterator[Client]:
        """For what no session of the soak would say."""
        with self.world.service.caller(self.world.caller, **self.environ(folder, **more)) as client:
            yield client

    def greeted(self, session: HandedOver) -> None:
        answer = session.ask(Request("greet", {"name": "Мир"}))
        expect(answer.value == "Привет, Мир! Я твой MCP-сервер.", f"greeted with {answer.value}")

    def silent_connections(self, chance: random.Random, folder: Path) -> None:
        with ExitStack() as open_ones:
            for number in range(SILENT):
                connection = open_ones.enter_context(self.world.service.connect())
                connection.sendall([b"", b"\0\0\0", b"\0\0\0\1\0half"][number % 3])
            undecided = open_ones.enter_context(self.world.service.connect())
            offer = handover._frame([handover.identity().encode(), b"/", b"A=1"])
            with open(os.devnull, "r+b") as null:
                socket.send_fds(undecided, [offer], [null.fileno()] * 3)
            with self.session(folder) as session:
                self.greeted(session)

    def unanswered_questions(self, chance: random.Random, folder: Path) -> None:
        with self.client(folder, ONEPERCENT_CONFIRM="elicit") as client:
            client.request("initialize", **{**HANDSHAKE, "capabilities": {"elicitation": {}}})
            client.send(method="notifications/initialized")
            applied = []
            for number in range(QUESTIONS):
                action = {"action": "goal.create", "client_action_id": uuid(chance), "params": {"title": f"{number}"}}
                answer = client.call("preview_actions", actions=[action])["structuredContent"]
                applied.append({"preview_id": answer["preview_id"], "idempotency_key": uuid(chance)})
            numbers = range(1000, 1000 + QUESTIONS)
            for number, arguments in zip(numbers, applied, strict=True):
                arguments["user_confirmation"] = "да"
                client.send(id=number, method="tools/call", params={"name": "apply_actions", "arguments": arguments})
            for _ in range(QUESTIONS - ASKED_AT_MOST):
                code = client.answer_to_any(numbers)["result"]["structuredContent"]["code"]
                expect(code == "BUSY", f"{code} for a question too many")
            expect(client.request("tools/list")["result"]["tools"], "no tools beside open questions")
            expect(client.request("resources/list")["result"], "no resources beside open questions")

    def reads_nothing(self, chance: random.Random, folder: Path) -> None:
        line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode() + b"\n"
        first = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HANDSHAKE}).encode() + b"\n"
        environ = {**self.world.service.environment, **self.environ(folder)}
        words = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "env": environ}
        with subprocess.Popen(self.world.caller, **words) as caller:
            writing = threading.Thread(target=_write, args=(caller.stdin, first + line * OWED), daemon=True)
            writing.start()
            writing.join(3)
            with self.session(folder) as session:
                self.greeted(session)
            caller.kill()
            writing.join(TIMEOUT_S)

    def half_surrogates(self, chance: random.Random, folder: Path) -> None:
        with self.client(folder) as client:
            client.initialize()
            for text in ("\\ud83d", "\\udc00", "a\\ud800b"):
                arguments = f'{{"name":"greet","arguments":{{"name":"{text}"}}}}'
                client.write(f'{{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{arguments}}}')
                expect(client.answer(77)["error"]["code"] == -32700, "half a surrogate was taken")
            expect(client.request("ping")["result"] == {}, "no ping after half a surrogate")

    def many_values(self, chance: random.Random, folder: Path) -> None:
        head = b'{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"greet","arguments":{"name":['
        with self.client(folder) as client:
            client.initialize()
            for piece in (b"{},", b'{"a":1},', b"[", b'"x",', b"1,"):
                client.write(head + piece * (15 * 2**20 // len(piece)) + b"1]}}}\n")
                expect(client.answer(5)["error"]["code"] == -32600, "a line of millions of values was read")
            client.write(b'{"jsonrpc":"2.0","id":6,"method":"' + b"x" * (20 * 2**20) + b'"}\n')
            expect(client.answer(6)["error"]["code"] == -32600, "a line of 20 MiB was read")
            expect(client.request("ping")["result"] == {}, "no ping after long lines")

    def refused_calls(self, chance: random.Random, folder: Path) -> None:
        with self.session(folder, ONEPERCENT_RATE_LIMIT="") as session:
            for _ in range(40):
                arguments = {"actions": "x" * 500_000}
                answer = session.ask(Request("preview_actions", arguments, ("FIELD_INVALID", "RATE_LIMITED")))
                expect(answer.code, "half a megabyte of x is an action")
        size = sum(path.stat().st_size for path in (folder / "state").glob("onepercent.sqlite3*"))
        expect(size < 2_000_000, f"20 MB of refused calls left {size} bytes")

    def life(self, chance: random.Random, folder: Path) -> Path:
        """A small database that one session left."""
        with self.session(folder) as session:
            for number in range(3):
                action = {
                    "action": "goal.create",
                    "client_action_id": uuid(chance),
                    "params": {"title": f"Цель {number}"},
                }
                preview = session.ask(Request("preview_actions", {"actions": [action]})).value["preview_id"]
                arguments = {"preview_id": preview, "idempotency_key": uuid(chance), "user_confirmation": "да"}
                session.ask(Request("apply_actions", arguments))
        return folder / "state" / "onepercent.sqlite3"

    def damaged_database(self, chance: random.Random, folder: Path) -> None:
        file = self.life(chance, folder)
        shutil.copyfile(file, folder / "copy")
        with closing(sqlite3.connect(folder / "copy")) as db:
            expect(db.execute("SELECT count(*) FROM goals").fetchone() == (3,), "the one file alone is not whole")
        damaged = bytearray(file.read_bytes())
        for _ in range(chance.choice((20, 500))):
            damaged[chance.randrange(100, len(damaged))] = chance.randrange(256)
        file.write_bytes(damaged)
        with self.session(folder) as session:
            damage = ("DATABASE_ERROR", "PREVIEW_STALE", "NOTHING_TO_UNDO", "ALL_FAILED")
            session.ask(Request("get_user_snapshot", {}, damage))
            session.ask(Request("undo_last", {}, damage))
            self.greeted(session)
        answer = self.shell(folder, "onepercent", "restore", str(folder / "copy"))
        expect(answer.returncode == 0, f"a copy is not restored: {answer.stdout} {answer.stderr}")
        with self.session(folder) as session:
            goals = (
                session.ask(Request("get_user_snapshot", {"include": ["goals"]}))
                .value["data"]
                .get("goals", {"total_count": 0})
            )
            expect(goals["total_count"] == 3, f"restored {goals}")

    def spoilt_import(self, chance: random.Random, folder: Path) -> None:
        self.life(chance, folder)
        expect(self.shell(folder, "onepercent", "export", str(folder / "export")).returncode == 0, "no export")
        export = json.loads((folder / "export").read_text(encoding="utf-8"))
        part = chance.choice([export["state"], export["history"]])
        table = chance.choice([table for table in part.values() if table["rows"]])
        row = chance.choice(table["rows"])
        row[chance.randrange(len(row))] = chance.choice([2**63 - 1, "zzz", [], None, {}, "\ud800", -1, 1e300])
        (folder / "export").write_text(json.dumps(export), encoding="utf-8")
        answer = self.shell(folder, "onepercent", "import", str(folder / "export"))
        expect("Traceback" not in answer.stderr, f"an import ended with {answer.stderr}")
        with self.session(folder) as session:
            include = ["goals", "habits", "diary", "xp", "ssp", "schedule"]
            goals = (
                session.ask(Request("get_user_snapshot", {"include": include}))
                .value["data"]
                .get("goals", {"total_count": 0})
            )
            expect(answer.returncode == 0 or goals["total_count"] == 3, f"refused, and yet there is {goals}")

    def shell(self, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
        environ = {**self.world.service.environment, **self.environ(folder)}
        command = [sys.executable, "-m", "tools", *words]
        return subprocess.run(command, cwd=PROJECT, env=environ, capture_output=True, text=True, timeout=TIMEOUT_S)

    def settings_with_bom(self, chance: random.Random, folder: Path) -> None:
        self.settings(folder, b"\xef\xbb\xbfMCP_READ_ONLY=1\n")
        with self.client(folder) as client:
            client.initialize()
            tools = client.request("tools/list")["result"]["tools"]
            writers = [tool["name"] for tool in tools if not tool["annotations"]["readOnlyHint"]]
            expect(tools and not writers, f"MCP_READ_ONLY after a BOM lists {writers}")

    def misspelt_settings(self, chance: random.Random, folder: Path) -> None:
        self.settings(folder, b"MCP_READONLY=1\n")
        with self.client(folder) as client:
            client.initialize()
            client.end()
            client.threads[1].join(TIMEOUT_S)
            errors = b"".join(client.errors).decode()
        expect("Did you mean MCP_READ_ONLY?" in errors, f"nothing was said of MCP_READONLY: {errors}")

    def settings(self, folder: Path, text: bytes) -> None:
        (folder / "pi-mcp").mkdir()
        (folder / "pi-mcp" / "env").write_bytes(text)
        (folder / "pi-mcp" / "env").chmod(0o600)

    def foreign_checkout(self, chance: random.Random, folder: Path) -> None:
        checkout = folder / "klipper"
        (checkout / "docs").mkdir(parents=True)
        git(checkout, "init", "-q")
        (checkout / "docs" / "Mine.md").write_text("# Mine\n\nmacros\n", encoding="utf-8")
        (checkout / "macros.cfg").write_text("[gcode_macro X]\n", encoding="utf-8")
        git(checkout, "add", "docs")
        git(checkout, "commit", "-q", "-m", "mine")
        before = contents(checkout)
        with self.session(folder) as session:
            answer = session.ask(Request("sync_docs"))
            expect(answer.value.get("status") == "only read", f"a foreign checkout: {answer.value}")
        expect(contents(checkout) == before, "a foreign checkout was written to")

    def quadratic_patterns(self, chance: random.Random, folder: Path) -> None:
        docs = folder / "klipper" / "docs"
        docs.mkdir(parents=True)
        marks = {"Blanks": "# a" + " " * 60_000 + "b", "Brackets": "# " + "[" * 60_000, "Links": "# " + "[](" * 20_000}
        for name, text in marks.items():
            (docs / f"{name}.md").write_text(f"{text}\n\nbed mesh\n", encoding="utf-8")
        with self.session(folder) as session:
            expect(session.ask(Request("search_docs", {"query": "bed mesh"})).value["result"], "nothing found")
            for name in marks:
                answer = session.ask(Request("read_doc", {"path": f"{name}.md"}))
                expect(len(json.dumps(answer.value)) < 50_000, f"{name}: {len(json.dumps(answer.value))} characters")
            for heading in ("[" * 40_000, "[](" * 40_000, "[" * 200, " " * 10**6):
                wrong = ("HEADING_NOT_FOUND", "INVALID_ARGUMENTS", "HEADING_AMBIGUOUS")
                session.ask(Request("read_doc", {"path": "Blanks.md", "heading": heading}, wrong))
            blanks = {"image_base64": " " * 60_000, "target_field": "Back"}
            self.refused_note(session, blanks, "not base64")

    def refused_note(self, session: HandedOver, image: dict[str, Any], what: str) -> None:
        note = {"fields": {"Front": f"{MARK}{what}", "Back": "x"}, "images": [image]}
        answer = session.ask(Request("anki_add_notes", {"notes": [note], "deck": "Soak A"}))
        if not answer.code:
            expect(answer.value["details"][0]["status"] == "error", f"{what}: {answer.value}")

    def odd_file_names(self, chance: random.Random, folder: Path) -> None:
        docs = folder / "klipper" / "docs"
        docs.mkdir(parents=True)
        (docs / "C#.md").write_text("# Sharp\n\nbed mesh\n", encoding="utf-8")
        (docs / "loop.md").symlink_to("loop.md")
        (docs / "away.md").symlink_to("/etc/passwd")
        with open(os.fsencode(docs) + b"/caf\xe9.md", "wb") as file:
            file.write(b"# Latin\n")
        with self.session(folder) as session:
            expect(session.ask(Request("list_docs_map")).value, "no map")
            expect("Sharp" in json.dumps(session.ask(Request("read_doc", {"path": "C#.md"})).value), "no C#.md")
            refused = session.ask(Request("read_doc", {"path": "away.md"}, ("NOT_FOUND", "INVALID_PATH", "UNREADABLE")))
            expect(refused.code, "/etc/passwd was read")
            session.client.last_id += 1
            session.client.send(id=session.client.last_id, method="resources/list")
            listed = session.client.answer(session.client.last_id)
            expect("result" in listed, f"no resources: {listed}")

    def large_page(self, chance: random.Random, folder: Path) -> None:
        docs = folder / "klipper" / "docs"
        docs.mkdir(parents=True)
        (docs / "Small.md").write_text("# Small\n\nbed mesh\n", encoding="utf-8")
        (docs / "Large.md").write_text("# Large\n\n" + "bed mesh\n" * (LARGE_PAGE // 9), encoding="utf-8")
        with self.session(folder) as session:
            paths = [
                result["path"] for result in session.ask(Request("search_docs", {"query": "bed mesh"})).value["result"]
            ]
            expect(paths == ["Small.md"], f"found {paths}")
            answer = session.ask(Request("read_doc", {"path": "Large.md"}, ("TOO_LONG",)))
            expect(len(json.dumps(answer.value)) < 50_000, "30 MB of a page were sent")

    def evil_pictures(self, chance: random.Random, folder: Path) -> None:
        """In a session of its own each, so that its memory is that of one picture."""
        for name, data in self.pictures:
            with self.session(folder) as session:
                self.greeted(session)
                if pid := session._session():
                    self.peaks.pictures.add(pid)
                image = {"image_base64": data, "target_field": "Back", "filename": f"attack-{name}"}
                note = {"fields": {"Front": f"{MARK}{name} {uuid(chance)}", "Back": "x"}, "images": [image]}
                session.ask(Request("anki_add_notes", {"notes": [note], "deck": "Soak A"}))
                self.peaks.take()

    def private_addresses(self, chance: random.Random, folder: Path) -> None:
        with self.session(folder) as session:
            for url in (self.world.search.url, "http://[::1]/x", "http://0x7f000001/x", "http://169.254.169.254/x"):
                self.refused_note(session, {"image_url": url, "target_field": "Back"}, url)

    def dripping_anki(self, chance: random.Random, folder: Path) -> None:
        with closing(socket.create_server(("127.0.0.1", 0))) as listener:
            ended = threading.Event()
            dripping = threading.Thread(target=_drip, args=(listener, ended))
            dripping.start()
            try:
                with self.session(
                    folder, ANKI_CONNECT_TIMEOUT="2", ANKI_CONNECT_URL=f"http://127.0.0.1:{listener.getsockname()[1]}"
                ) as session:
                    answer: Answer = session.ask(Request("anki_list_decks", {}, ("ANKI_NO_ANSWER",)))
                    expect(answer.code == "ANKI_NO_ANSWER", f"dripped {answer}")
            finally:
                ended.set()
                dripping.join()


def uuid(chance: random.Random) -> str:
    import uuid

    return str(uuid.UUID(int=chance.getrandbits(128), version=4))


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def _write(stream: Any, data: bytes) -> None:
    try:
        stream.write(data)
        stream.flush()
    except OSError:
        """It was killed, as it should be."""


def _drip(listener: socket.socket, ended: threading.Event) -> None:
    connection, _ = listener.accept()
    with connection:
        while not ended.wait(0.2):
            try:
                connection.sendall(b"H")
            except OSError:
                return
