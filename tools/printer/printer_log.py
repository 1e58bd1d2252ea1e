"""The report on one start in Klipper's log (klippy.log), by default the last."""

import re
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from textwrap import dedent
from typing import Annotated, NamedTuple

from tools.klipper import check_config, printers
from tools.klipper.config import checking, printer_cfg
from tools.klipper.config.machine import cut_between_words
from tools.klipper.page import printer_page
from tools.klipper.printers import FORM_ERRORS, HISTORY, KlippyLog, PrinterName
from tools.klipper.search import messages
from tools.toolkit import (
    JsonObject,
    Limits,
    Tool,
    ToolError,
    checkpoint,
    compact_json,
    filled,
    one_line,
)

from .printer_state import UNKNOWN_MESSAGE, number_field, text_field, version_age

# Characters of a pasted log that are read, from its end.
MOST_PASTED_CHARS = 1_000_000
# Coordinates, times and counts, which differ in the lines of one message.
LONG_NUMBER = re.compile(r"\b(?:\d+\.\d+|\d{3,})")
# `Start printer at Mon Aug  3 10:00:00 2026 (1785751200.0 12.3)`: the local time, the seconds since
# 1970, the seconds since the boot.
STARTED = re.compile(
    r"Start printer at (.{1,60}?) \((\d{1,12}(?:\.\d{1,12})?)[\d.]{0,20} (\d{1,12}(?:\.\d{1,12})?)\)"
)
VERSION_LINE = re.compile(r"(?:Git version|Klipper version): *'?([^'\s]{1,60})")
# A line that may be a message of Klipper; of the others (requests, dumps, moves) a log has thousands. Lines
# of Python that a traceback quotes are indented.
MESSAGE_LINE = re.compile(
    r"(?ai)(?!\s).*(?:error|shutdown|lost|unable|fail|timeout|invalid|unknown|out of range|must "
    r"|\bnot |no trigger|too |already|exceed|restart|eof)"
)
# The parts of a traceback that ended Klipper: a line that names a file, the error at its end.
FRAME = re.compile(r'  File ".*?(\w+/\w+\.py)", line (\d+)')
RAISED = re.compile(r"(?:\w+\.)*\w*(?:[Ee]rror|Exception)(?:: |$)")
# The state until the board's own message comes: `MCU 'mcu' shutdown: Timer too close`.
MCU_SHUTDOWN = "MCU shutdown"
# The prefix of each message in the log of Creality's Klipper: level, time, logger, place.
MAKERS_LINE = re.compile(rb"^\[[A-Z][\w ]*\] \d{4}-\d\d-\d\d [\d:,]+ \[\w+\] \[[^\]]*\] ")


@Tool("printer_log", page=printer_page.PRINTER_PAGE)
def printer_log(
    session: Annotated[
        int,
        "-1: the last start, -2: the one before; 1: the first in the log",
        Limits(ge=-100, le=100),
    ] = -1,
    text: Annotated[str, "a pasted klippy.log; without it the printer's own"] = "",
    printer: PrinterName = "",
) -> JsonObject:
    """Show what Klipper's log says of a start: when, which version, the errors with what they mean, the link
    to the boards. Also show mistakes in the configuration it ran with, and how the last print ended. Each
    earlier start that failed has a line. Read only.

    Source: logs/klippy.log and the rotated ones in KLIPPER_PRINTER_DATA or of the Moonraker of PRINTERS, or
    the text. Only lines that are known messages are given: a log holds names and tokens.
    """
    # The start that is asked for, and those before it.
    logs, job = _logs_and_job(text, printer)
    newest = logs[-1]
    starts = _starts(logs)
    *earlier, start = _starts_up_to(session, starts)
    failures = [f"{other.when}: {other.failure}" for other in earlier if other.failure]
    config, page_findings = _config_report(start)
    answer = filled(
        started=start.when,
        version=start.version,
        klipper=version_age(start.version),
        starts=len(starts),
        ran_s=start.ran_s,
        cut=newest.cut_bytes and f"the first {newest.cut_bytes:,} bytes of the log were not read",
        last_line_hours_ago=start is starts[-1] and _hours_since(newest.written),
        shutdown=cut_between_words(start.state, 200),
    )
    answer["errors"] = errors = [*map(_error_entry, start.errors[:4])]
    answer |= filled(
        last_print=job and _last_print(job, starts),
        link=_connections(start),
        config=config,
        earlier_failures=failures[-6:],
    )
    # Fewer errors if it has more than 600 tokens.
    while len(compact_json(answer)) > 2400 and len(errors) > 1:
        errors.pop()
    return printer_page.DrawnAnswer(answer, findings=page_findings)


