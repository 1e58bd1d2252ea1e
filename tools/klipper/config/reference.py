"""The configuration reference (`Config_Reference.md`): its blocks, and its sections with their options."""

# The rules for reading the page:
# - A code block has one or several sections; each begins with `[name]` (SECTION_LINE) and becomes a
#   Block. A code block without one has the options that several kinds of sections share. In Moonraker's
#   page, whose headings name sections as `[name]`, they are options of the last one named.
# - An option is a line of its own (OPTION_LINE). The comment lines below it (PROSE) are its text; where
#   several options follow each other without text, they are a group, and the text below the last one is
#   that of all.
# - A section of two parts (SECOND_PART) becomes two blocks.
# - "See the … section" (REFERS) adds the options of another section: of its blocks those in which the
#   referring one repeats an option (a heater has the second part of [extruder]), or all, if it lists none
#   or ends in `...`.
# - [printer] and the steppers have a block for each kinematics; the value of `kinematics` chooses among
#   them.

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

REFERENCE_PAGE = "Config_Reference.md"
SENSOR = "sensor_type"
# A stepper of an axis: `stepper_x`, `stepper_z1`, `stepper_arm`; `stepper_mmu_gear` is a plugin's.
AXIS_STEPPER = re.compile(r"stepper_(?:[a-z]|arm|bed|left|right)\d*$")
# A heading that a block may belong to; `## …` are the chapters.
HEADING = re.compile(r"#{2,4} +(.*)")
# The header of a section: `[bed_mesh]`, or `#[menu some_name]` with every line commented out.
SECTION_LINE = re.compile(r"#?\[([^\]]+)\] *$")
# An option: `name:`, `#name: default`, and once `# name_x: default`; `# Word:` is prose.
OPTION_LINE = re.compile(r"(#?)(?: (?=\w*_))?([A-Za-z][\w<>]*):(?: +(.*))?$")
# A line of text: with two blanks or more of the options above, else of the block.
PROSE = re.compile(r"#(?:  +(.*)| (.*))?$")
# A reference to the options of another section: `See the "fan" section …`; one for the definition of a
# single option adds none.
REFERS = re.compile(
    r"[Ss]ee the [\"']?\[?([\w ]{1,60}?)\]?[\"']? section(?! for (?:the definition|information) (?:of|on) this)"
)
# The line that begins the second part of a block: of `[extruder]` the heater, of `[stepper]` the rail, which
# an axis has and a mere stepper has not (klippy/stepper.py).
SECOND_PART = re.compile(r"# The remaining \w+ |endstop_pin:")
# A number in an option of a series: `screw1_name`, `temperature2`, `faulty_region_1_min`.
SERIES = re.compile(r"(?<=[a-z_])\d+(?=_|$)")
# The option of `[printer]` that decides which of several blocks of a section holds.
KINEMATICS = "kinematics"
ELLIPSIS = "..."
STEPPER = "stepper"


@dataclass
class Option:
    """An option as the reference prints it.

    - `default`: the value beside it, "" if there is none;
    - `plain`: it is printed uncommented;
    - `lines`: the description of the group that it stands in;
    - `owner`: its section as `[name]`, or the heading that several have in common.
    """

    name: str
    default: str = ""
    plain: bool = False
    lines: list[str] = field(default_factory=list)
    owner: str = ""

    @property
    def key(self) -> str:
        """Its name as Klipper compares it."""
        return self.name.lower()

    @property
    def text(self) -> str:
        """Its description."""
        return " ".join(self.lines)


@dataclass(eq=False)
class Block:
    """The options under one `[name]` of the page, or, with an empty `name`, those that a heading has in
    common.

    `group` is the chapter, `kinematics` the value of that option in it or before it in the same code block.
    """

    name: str
    heading: str
    group: str
    kinematics: str = ""
    options: list[Option] = field(default_factory=list)
    # It has a `...` line: more options than are listed.
    is_open: bool = False
    # The lines of each text.
    texts: list[list[str]] = field(default_factory=lambda: [[]])

    @property
    def kind(self) -> str:
        """First word of the name, which decides what the section is."""
        return self.name.partition(" ")[0]

    @cached_property
    def refers(self) -> list[str]:
        """Sections that its texts refer to, once it is read."""
        return REFERS.findall("\n".join(map(" ".join, self.texts)))

    def take_line(self, line: str) -> None:
        """Read a line. An option's text stands below it, or below the last of its group."""
        if line.strip() in (ELLIPSIS, "#" + ELLIPSIS):
            self.is_open = True
        elif match := OPTION_LINE.match(line):
            mark, name, value = match.groups("")
            default = value.partition(" #")[0].strip().removeprefix(ELLIPSIS)
            if self.texts[-1]:
                self.texts.append([])
            if name == KINEMATICS and default and not mark:
                self.kinematics = default
            owner = f"[{self.name}]" if self.name else self.heading
            self.options.append(Option(name, default, not mark, self.texts[-1], owner))
        elif (match := PROSE.match(line)) and match[1] is not None:
            self.texts[-1].append(match[1])
        elif match:
            self.texts.append([match[2] or ""])


