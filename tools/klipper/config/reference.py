"""The configuration reference (`Config_Reference.md`) as sections with their options."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from tools.klipper.config.blocks import STEPPER, Block, Option, blocks

PAGE = "Config_Reference.md"

# What tells the sections of a series apart: `extruder2`.
LAST_NUMBER = re.compile(r"\d+$")
SERIES = re.compile(r"(?<=[a-z_])\d+(?=_|$)")
"""A number in an option of a series: `screw1_name`, `temperature2`, `faulty_region_1_min`."""

SENSOR = "sensor_type"
SENSORS = "Temperature sensors"
# A stepper of an axis: `stepper_x`, `stepper_z1`, `stepper_arm`.
AXIS_STEPPER = re.compile(r"stepper_[a-z]+\d*$")


class Reference:
    """What the page says. `blocks` are all of them in order, `headings` those of `[sections]` and of common options."""

    def __init__(self, text: str):
        self.blocks = list(blocks(text))

    @cached_property
    def kinds(self) -> dict[str, list[Block]]:
        """The blocks of each kind of section."""
        kinds: dict[str, list[Block]] = {}
        for block in self.blocks:
            if block.name:
                kinds.setdefault(block.kind, []).append(block)
        for block in self.blocks:
            if (kind := _headed(block)) and kind not in kinds:
                kinds[kind] = [block]
        return kinds

    @cached_property
    def commons(self) -> dict[str, list[Block]]:
        """The blocks of options that a heading without a `[name]` gives, by that heading in lower case."""
        commons: dict[str, list[Block]] = {}
        for block in self.blocks:
            if not block.name and not block.heading.startswith("["):
                commons.setdefault(block.heading.lower(), []).append(block)
        return commons

    def kind(self, section: str) -> str:
        """The documented kind that a section of a printer.cfg is one of, "" if there is none."""
        word = section.partition(" ")[0]
        if word in self.kinds and not (word == STEPPER and " " not in section):
            return word
        return next((kind for kind in _alike(word) if kind in self.kinds), "")

    def blocks_of(self, section: str, kinematics: str = "") -> list[Block]:
        """The blocks that describe a section: those for these kinematics, or all of them if none is."""
        blocks = self.kinds.get(self.kind(section), [])
        if AXIS_STEPPER.fullmatch(section.partition(" ")[0]):
            axes = [block for block in self.blocks if AXIS_STEPPER.fullmatch(block.kind)]
            blocks = [*blocks, *axes]  # stepper_b has what is said of stepper_a
        if kinematics and any(block.kinematics == kinematics for block in self.blocks):
            blocks = [block for block in blocks if block.kinematics in ("", kinematics)]
        return list({id(block): block for block in blocks}.values())

    def options_of(self, section: str, kinematics: str = "") -> dict[str, Option]:
        """The options of a section by their key, those it shares with the sections it refers to included."""
        options: dict[str, Option] = {}
        blocks = self.blocks_of(section, kinematics)
        own = (option for block in blocks for option in block.options)
        for option in (*own, *self._shared(blocks)):
            known = options.setdefault(option.key, option)
            if not known.default and option.default:
                options[option.key] = known._replace(default=option.default)
        return options

    def _shared(self, blocks: Iterable[Block]) -> Iterator[Option]:
        """The options that the blocks have from those they refer to."""
        return (option for block, parts in self.referred(blocks) for option in block.options if option.part in parts)

    def referred(self, blocks: Iterable[Block]) -> Iterator[tuple[Block, set[int]]]:
        """What the blocks refer to, and so on, each with the parts that count; where a sensor is named, all sensors."""
        queue = [(block, {option.part for option in block.options} | {0}) for block in blocks]
        seen = {id(block) for block, _ in queue}
        keys: set[str] = set()
        for block, parts in queue:
            own = {option.key for option in block.options if option.part in parts}
            keys |= own
            named = [other for name, part in block.refers if part in parts for other in self._named(name)]
            for other in named:
                wanted = _parts(other, None if block.open or not block.options else own)
                if wanted and id(other) not in seen:
                    seen.add(id(other))
                    queue.append((other, wanted))
                    yield other, wanted
        if SENSOR in keys and "min_temp" in keys:
            yield from ((block, _parts(block, None)) for block in self.blocks if block.group == SENSORS)

    def _named(self, name: str) -> list[Block]:
        """The blocks of a section or of common options by the name that a text calls them."""
        own = self._headed_by(name)
        kind = self.kinds.get(name, [])
        return self.commons.get(name.lower()) or (kind if any(block in own for block in kind) else own)

    def _headed_by(self, name: str) -> list[Block]:
        return [block for block in self.blocks if block.heading == f"[{name}]"]


class Options:
    """The options of a section, to be found by the name that stands in a file."""

    def __init__(self, options: Mapping[str, Option]):
        self.by_key = options
        self.names = [key for key in options if "<" not in key]
        self._series = {SERIES.sub("0", key): option for key, option in options.items() if SERIES.search(key)}
        patterns = (key.partition("<") for key in options if "<" in key)
        self._patterns = [
            (before, rest.partition(">")[2], options[before + mark + rest]) for before, mark, rest in patterns
        ]

    def find(self, name: str) -> Option | None:
        """The option that `name` is: itself, one of a series (`screw5_name`), or of a pattern (`variable_<name>`)."""
        if option := self.by_key.get(name) or self._series.get(SERIES.sub("0", name)):
            return option
        for before, after, option in self._patterns:
            if len(name) > len(before) + len(after) and name.startswith(before) and name.endswith(after):
                return option
        return None


def _alike(word: str) -> Iterator[str]:
    """What a word with a number, or an axis, may be one of: `extruder3` of `extruder1`, `stepper_x2` of `stepper_z1`."""
    if LAST_NUMBER.search(word):
        base = LAST_NUMBER.sub("", word)
        if base.startswith("stepper_"):
            yield "stepper_z1"
        yield base + "1"
    elif AXIS_STEPPER.fullmatch(word) and len(word) == len("stepper_a"):
        yield "stepper_a"


def _parts(block: Block, keys: set[str] | None) -> set[int]:
    """The parts of a block in which one of the keys stands; all of them without keys."""
    return {option.part for option in block.options if keys is None or option.key in keys}


def _headed(block: Block) -> str:
    """The kind that the heading of a block names, `bed_mesh` for `### [bed_mesh]`."""
    return block.heading[1:-1].partition(" ")[0] if block.heading.startswith("[") else ""