def _logs_and_job(text: str, printer: str) -> tuple[list[KlippyLog], JsonObject]:
    """Get the logs, the newest last, and Moonraker's record of the last print."""
    if text:
        # A quoted log is indented as a whole.
        end = dedent(text[-MOST_PASTED_CHARS:]).encode("utf-8", "replace")
        return [KlippyLog(end.splitlines, cut_bytes=max(0, len(text) - MOST_PASTED_CHARS))], {}
    source = printers.printer_named(printer, "; or send the log as `text`")
    job = {}
    with suppress(ToolError, *FORM_ERRORS):  # there may be no Moonraker
        job = dict(source.request(HISTORY, {"limit": 1})["jobs"][0])
    return source.logs(), job


def _starts_up_to(session: int, starts: list["Start"]) -> list["Start"]:
    """Take the starts up to the one that is asked for."""
    count = len(starts)
    number = session if session > 0 else count + session + 1
    if not 0 < number <= count:
        raise ToolError(
            f"There is no start {session}: the log has {count}, the first perhaps cut",
            "-1 is the last one. A pasted log begins with its line `Start printer at`.",
            "NO_SUCH_START",
        )
    return starts[:number]


def _hours_since(time_s: float) -> float:
    """Count the hours since a time; 0 if the time is not known."""
    return time_s and max(0.1, round((time.time() - time_s) / 3600, 1))


def _last_print(job: JsonObject, starts: list["Start"]) -> JsonObject:
    """Describe a print: its status, how long ago it ended, its time and filament. If it failed, also the cause:
    the first error of the start in which it ran, which need not be the last start."""
    ended = number_field(job, "end_time") or 0
    status = text_field(job, "status")
    answer = filled(
        file=text_field(job, "filename"), status=status, ended_hours_ago=_hours_since(ended)
    )
    answer["seconds"] = round(number_field(job, "print_duration") or 0)
    answer["filament_m"] = round((number_field(job, "filament_used") or 0) / 1000, 2)
    errors = []
    for start in starts:
        if start.began <= ended:
            errors = start.errors
    # Moonraker's words for the ends that ask for no cause.
    if status not in ("completed", "in_progress", "cancelled") and errors:
        answer["cause"] = _error_entry(errors[0])
    return answer


def _error_entry(error: "LoggedError") -> JsonObject:
    return {
        "line": cut_between_words(error.line, 160),
        "count": error.times,
        **messages.explanation(error.message),
    }


def _connections(start: "Start") -> JsonObject:
    """Read the connections and the host's load from the last Stats line."""
    # Klipper's line has some hundreds of bytes for each board.
    stats = start.stats[:4000].decode("utf-8", "replace")
    link: JsonObject = {}
    boards = re.finditer(
        r" (\S+): (?:\w+=\S+ )*?bytes_read=(?P<received>\d{1,18})"
        r" bytes_retransmit=(?P<retransmitted>\d{1,18}) bytes_invalid=(?P<invalid>\d{1,18})",
        stats,
    )
    for board in boards:
        link[board[1]] = {name: int(count) for name, count in board.groupdict().items()}
    if host := re.search(r"\bsysload=(\d+\.\d+) .*?\bmemavail=(\d{1,18})", stats):
        link |= {"load": float(host[1]), "memory_free_mb": round(int(host[2]) / 1024)}
    return link


def _config_report(start: "Start") -> tuple[JsonObject, list[JsonObject]]:
    """Report the errors in the configuration if Klipper refused it, else what an update would break; also the
    errors that the page draws.

    The log has the configuration with what SAVE_CONFIG wrote in its place: there Klipper takes a
    position_endstop that it refuses elsewhere.
    """
    if start.in_config or not start.config:
        return {}, []
    config = printer_cfg.from_text("\n".join(start.config))
    report: JsonObject = {"sections": len(config.sections)}
    errors = []
    with suppress(ToolError):  # without the documentation nothing is judged
        errors = checking.checker().errors(config)
    if not start.refused:
        gone = [error for error in errors if " is gone, " in error.message]
        return report | filled(an_update_breaks=check_config.mistake_lines(gone, placed=False)), []
    if errors := [error for error in errors if error.option != "position_endstop"]:
        report["errors"] = check_config.mistake_lines(errors, placed=False)
        if version_age(start.version):
            report["judged_by"] = f"today's documentation, which may be newer than {start.version}"
    return report, printer_page.drawn_findings(config, errors)


class LoggedError(NamedTuple):
    """A message in the log: its meaning, its last line, and its count."""

    message: messages.Message
    line: str
    times: int


