"""The story that Klipper's log (klippy.log) tells of its last start, or of an earlier one."""

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, NamedTuple

from tools.core.errors import ToolError
from tools.core.json_types import JsonObject, compact_json
from tools.core.schema import Limits
from tools.core.tool import Tool
from tools.klipper import printer_data
from tools.klipper.config import checking, printer_cfg
from tools.klipper.config.machine import short
from tools.klipper.config.printer_cfg import ERROR, HINT
from tools.klipper.search import messages
from tools.klipper.search.messages import Message, explained

LIMIT = 2800
"""Characters of an answer: 700 tokens."""
MOST_ERRORS, MOST_FINDINGS = 4, 4
MOST_BYTES, LONGEST_READ = 200_000_000, 65_536
"""The end of a log that is read if it is longer, line by line: a day of printing writes 60 MB. And of a
line."""
MOST_FILES = 3
STATS, CONFIG, CONFIG_END = b"Stats ", b"===== Config file =====", b"======================="
# `Start printer at Mon Aug  3 10:00:00 2026 (1785751200.0 12.3)`: the time, that since 1970, that since the
# boot.
STARTED = re.compile(r"Start printer at (.+?) \([\d.]+ ([\d.]+)\)")
VERSION = re.compile(r"(?:Git version|Klipper version): *'?([^'\s]+)")
# A line that may be a message of Klipper; of the others (requests, dumps, moves) a log has thousands.
TELLING = re.compile(
    rb"(?i)error|shutdown|lost|unable|fail|timeout|invalid|unknown|out of range|must |\bnot |no trigger|too |already|exceed|restart"
)
# What a message begins with in the log and people do not write: `Transition to shutdown state: `,
# `pins.error: `.
PREFIX = re.compile(r"^(?:Transition to shutdown state|(?:\w+\.)*\w*[Ee]rror): ")
# A number in a Stats line: `bytes_retransmit=9`.
PAIR = re.compile(r"\b(\w+)=(-?\d+(?:\.\d+)?)")
LONGEST_LINE = 600


@Tool("printer_log")
def printer_log(
    session: Annotated[
        int, "-1: the last start, -2: the one before; 1: the first in the log", Limits(ge=-100, le=100)
    ] = -1,
) -> JsonObject:
    """Tell what Klipper's log says of a start: when, which version, the errors with what they mean, the link
    to the boards, and what is wrong in the configuration it ran with. Read only.

    Source: logs/klippy.log and the rotated ones in KLIPPER_PRINTER_DATA. Only lines that are known messages
    are given: a log holds names and tokens.
    """
    starts = _starts(printer_data.folder())
    try:
        start = starts[session - 1 if session > 0 else session]
    except IndexError:
        message = f"The log has {len(starts)} starts, not {abs(session)}"
        raise ToolError(message, "-1 is the last one.", code="NO_SUCH_START") from None
    answer: JsonObject = {
        "started": start.when,
        "version": start.version,
        "starts": len(starts),
        "ran_s": start.ran_s,
    }
    if start.state:
        answer["shutdown"] = short(start.state, 200)
    told = list(start.told.values())[::-1][:MOST_ERRORS]  # the last ones first
    answer["errors"] = [
        {"line": short(each.line, 160), "count": each.times, **explained(each.message)} for each in told
    ]
    answer["link"] = _link(start)
    if start.config:
        answer["config"] = _config(start)
    for shortened in (answer.get("config", {}).get("findings", []), answer["errors"]):
        while len(compact_json(answer)) > LIMIT and len(shortened) > 1:
            shortened.pop()
    return {name: value for name, value in answer.items() if value or name == "errors"}


def _link(start: "Start") -> JsonObject:
    """The state of the connections and the host at the last Stats line."""
    shown: JsonObject = {}
    # A part for each micro-controller, by its name; the host's begins with sysload.
    for part in re.split(r" (?=\S+: |sysload=)", start.stats.decode("utf-8", "replace").strip()):
        name, numbers = part.partition(": ")[0], {key: float(value) for key, value in PAIR.findall(part)}
        if "bytes_retransmit" in numbers:
            parts = {"retransmitted": "retransmit", "invalid": "invalid", "received": "read"}
            shown[name] = {part: int(numbers.get(f"bytes_{key}", 0)) for part, key in parts.items()}
        if "sysload" in numbers:
            shown |= {"load": numbers["sysload"], "memory_free_mb": round(numbers.get("memavail", 0) / 1024)}
    return shown


