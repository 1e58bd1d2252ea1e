"""The text of a printer.cfg, read as Klipper reads it (klippy/configfile.py, Python's configparser)."""

import fnmatch
import glob
import math
import os
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from tools.toolkit import ToolError, checkpoint

from ..printer_data import content

# The header of the lines that SAVE_CONFIG wrote (AUTOSAVE_HEADER in klippy/configfile.py).
BLOCK = r"\n(#\*# <-{22} SAVE_CONFIG -{22}>)\n#\*# DO NOT EDIT THIS BLOCK OR BELOW\. The contents are auto-generated\.\n#\*#\n\s*"
# The lines that make Klipper drop the block: a marked one above it, an unmarked one or another header in it.
STRAY = re.compile(r"(?m)^(#\*# .*)")
ODD = re.compile(r"(?m)^(?:(?!#\*#(?: |$))\s*|(?=#\*# <--))(\S.*)")
UNPARSED = "Unable to parse the line: '{}' is neither 'option: value' nor a section"
# Klipper takes the name of a header, and the pattern of an include, up to the last bracket of the line.
INCLUDE = "include "
HEADER = re.compile(r"\[(.+)\]")
# The beginnings of names of sections that only calibrations write, wherever a person has moved them.
PROFILES = ("bed_mesh ", "skew_correction ")
# The comment of a line: from a `#`, or a `;` that begins it or follows a blank.
COMMENT = re.compile(r"#|(?<!\S);")
OPTION_LINE = re.compile(r"([^:=]*)[:=](.*)")
# The parts of a path from the first pattern on: a pattern may match no file.
MAGIC_PARTS = re.compile(r"/[^/]*[*?\[].*")
# Lines that are read, in included files too: no printer has a tenth of it.
MOST_LINES = 50_000
# Characters of a section's or an option's name; none that Klipper has is half as long.
LONGEST_NAME = 100
# Characters of a configuration, and bytes of its files; those of an included file count each time.
LARGEST_CONFIG = 4_000_000
ERROR, WARNING, HINT = LEVELS = ("error", "warning", "hint")


@dataclass
class Setting:
    """An option as it stands in the file: `name` in lower case, and the lines of its value."""

    name: str
    lines: list[str]
    line: int
    file: str
    saved: bool

    @cached_property
    def value(self) -> str:
        """Its lines joined by line ends, once the file is read."""
        return "\n".join(self.lines).strip()


@dataclass(eq=False)
class ConfigSection(dict[str, Setting]):
    """The settings of a section that hold, by their options; `settings` has those of all places where the
    section stands. `saved`: it stands only in what SAVE_CONFIG wrote. `kind` is the first word of the name,
    `label` what follows it, "" if nothing does."""

    name: str
    line: int = 0
    file: str = ""
    saved: bool = False
    settings: list[Setting] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.kind, _, self.label = self.name.partition(" ")

    def __bool__(self) -> bool:
        """True for a section without options, too."""
        return True

    def add(self, setting: Setting) -> None:
        """Add a setting: the last one of an option holds, a saved one only if there is no other."""
        self.settings.append(setting)
        if not setting.saved or self.get(setting.name, setting).saved:
            self[setting.name] = setting

    def value(self, option: str) -> str:
        """The value of an option; "" if it is not there."""
        return self[option].value if option in self else ""

    def words(self, option: str) -> list[str]:
        """The words of a list with commas."""
        # What stands between two commas, without the blanks around it.
        return re.findall(r"[^\s,](?:[^,]*[^\s,])?", self.value(option))

    def numbers(self, option: str) -> list[float]:
        """The numbers of a list with commas; none if something else stands there."""
        try:
            return [float(word) for word in self.words(option)]
        except ValueError:
            return []

    def number(self, option: str, default: float = math.nan) -> float:
        """The number of an option; the default if it is missing, NaN if it is not a number: no comparison
        with NaN is true."""
        try:
            return float(self.value(option) or default)
        except ValueError:
            return math.nan


class Finding(NamedTuple):
    """A finding: its place, level and message, and a name that may have been meant. `also`: lines with the
    same."""

    line: int
    file: str
    section: str
    option: str
    level: str
    message: str
    nearest: str = ""
    also: tuple[int, ...] = ()


# The findings of a check, in the order in which it makes them.
Findings = Iterator[Finding]


# The files that an include means, each with its contents: of its pattern beside the file that has it, or of
# the bare pattern. None for a file that cannot be read.
IncludedFiles = Iterable[tuple[str, bytes | None]]
FindIncludes = Callable[[str, str], IncludedFiles]


