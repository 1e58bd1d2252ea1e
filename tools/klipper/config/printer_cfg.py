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

from ..printer_data import read_file
from ..search.spelling import nearest

# The header of the lines that SAVE_CONFIG wrote (AUTOSAVE_HEADER in klippy/configfile.py).
SAVED_BLOCK = r"\n(#\*# <-{22} SAVE_CONFIG -{22}>)\n#\*# DO NOT EDIT THIS BLOCK OR BELOW\. The contents are auto-generated\.\n#\*#\n\s*"
# The lines that make Klipper drop the block: a marked one above it, an unmarked one or another header in it.
STRAY_LINE = re.compile(r"(?m)^(#\*# .*)")
UNMARKED_LINE = re.compile(r"(?m)^(?:(?!#\*#(?: |$))\s*|(?=#\*# <--))(\S.*)")
UNPARSED = "Unable to parse the line: '{}' is neither 'option: value' nor a section"
# Klipper takes the name of a header, and the pattern of an include, up to the last bracket of the line.
INCLUDE = "include "
HEADER = re.compile(r"\[(.+)\]")
# The beginnings of names of sections that only calibrations write, wherever a person has moved them.
PROFILE_PREFIXES = ("bed_mesh ", "skew_correction ")
# The comment of a line: from a `#`, or a `;` that begins it or follows a blank.
COMMENT = re.compile(r"#|(?<!\S);")
SETTING_LINE = re.compile(r"([^:=]*)[:=](.*)")
# The parts of a path from the first pattern on: a pattern may match no file.
MAGIC_PARTS = re.compile(r"/[^/]*[*?\[].*")
# Lines that are read, in included files too: no printer has a tenth of them.
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
        words = self.name.split()
        self.kind = "".join(words[:1])
        self.label = " ".join(words[1:])

    def __bool__(self) -> bool:
        """True for a section without options, too."""
        return True

    def finding(
        self, option: str, message: str, level: str = ERROR, nearest: str = ""
    ) -> "Finding":
        """A finding about an option; it stands at the section if that has no such option."""
        place = self.get(option) or self
        return Finding(place.line, place.file, self.name, option, level, message, nearest)

    def add(self, setting: Setting) -> None:
        """Add a setting: the last one of an option holds, a saved one only if there is no other."""
        self.settings.append(setting)
        if not setting.saved or self.get(setting.name, setting).saved:
            self[setting.name] = setting

    def value(self, option: str) -> str:
        """An option's value; "" if it is not there."""
        return self[option].value if option in self else ""

    def words(self, option: str) -> list[str]:
        """A list with commas as its words."""
        # What stands between two commas, without the blanks around it.
        return re.findall(r"[^\s,](?:[^,]*[^\s,])?", self.value(option))

    def numbers(self, option: str) -> list[float]:
        """A list with commas as numbers; empty if something else stands there."""
        try:
            return [float(word) for word in self.words(option)]
        except ValueError:
            return []

    def number(self, option: str, default: float = math.nan) -> float:
        """An option's number; the default if it is missing, NaN if it is not a number: no comparison with NaN
        is true."""
        try:
            return float(self.value(option) or default)
        except ValueError:
            return math.nan


class Finding(NamedTuple):
    """A mistake or a remark: its place, level and message, and a name that may have been meant. `also`:
    further lines with the same."""

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


# The files that match an include, each with its contents; None for one that cannot be read. They are looked
# for by the pattern beside the including file, and by the pattern alone.
IncludedFiles = Iterable[tuple[str, bytes | None]]
FindIncludes = Callable[[str, str], IncludedFiles]


