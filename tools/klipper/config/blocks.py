"""The page of the configuration reference, read block by block."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

# A heading that a block may belong to; `## …` are the chapters.
HEADING = re.compile(r"#{2,4} +(.*)")
HEADER = re.compile(r"#?\[([^\]]+)\] *$")
"""A section begins: `[bed_mesh]`, and `#[menu some_name]`, whose every line is commented out."""

OPTION = re.compile(r"(#?) ?([A-Za-z][\w<>]*):(?: +(.*))?$")
"""An option: `name:`, `#name: default`, and once `# name: default`."""

PROSE = re.compile(r"#(?:  +(.*)| (.*))?$")
"""Text: of the options above with two blanks or more, else of the block."""

REFERS = re.compile(
    r"[Ss]ee the [\"']?\[?([\w ]{1,60}?)\]?[\"']? section(?! for (?:the definition|information) (?:of|on) this)"
)
"""Options are those of another section: `See the "fan" section …`, but for a single option it says all there is."""

REMAINING = re.compile(r"The remaining \w+ ")
"""A comment that divides the options of a block into parts (`extruder`: stepper, then heater)."""

RAIL = "endstop_pin"
"""Begins the second part of `[stepper]`: an axis has all of them, a mere stepper the first (klippy/stepper.py)."""

MUST = re.compile(r"(?:must be (?:provided|specified)(?: and must be set to [\w.]+)?|is required)\.")
"""A demand without a condition after it, unlike "must be provided for PID heaters"."""

SPARES = re.compile(r"\b(?:default|if|when|unless|either|optional|must be|recommended)\b", re.IGNORECASE)
"""What a text has that does without the option in some case."""

KINEMATICS = "kinematics"
"""The option of `[printer]` that decides which of several blocks of a section holds."""

ELLIPSIS = "..."
STEPPER = "stepper"
LONGEST_LINE = 1000


class Option(NamedTuple):
    """An option as the reference prints it: its `default` ("" where none stands beside it), whether it stands there
    uncommented, the text that describes it, and the number of the part of its block."""

    name: str
    default: str
    plain: bool
    text: str
    part: int

    @property
    def key(self) -> str:
        """As Klipper compares it."""
        return self.name.lower()

    @property
    def required(self) -> bool:
        """Whether the reference asks for it without any condition: uncommented, with no value beside it."""
        if not self.plain or "<" in self.name or not self.text:
            return False
        return bool(MUST.search(self.text)) or not (self.default or SPARES.search(self.text))

    @property
    def deprecated(self) -> bool:
        """Whether its text says so."""
        return "deprecated" in self.text


@dataclass
class Block:
    """The options under one `[name]` of the page, or, with an empty `name`, those that a heading has in common.

    `group` is the chapter, `kinematics` the value of that option in it or before it in the same code block.
    """

    name: str
    heading: str
    group: str
    options: list[Option] = field(default_factory=list)
    kinematics: str = ""
    open: bool = False
    """It has a `...` line: more options than are listed."""
    refers: list[tuple[str, int]] = field(default_factory=list)
    """The sections that its texts refer to, each with the part in which it does."""

    @property
    def kind(self) -> str:
        """The first word of the name, which decides what the section is."""
        return self.name.partition(" ")[0]


def blocks(text: str) -> Iterator[Block]:
    """Every block that has an option or a name; a diagram has neither."""
    group = heading = ""
    code: list[str] | None = None
    for line in text.splitlines():
        line = line[:LONGEST_LINE]
        if line.startswith("```"):
            if code:
                yield from _code(code, heading, group)
            code = None if code is not None else []
        elif code is not None:
            code.append(line)
        elif match := HEADING.match(line):
            heading = match[1].strip()
            group = heading if line.startswith("## ") else group


def _code(lines: list[str], heading: str, group: str) -> Iterator[Block]:
    """The blocks of one code block of the page."""
    block = Block("", heading, group)
    reader = _Reader(block)
    for line in lines:
        if match := HEADER.match(line):
            reader.close()
            if block.name or block.options:
                yield block
            block = Block(match[1], heading, group, kinematics=block.kinematics)
            reader = _Reader(block)
        else:
            reader.read(line)
    reader.close()
    if block.name or block.options:
        yield block


class _Reader:
    """Reads the lines of a block into it. The text of an option stands below it, or below the last of a group."""

    def __init__(self, block: Block):
        self.block = block
        self.pending: list[Option] = []
        self.text: list[str] = []
        self.part = 0

    def read(self, line: str) -> None:
        stripped = line.strip()
        if stripped in (ELLIPSIS, "#" + ELLIPSIS):
            self.block.open = True
        elif (match := OPTION.match(line)) and (not line.startswith("# ") or "_" in match[2]):
            self._option(match)
        elif match := PROSE.match(line):
            self._prose(match)

    def _option(self, match: re.Match[str]) -> None:
        if self.text:
            self.close()
        default = (match[3] or "").partition(" #")[0].strip()
        default = "" if default == ELLIPSIS else default
        if match[2] == RAIL and self.block.heading == f"[{STEPPER}]":
            self.part += 1
        if not match[1] and match[2] == KINEMATICS and default:
            self.block.kinematics = default
        self.pending.append(Option(match[2], default, not match[1], "", self.part))

    def _prose(self, match: re.Match[str]) -> None:
        if match[1] is not None:
            self.text.append(match[1])
            return
        self.close()
        if match[2] and REMAINING.match(match[2]):
            self.part += 1
        if match[2]:
            self._refer(match[2])

    def close(self) -> None:
        """The options read so far have their text."""
        text = " ".join(self.text)
        self.block.options += [option._replace(text=text) for option in self.pending]
        self._refer(text)
        self.pending, self.text = [], []

    def _refer(self, text: str) -> None:
        self.block.refers += [(name.strip(), self.part) for name in REFERS.findall(text)]