@dataclass
class PrinterConfig:
    """The contents of a printer.cfg and of the files it includes.

    `problems` are lines that Klipper cannot read, `missing` are includes that were not sent or read, `absent`
    includes that do not exist, `size_bytes` and `lines` are what was read. `has_saved_block`: SAVE_CONFIG
    has written a block into it. `find` gives the files that an include means; `files` are the names from the
    first file to the one that is being read, each of which includes the next.
    """

    find: FindIncludes
    files: list[str] = field(default_factory=list)
    sections: dict[str, ConfigSection] = field(default_factory=dict)
    problems: list[Finding] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    size_bytes: int = 0
    lines: int = 0
    has_saved_block: bool = False

    @property
    def options(self) -> int:
        """The number of options in all sections."""
        return sum(len(section.settings) for section in self.sections.values())

    # Klipper's rules, which the reader follows:
    # - A line that is indented more than its option goes on with its value, even if it looks like an option.
    # - Sections of one name are one section, whichever files they stand in; the last value of an option
    #   holds.
    # - An include is read where it stands; what follows it has no section until the next `[…]`.
    # - The lines after SAVE_CONFIG's header begin with `#*#`; they count where the file itself has nothing.
    # A line that Klipper cannot read is a problem, and the reader goes on behind it.
    def read(self, file: str, data: bytes) -> None:
        """Read a file and what it includes: its name and its bytes."""
        self.files.append(file)
        # The section of the next option: without a name before the first header and after an include, None
        # if the lines up to the next header are skipped.
        section: ConfigSection | None = ConfigSection("")
        indent = math.inf  # of the last option
        for number, line, is_saved in self._lines(data):
            text = line.lstrip()
            # An indented line belongs to the option above it.
            depth = len(line) - len(text)
            if section and depth > indent:
                section.settings[-1].lines.append(text)
                continue
            indent = math.inf
            header = HEADER.match(text)
            if header and not depth and header[1].startswith(INCLUDE):
                self._include(header[1].removeprefix(INCLUDE).strip(), number)
                section = ConfigSection("")
            elif header:
                name = header[1][:LONGEST_NAME]
                begun = ConfigSection(name, number, file, is_saved or name.startswith(PROFILES))
                section = self.sections.setdefault(name, begun)
            elif section:
                match = OPTION_LINE.match(text)
                name, value = match.groups() if match else ("", "")
                name = name.rstrip().lower()[:LONGEST_NAME]
                problem = _problem(section, name, text)
                if problem:
                    self.refuse(number, problem.format(text[:60]), section.name)
                    if problem != UNPARSED:
                        section = None
                else:
                    saved = is_saved or section.saved
                    section.add(Setting(name, [value.strip()], number, file, saved))
                    indent = depth
        self.files.pop()

    def _lines(self, data: bytes) -> Iterator[tuple[int, str, bool]]:
        """The lines of a file without comments: the number, the line, whether SAVE_CONFIG wrote it."""
        self.size_bytes += len(data)
        text = self._decoded(data)
        own_lines = self._own_lines(text)
        for number, line in enumerate(text.split("\n"), 1):
            is_saved = number > own_lines
            line = line[4:] if is_saved else line
            line = COMMENT.split(line, 1)[0].rstrip()
            if line:
                checkpoint()
                self.lines += 1
                if self.lines > MOST_LINES:
                    return
                yield number, line, is_saved

    def _own_lines(self, text: str) -> int:
        """The number of lines before those that SAVE_CONFIG wrote; more than there are if nothing of its
        block counts. It counts in the file that Klipper starts with, if nothing is wrong with it."""
        block = re.search(BLOCK, text)
        size = len(text)
        begin, end = block.span() if block else (size, size)
        if len(self.files) == 1:
            wrong = STRAY.search(text, 1, begin) or ODD.search(text, end)
            self.has_saved_block = bool(block)
        else:  # one that was left in a copy of the first file does no harm
            wrong = None if self.has_saved_block else block
            end = size
        if wrong:
            broken = text.count("\n", 0, wrong.start(1)) + 1
            self.refuse(
                broken,
                f"Klipper drops everything that SAVE_CONFIG wrote because of this line: '{wrong[1][:40]}'; "
                "its block stands once, at the end of printer.cfg itself, and each of its lines begins with "
                "'#*# '",
            )
            end = size
        lines_before = text.count("\n", 0, end)
        if end == size:
            lines_before += 1
        return lines_before

    def _decoded(self, data: bytes) -> str:
        """The text of a file; Klipper opens only UTF-8 without a byte order mark."""
        if data.startswith(BOM_UTF8):
            self.refuse(
                1,
                "Unable to open config file: it begins with a byte order mark; save as UTF-8 without BOM",
            )
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            bad = data.count(b"\n", 0, error.start) + 1
            self.refuse(
                bad,
                f"Unable to open config file: a byte in line {bad} is not UTF-8, and Klipper does not start",
            )
            text = data.decode("utf-8-sig", "replace")
        return text.replace("\r\n", "\n")

    def _include(self, pattern: str, line: int) -> None:
        """Read the files that an include means; Klipper takes those of a pattern by their names."""
        folder, slash, _ = self.files[-1].rpartition("/")
        is_there = bool(MAGIC_PARTS.search(f"/{pattern}"))
        # Klipper looks beside the file.
        for name, data in self.find(folder + slash + pattern, pattern):
            is_there = True
            self.lines += 1  # files that include all others come in every order
            if data is None or self.size_bytes > LARGEST_CONFIG:
                if name not in self.missing:
                    self.missing.append(name)
            elif name in self.files or len(self.files) > 100:
                self.refuse(line, f"Recursive include of config file '{name[:80]}'")
            else:
                self.read(name, data)
        if not is_there:
            self.refuse(line, f"Include file '{pattern[:80]}' does not exist")
            self.absent.append(pattern)

    def refuse(self, line: int, message: str, section: str = "") -> None:
        """Note a line of the file that Klipper cannot read."""
        self.problems.append(Finding(line, self.files[-1], section, "", ERROR, message))