def _config(start: "Start") -> JsonObject:
    """The findings in the configuration that the log holds, in few words."""
    read = printer_cfg.read("\n".join(start.config))
    try:
        found = checking.current().findings(read)
    except ToolError:
        return {
            "sections": len(read.sections),
            "not_checked": "the Klipper documentation is not here: call sync_docs",
        }
    told = [short(finding.message, 160) for finding in found if finding.level != HINT][:MOST_FINDINGS]
    return {
        "sections": len(read.sections),
        "errors": sum(one.level == ERROR for one in found),
        "findings": told,
    }


class Told(NamedTuple):
    """A message in the log: what it means, the last line with it, and how often it came."""

    message: Message
    line: str
    times: int


@dataclass
class Start:
    """One start of Klipper: everything up to the next one."""

    when: str = ""
    clock: float = 0.0
    version: str = ""
    told: dict[str, Told] = field(default_factory=dict)
    config: list[str] = field(default_factory=list)
    stats: bytes = b""
    state: str = ""

    @property
    def ran_s(self) -> int:
        """The seconds from the start to the last Stats line."""
        match = re.match(rb"Stats ([\d.]+):", self.stats)
        return max(0, round(float(match[1]) - self.clock)) if match and self.clock else 0

    def tell(self, message: Message, line: str, times: int = 1) -> None:
        """Count a message; the one that came last is the last of `told`."""
        times += self.told.pop(message.meaning, Told(message, line, 0)).times
        self.told[message.meaning] = Told(message, line, times)

    def go_on(self, rest: "Start") -> None:
        """Add what the log of the next day tells of this start."""
        for told in rest.told.values():
            self.tell(*told)
        self.config, self.stats = rest.config or self.config, rest.stats or self.stats
        self.state, self.version = rest.state or self.state, self.version or rest.version


def _starts(folder: Path) -> list[Start]:
    """The starts in the log and, where that has none, in the rotated ones before it; the oldest first.

    Raises ToolError if there is no log.
    """
    logs = folder / "logs"
    names = sorted((path.name for path in logs.glob("klippy.log.*")), reverse=True)  # `klippy.log.2026-08-03`
    starts = [Start()]
    for name in ["klippy.log", *names][:MOST_FILES]:
        earlier = _read(logs / name, folder)
        earlier[-1].go_on(starts[0])  # Klipper begins a new log each day
        starts = earlier + starts[1:]
        if len(starts) > 1:
            break
    return starts[1:] or [start for start in starts if start.told or start.stats]


def _read(path: Path, folder: Path) -> list[Start]:
    """The starts in a log; the first one is what stands before the first that begins in it."""
    reader = _Reader()
    with printer_data.opened(path, folder) as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - MOST_BYTES))
        for line in iter(lambda: file.readline(LONGEST_READ), b""):
            if line.startswith(STATS):  # most lines
                reader.start.stats = line
            else:
                reader.line(line.rstrip(b"\r\n"))
    return reader.starts


class _Reader:
    """Takes the lines of a log that are no Stats."""

    def __init__(self) -> None:
        self.start = Start()
        self.starts = [self.start]
        self.version = ""
        self.in_config = False
        self.known: dict[str, Message | None] = {}

    def line(self, line: bytes) -> None:
        text = line[:LONGEST_LINE].decode("utf-8", "replace")
        if self.in_config and (
            STARTED.match(text) or VERSION.match(text)
        ):  # the power cut the configuration off
            self.in_config, self.start.config = False, []
        if self.in_config:
            self.in_config = line != CONFIG_END
            self.start.config += [text] if self.in_config else []
        elif line == CONFIG:
            self.in_config, self.start.config = True, []
        elif match := STARTED.match(text):
            self.start = Start(match[1], float(match[2]), self.version)
            self.starts.append(self.start)
        elif match := VERSION.match(text):
            self.version = match[1][:60]  # of the start that follows
            self.start.version = self.start.version or self.version
        elif len(line) <= LONGEST_LINE and TELLING.search(line):
            told = PREFIX.sub("", text := text.strip())
            if text.startswith("Transition to shutdown state") or (
                self.start.state and "' shutdown: " in text
            ):
                self.start.state = told
            key = re.sub(r"[\d.]+", "0", text)
            if key not in self.known:
                self.known[key] = messages.of_line(text)
            if message := self.known[key]:
                self.start.tell(message, told)