@dataclass
class PrinterConfig:
    """The contents of a printer.cfg and of the files it includes.

    - `find_included` gives the files that an include means;
    - `files`: the names from the first file to the one that is being read, each of which includes the next;
    - `problems`: the lines that Klipper cannot read;
    - `missing`: the includes that were not sent or read, each with the line and file that name it first;
    - `absent`: the includes that do not exist;
    - `size_bytes`, `lines`: the amount that was read;
    - `has_saved_block`: SAVE_CONFIG has written a block into it.
    """

    find_included: FindIncludes
    files: list[str] = field(default_factory=list)
    sections: dict[str, ConfigSection] = field(default_factory=dict)
    problems: list[Finding] = field(default_factory=list)
    missing: dict[str, tuple[int, str]] = field(default_factory=dict)
    absent: list[str] = field(default_factory=list)
    size_bytes: int = 0
    lines: int = 0
    has_saved_block: bool = False

    @property
    def options(self) -> int:
        """The number of options of all sections together."""
        return sum(len(section.settings) for section in self.sections.values())

    # Klipper's rules, which the reader follows:
    # - A line that is indented more than its option goes on with its value, even if it looks like an option.
    # - Sections of one name are one section, whichever files they stand in; the last value of an option
    #   holds.
    # - An include is read where it stands; what follows it has no section until the next `[…]`.
    # - The lines after SAVE_CONFIG's header begin with `#*#`; they count where the file itself has nothing.
    # A line that Klipper cannot read is a problem, and the reader goes on behind it.
    def read(self, file: str, data: bytes) -> None:
        """Read a file, by its name and bytes, and what it includes."""
        self.files.append(file)
        # The section of the next option: without a name before the first header and after an include, None
        # if the lines up to the next header are skipped.
        section: ConfigSection | None = ConfigSection("")
        indent = math.inf  # of the last option
        for number, line, is_saved in self._lines(data):
            stripped = line.lstrip()
            # An indented line belongs to the option above it.
            depth = len(line) - len(stripped)
            if section and depth > indent:
                section.settings[-1].lines.append(stripped)
                continue
            indent = math.inf
            header = HEADER.match(stripped)
            if header and not depth and header[1].startswith(INCLUDE):
                self._include(header[1].removeprefix(INCLUDE).strip(), number)
                section = ConfigSection("")
            elif header:
                name = header[1][:LONGEST_NAME]
                saved = is_saved or name.startswith(PROFILE_PREFIXES)
                new_section = ConfigSection(name, number, file, saved)
                section = self.sections.setdefault(name, new_section)
            elif section:
                match = SETTING_LINE.match(stripped)
                name, value = match.groups() if match else ("", "")
                name = name.rstrip().lower()[:LONGEST_NAME]
                problem = _problem(section, name, stripped)
                if problem:
                    self.add_problem(number, problem.format(stripped[:60]), section.name)
                    if problem != UNPARSED:
                        section = None
                else:
                    saved = is_saved or section.saved
                    section.add(Setting(name, [value.strip()], number, file, saved))
                    indent = depth
        self.files.pop()

    def _lines(self, data: bytes) -> Iterator[tuple[int, str, bool]]:
        """Yield the lines of a file without comments: number, line, whether SAVE_CONFIG wrote it."""
        self.size_bytes += len(data)
        text = self._decoded(data)
        own_lines = self._count_own_lines(text)
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

    def _count_own_lines(self, text: str) -> int:
        """Count the lines before those that SAVE_CONFIG wrote: all lines if its block does not hold. It holds
        in the file that Klipper starts with, unless a line is out of place."""
        block = re.search(SAVED_BLOCK, text)
        size = len(text)
        begin, end = block.span() if block else (size, size)
        if len(self.files) == 1:
            misplaced = STRAY_LINE.search(text, 1, begin) or UNMARKED_LINE.search(text, end)
            self.has_saved_block = bool(block)
        else:  # one that was left in a copy of the first file does no harm
            misplaced = None if self.has_saved_block else block
            end = size
        if misplaced:
            line = text.count("\n", 0, misplaced.start(1)) + 1
            self.add_problem(
                line,
                f"Klipper drops everything that SAVE_CONFIG wrote because of this line: '{misplaced[1][:40]}'; "
                "its block stands once, at the end of printer.cfg itself, and each of its lines begins with "
                "'#*# '",
            )
            end = size
        lines_before = text.count("\n", 0, end)
        if end == size:
            lines_before += 1
        return lines_before

    def _decoded(self, data: bytes) -> str:
        """Decode a file; Klipper opens only UTF-8 without a byte order mark."""
        if data.startswith(BOM_UTF8):
            self.add_problem(
                1,
                "Unable to open config file: it begins with a byte order mark; save as UTF-8 without BOM",
            )
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            self.add_problem(
                line,
                f"Unable to open config file: a byte in line {line} is not UTF-8, and Klipper does not start",
            )
            text = data.decode("utf-8-sig", "replace")
        return text.replace("\r\n", "\n")

    def _include(self, pattern: str, line: int) -> None:
        """Read the files that an include means; Klipper takes those of a pattern by their names."""
        folder, slash, _ = self.files[-1].rpartition("/")
        is_there = bool(MAGIC_PARTS.search(f"/{pattern}"))
        # Klipper looks beside the file.
        for name, data in self.find_included(folder + slash + pattern, pattern):
            is_there = True
            self.lines += 1  # files that include all others come in every order
            if data is None or self.size_bytes > LARGEST_CONFIG:
                self.missing.setdefault(name, (line, self.files[-1]))
            elif name in self.files or len(self.files) > 100:
                self.add_problem(line, f"Recursive include of config file '{name[:80]}'")
            else:
                self.read(name, data)
        if not is_there:
            self.add_problem(line, f"Include file '{pattern[:80]}' does not exist")
            self.absent.append(pattern)

    def add_problem(self, line: int, message: str, section: str = "") -> None:
        """Note a line of the file that Klipper cannot read."""
        self.problems.append(Finding(line, self.files[-1], section, "", ERROR, message))