def _problem(section: ConfigSection, name: str, text: str) -> str:
    """The problem of a line that should be an option of this name; "" if it is one."""
    if not section.name:
        return "File contains no section headers: '{}' stands in no section"
    before = section.settings[-1].name if section.settings else ""
    looks_like_code = not name or " " in name or text.startswith("{")
    if looks_like_code and before.endswith("gcode"):
        return "G-Code of a macro must be indented: '{}' is at the beginning of its line; the rest is skipped"
    return "" if name else UNPARSED


def from_text(text: str, include: Mapping[str, str] | None = None) -> PrinterConfig:
    """The configuration in `text`, with the texts of `include` in the place of `[include name]`."""
    given = {
        name.removeprefix("./"): text.encode("utf-8", "replace")
        for name, text in (include or {}).items()
    }

    def find(path_pattern: str, pattern: str) -> IncludedFiles:
        names = fnmatch.filter(given, path_pattern)
        if not names:
            names = fnmatch.filter(given, pattern.removeprefix("./"))
        return [(name, given[name]) for name in sorted(names)] or [(pattern, None)]

    return from_bytes(text.encode("utf-8", "replace"), find)


def from_files(path: Path, inside: Path | None = None) -> PrinterConfig:
    """A configuration with the files it includes, except those outside the folder `inside`, whose names are
    not shown either.

    Raises ToolError: not there, not a file, too long, outside.
    """

    room = LARGEST_CONFIG  # bytes that includes may still bring

    def find(path_pattern: str, pattern: str) -> IncludedFiles:
        nonlocal room
        if inside and not _leads_into(inside, path.parent / path_pattern):
            yield pattern, None
            return
        for name in sorted(islice(glob.iglob(path_pattern, root_dir=path.parent), 1000)):
            checkpoint()
            try:
                data = content(path.parent / name, inside, room)
                room -= len(data)
                yield name, data
            except ToolError as error:
                # A link that leads out: the names there are nobody's business.
                yield pattern if error.code == "OUTSIDE" else name, None

    return from_bytes(content(path, inside, LARGEST_CONFIG), find)


def _leads_into(folder: Path, pattern: Path) -> bool:
    """True if all that a pattern can match lies in a folder, links in it aside."""
    fixed = MAGIC_PARTS.split(os.path.abspath(pattern), maxsplit=1)[0] or "/"
    roots = os.path.abspath(folder), os.path.realpath(folder)
    return any(os.path.commonpath([fixed, root]) == root for root in roots)


def from_bytes(data: bytes, find: FindIncludes) -> PrinterConfig:
    """The configuration in the bytes of a file; `find` gives the contents of what it includes."""
    config = PrinterConfig(find)
    config.read("", data)
    return config