@dataclass
class Start:
    """One start of Klipper: everything up to the next one. `began` in seconds since 1970, `clock` since the
    boot; `config` is whole unless `in_config`; `crash` is the first line of a traceback, `frame` the place in
    it that was read last."""

    when: str = ""
    began: float = 0.0
    clock: float = 0.0
    version: str = ""
    errors_by_meaning: dict[str, LoggedError] = field(default_factory=dict)
    config: list[str] = field(default_factory=list)
    in_config: bool = False
    crash: str = ""
    frame: str = ""
    stats: bytes = b""
    state: str = ""
    refused: bool = False

    @property
    def ran_s(self) -> int:
        """Seconds from the start to the last Stats line."""
        uptime = re.match(rb"Stats (\d{1,12}(?:\.\d{1,12})?):", self.stats)
        ran_s = float(uptime[1]) - self.clock if uptime and self.clock else 0
        return max(0, round(ran_s))

    @property
    def errors(self) -> list[LoggedError]:
        """Its messages: first the one that Klipper stopped with, known or not, then the last ones."""
        newest = list(self.errors_by_meaning.values())[::-1]
        if self.state not in ("", MCU_SHUTDOWN, *[error.line for error in newest]):
            newest.append(LoggedError(UNKNOWN_MESSAGE, self.state, 1))
        return sorted(newest, key=lambda error: error.line != self.state)

    @property
    def failure(self) -> str:
        """Message that it ended with, "" if it did not end in an error."""
        never_ran = self.refused or not self.stats
        line = self.errors[0].line if self.errors_by_meaning and never_ran else ""
        return cut_between_words(self.state or line, 120)

    def read(self, line: str) -> None:
        """Read a line of the log."""
        if line == "===== Config file =====":
            self.config, self.in_config = [], True
        elif line == "=======================":
            self.in_config = False
        elif self.in_config and len(self.config) < 50_000:  # no printer has a tenth of these lines
            self.config.append(line)
        elif line == "Config error":  # Klipper refuses it (klippy/klippy.py)
            self.refused = True
        elif line.startswith(("Unhandled exception during", "Internal error on command")):
            self.crash, self.frame = line, ""
        elif frame := FRAME.match(line):
            self.frame = f" ({frame[1]}:{frame[2]})"
        elif self.crash and RAISED.match(line):
            raised = f"{self.crash}: {line}{self.frame}"
            self.crash = ""
            self.state = self.state or raised
            self.count_message(raised)
        elif MESSAGE_LINE.match(line):
            self.count_message(line)

    def count_message(self, line: str) -> None:
        """Count the message of a line and move it to the end of `errors_by_meaning`, unless it only follows
        from another; the line may say why everything stopped."""
        if line.startswith("Transition to shutdown state: "):
            self.state = self.state or one_line(line.partition(": ")[2])
        elif self.state and line.endswith("Command request"):
            return  # from a board that was stopped by another error, or by M112
        elif self.state == MCU_SHUTDOWN and "' shutdown: " in line:
            self.state = line
        if message := message_in_line(LONG_NUMBER.sub("0", line)):
            before = self.errors_by_meaning.pop(message.means, None)
            times = before.times + 1 if before else 1
            # People do not type the prefixes of the log: `Transition to shutdown state: `, `pins.error: `.
            typed = re.sub(r"^(?:Transition to shutdown state|(?:\w+\.)*\w*[Ee]rror): ", "", line)
            self.errors_by_meaning[message.means] = LoggedError(message, typed, times)


# A log has few different lines, long numbers aside.
message_in_line = lru_cache(1000)(messages.message_in_line)


def _starts(logs: list[KlippyLog]) -> list[Start]:
    """Read the starts in the newest log and, if that has none, in up to two before it; the oldest first.

    Klipper begins a new log each day. Raises ToolError if there is no log.
    """
    starts = _starts_in(logs[-1:])
    with suppress(ToolError):  # an older log may be gone, or not come in time
        for count in (2, 3):
            if len(starts) < 2 and count <= len(logs):
                starts = _starts_in(logs[-count:])
    if len(starts) > 1:
        return starts[1:]
    return [start for start in starts if start.errors_by_meaning or start.stats or start.config]


def _starts_in(logs: list[KlippyLog]) -> list[Start]:
    """Read the starts in some logs; the first one has the lines before the first start."""
    start = Start()
    starts = [start]
    # The version that the next start will have.
    version = ""
    for line in chain.from_iterable(log.lines() for log in logs):
        if line.startswith(b"["):
            line = MAKERS_LINE.sub(b"", line)
        if line.startswith(b"Stats "):  # most lines
            start.stats = line
            continue
        checkpoint()
        text = line[:600].decode("utf-8", "replace").rstrip()
        if match := STARTED.match(text):
            when, began, clock = match.groups()
            start = Start(when, float(began), float(clock), version)
            starts.append(start)
        elif match := VERSION_LINE.match(text):
            version = match[1]
            start.version = start.version or version
        else:
            start.read(text)
    return starts