def _problem(section: ConfigSection, name: str, line: str) -> str:
    """Say why a line is not an option of this name; "" if it is one. `{}` in the message is the line."""
    if not section.name:
        return "File contains no section headers: '{}' stands in no section"
    last_option = section.settings[-1].name if section.settings else ""
    looks_like_code = not name or " " in name or line.startswith("{")
    if looks_like_code and last_option.endswith("gcode"):
        return "G-Code of a macro must be indented: '{}' is at the beginning of its line; the rest is skipped"
    return "" if name else UNPARSED


def from_text(text: str, include: Mapping[str, str] | None = None) -> PrinterConfig:
    """Read the configuration in `text`, with the texts of `include` in the place of `[include name]`."""
    contents = {}
    for name, included in (include or {}).items():
        contents[name.removeprefix("./")] = included.encode("utf-8", "replace")

    unused = set(contents)

    def find_included(path_pattern: str, pattern: str) -> IncludedFiles:
        names = fnmatch.filter(contents, path_pattern)
        names = names or fnmatch.filter(contents, pattern.removeprefix("./"))
        unused.difference_update(names)
        return [(name, contents[name]) for name in sorted(names)] or [(pattern, None)]

    config = from_bytes(text.encode("utf-8", "replace"), find_included)
    # A file may have been sent under a name that is nearly the same.
    for pattern, (line, file) in config.missing.items():
        if sent_name := nearest(re.split(r"[\\/]", pattern)[-1].lower(), unused):
            message = f"Include file '{pattern[:80]}' does not exist"
            config.problems.append(Finding(line, file, "", "", WARNING, message, sent_name))
    return config


def from_files(path: Path, inside: Path | None = None) -> PrinterConfig:
    """Read a configuration with the files it includes, except those outside the folder `inside`, whose names
    are not shown either.

    Raises ToolError: not there, not a file, too long, outside.
    """

    bytes_left = LARGEST_CONFIG  # for the included files

    def find_included(path_pattern: str, pattern: str) -> IncludedFiles:
        nonlocal bytes_left
        if inside and not _leads_into(inside, path.parent / path_pattern):
            yield pattern, None
            return
        for name in sorted(islice(glob.iglob(path_pattern, root_dir=path.parent), 1000)):
            checkpoint()
            try:
                data = read_file(path.parent / name, inside, bytes_left)
                bytes_left -= len(data)
                yield name, data
            except ToolError as error:
                # Of a link that leads out of the folder the names behind it are not shown.
                yield pattern if error.code == "OUTSIDE" else name, None

    return from_bytes(read_file(path, inside, LARGEST_CONFIG), find_included)


def _leads_into(folder: Path, pattern: Path) -> bool:
    """True if all that a pattern can match lies in a folder, links in it aside."""
    fixed = MAGIC_PARTS.split(os.path.abspath(pattern), maxsplit=1)[0] or "/"
    roots = os.path.abspath(folder), os.path.realpath(folder)
    return any(os.path.commonpath([fixed, root]) == root for root in roots)


def from_bytes(data: bytes, find_included: FindIncludes) -> PrinterConfig:
    """Read the configuration in the bytes of a file; `find_included` gives the contents of what it
    includes."""
    config = PrinterConfig(find_included)
    config.read("", data)
    return config