def blocks(text: str) -> Iterator[Block]:
    """Yield every block that has an option or a name; a diagram has neither."""
    group = heading = owner = ""
    block = None
    for line in text.splitlines():
        header = SECTION_LINE.match(line)
        if line.startswith("```") or (block and header):
            if block and (block.name or block.options):
                yield block
            if header and block:
                block = Block(header[1], heading, group, block.kinematics)
            else:
                block = None if block else Block(owner, heading, group)
        elif block:
            if SECOND_PART.match(line):
                yield block
                block = Block(block.name, heading, group, block.kinematics)
            block.take_line(line)
        elif match := HEADING.match(line):
            heading = match[1].strip()
            group = heading if line.startswith("## ") else group
            owner = heading.strip("`[]") if heading.startswith("`[") else owner


class Options(dict[str, Option]):
    """The options of a section by their keys."""

    def option_named(self, name: str) -> Option | None:
        """Find the option of a name, of a series (`screw5_name`), or of a pattern (`variable_<name>`)."""
        if name in self:
            return self[name]
        for key, option in self.items():
            pattern = SERIES.sub(r"\\d+", re.sub(r"<\w+>", ".+", key))
            if pattern != key and re.fullmatch(pattern, name):
                return option
        return None


class Reference:
    """The page as data: all `blocks` in order, and the `kinds` of sections with the blocks of each."""

    def __init__(self, text: str):
        self.blocks = list(blocks(text))
        self.kinds: dict[str, list[Block]] = {}
        for block in self.blocks:
            if block.name:
                self.kinds.setdefault(block.kind, []).append(block)

    def kind_of(self, section: str) -> str:
        """Name the kind that documents a section, "" if none does: `extruder1` for `extruder3`."""
        word = section.partition(" ")[0]
        if word in self.kinds and not (word == STEPPER and " " not in section):
            return word
        base = word.rstrip("0123456789")  # the number tells the sections of a series apart
        described = base + "1"  # `extruder3` is as `extruder1`, `stepper_x2` as `stepper_z1`
        if AXIS_STEPPER.fullmatch(word):
            described = "stepper_a" if base == word else "stepper_z1"
        return described if described in self.kinds else ""

    def blocks_named(self, name: str) -> list[Block]:
        """Find the blocks of a section or of common options by what a person or a text calls them: their
        kind, or their heading."""
        name = name.lower()
        headed = [block for block in self.blocks if block.heading.lower() in (name, f"[{name}]")]
        kind = self.kinds.get(name, [])  # a chip of [load_cell] has a heading of its own
        return kind if not headed or any(block in headed for block in kind) else headed

    def options_of(self, kind: str, kinematics: str) -> Options:
        """Options of a kind of section by their key, also those that it shares with sections it refers to. If
        the page has blocks for these kinematics, those for others do not count."""
        blocks = self.kinds.get(kind, [])
        if AXIS_STEPPER.fullmatch(kind):
            axes = [block for block in self.blocks if AXIS_STEPPER.fullmatch(block.kind)]
            blocks = [*blocks, *axes]  # stepper_b has what is said of stepper_a
        if kinematics and any(block.kinematics == kinematics for block in self.blocks):
            blocks = [block for block in blocks if block.kinematics in ("", kinematics)]
        options = Options()
        for option in self.described(blocks):
            options.setdefault(option.key, option)
        return options

    def described(self, blocks: Iterable[Block]) -> Iterator[Option]:
        """Yield the options of these blocks, of those that they refer to, and so on; where a sensor is named,
        of all sensors."""
        queue = [*blocks]
        keys = set()
        for block in queue:
            own_keys = {option.key for option in block.options}
            keys |= own_keys
            yield from block.options
            for other in chain.from_iterable(map(self.blocks_named, block.refers)):
                shared = own_keys.intersection(option.key for option in other.options)
                if other not in queue and (shared or block.is_open or not own_keys):
                    queue.append(other)
        if {SENSOR, "min_temp"} <= keys:
            for block in self.blocks:
                if block.group == "Temperature sensors":
                    yield from block.options
