"""Configurations made from every section of the documentation, and the same with one thing changed.

    python tests/klipper/config/single_changes.py [DOCS]      how many changes a check finds, by kind

A change is found if a finding of the wanted level stands at the line that was changed.
"""

import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PROJECT = Path(__file__).resolve().parents[3]
if str(PROJECT) not in sys.path:
    sys.path.insert(0, str(PROJECT))

from tools.klipper.config import changes, printer_cfg, values  # noqa: E402
from tools.klipper.config.blocks import Block, Option  # noqa: E402
from tools.klipper.config.checking import Checker  # noqa: E402
from tools.klipper.config.reference import Options, Reference  # noqa: E402

# The part of a name that each user chooses: `variable_<name>`.
PLACEHOLDER = re.compile(r"<\w+>")
LETTERS = "abcdefghijklmnopqrstuvwxyz"
WRONG = {"boolean": "maybe", "number": "fast", "numbers": "10, left"}
LEVEL = {
    "misspelt option": "error",
    "misspelt section": "hint",
    "option of another section": "error",
    "missing option": "error",
    "removed option": "error",
    "wrong kind of value": "warning",
    "doubled option": "warning",
}
GONE = {
    "printer": ["max_accel_to_decel", "max_stepper_error", "buffer_time_low"],
    "stepper_x": ["step_distance"],
    "extruder": ["step_distance", "shared_heater", "pid_integral_max", "activate_gcode"],
    "bed_mesh": ["relative_reference_index", "min_point", "max_point", "bed_radius", "bed_shape"],
    "temperature_fan my_temp_fan": ["pid_integral_max"],
    "pca9632 my_pca9632": ["scl_pin", "sda_pin"],
    "output_pin my_pin": ["static_value", "maximum_mcu_duration"],
    "neopixel my_neopixel": ["color_order_grb"],
    "servo my_servo": ["enable"],
    "gcode_macro my_cmd": ["default_parameter_speed"],
    "endstop_phase stepper_z": ["endstop_phase"],
    "mcu": ["pin_map"],
    "firmware_retraction": ["z_hop"],
}
"""Options that the page on changes calls gone, by sections that had them."""


class Change(NamedTuple):
    """A changed configuration: the kind of the change, the text, the line that was changed, and what stood there."""

    kind: str
    text: str
    line: int
    before: str


def sections(reference: Reference) -> list[Block]:
    """The blocks that have a name and options of their own."""
    return [block for block in reference.blocks if block.name and block.options and block.kind != "include"]


def lines(block: Block) -> list[str]:
    """A block as a configuration: each option once, with its default or some value of its kind."""
    written = [f"[{block.name}]"]
    seen = set()
    for option in block.options:
        if option.key not in seen and not option.deprecated:
            seen.add(option.key)
            written.append(f"{PLACEHOLDER.sub('mine', option.name)}: {value(option)}")
    head = ["[printer]", f"kinematics: {block.kinematics}"] if block.kinematics and block.kind != "printer" else []
    return [*head, *written]


def value(option: Option) -> str:
    """The default, or something that a pin, a number or a name may be."""
    return option.default or {"boolean": "True", "number": "5", "numbers": "5, 5"}.get(kind(option), "some_value")


def kind(option: Option) -> str:
    return values.kind(option.default, option.text)


def changed(reference: Reference, count: int, seed: int = 14) -> Iterator[Change]:
    """So many changes, as many of each kind."""
    chance = random.Random(seed)
    kinds = list(LEVEL)
    blocks = sections(reference)
    made = 0
    while made < count:
        change = one(chance, reference, kinds[made % len(kinds)], chance.choice(blocks))
        if change:
            made += 1
            yield change


def one(chance: random.Random, reference: Reference, what: str, block: Block) -> Change | None:
    """One change of a kind in a block, or None if the block has nothing for it."""
    text = lines(block)
    first = text.index(f"[{block.name}]")
    at = chance.randrange(first + 1, len(text))
    name, _, rest = text[at].partition(": ")
    options = reference.options_of(block.name, block.kinematics)
    if what == "misspelt option":
        new = misspelt(chance, name)
        return None if new.lower() in options else replaced(what, text, at, f"{new}: {rest}", name)
    if what == "misspelt section":
        new = misspelt(chance, block.kind)
        wanted = block.name.replace(block.kind, new, 1)
        return None if reference.kind(wanted) else replaced(what, text, first, f"[{wanted}]", block.kind)
    if what == "option of another section":
        new = chance.choice([option.name for other in sections(reference) for option in other.options])
        return None if known(new, options) else replaced(what, text, at, f"{new}: 1", name)
    if what == "missing option":
        needed = [option for option in block.options if option.required]
        if not needed or len(reference.kinds[block.kind]) > 1:
            return None
        gone = chance.choice(needed)
        left = [line for line in text if not line.startswith(gone.name + ": ")]
        return Change(what, "\n".join(left), first + 1, gone.name)
    if what == "removed option":
        section = chance.choice(list(GONE))
        new = chance.choice(GONE[section])
        return Change(what, f"[{section}]\n{new}: 1\n", 2, new)
    if what == "wrong kind of value":
        option = next((one for one in block.options if one.name == name), None)
        wrong = WRONG.get(kind(option)) if option else None
        return replaced(what, text, at, f"{name}: {wrong}", name) if wrong else None
    text.append(f"{name}: {rest}")
    return Change(what, "\n".join(text), len(text), name)


def known(name: str, options: dict[str, Option]) -> bool:
    return Options(options).find(PLACEHOLDER.sub("mine", name).lower()) is not None


def replaced(what: str, text: list[str], at: int, line: str, before: str) -> Change:
    return Change(what, "\n".join([*text[:at], line, *text[at + 1 :]]), at + 1, before)


def misspelt(chance: random.Random, name: str) -> str:
    """The name with one letter changed, left out, added, or swapped with the next."""
    at = chance.randrange(len(name))
    letter = chance.choice(LETTERS)
    swapped = name[:at] + name[at + 1 : at + 2] + name[at : at + 1] + name[at + 2 :]
    news = [name[:at] + letter + name[at + 1 :], name[:at] + name[at + 1 :], name[:at] + letter + name[at:], swapped]
    return next((new for new in chance.sample(news, 4) if new and new.lower() != name.lower()), name + letter)


def is_found(checker: Checker, change: Change) -> bool:
    """Whether a finding of the wanted level stands at the changed line."""
    findings = checker.findings(printer_cfg.read(change.text)).kept
    return any(finding.line == change.line for finding in findings[LEVEL[change.kind]])


def checker(docs: Path) -> Checker:
    """The check by a folder of pages."""
    reference = Reference((docs / "Config_Reference.md").read_text(encoding="utf-8"))
    return Checker(reference, changes.entries((docs / "Config_Changes.md").read_text(encoding="utf-8")))


def main() -> int:
    docs = Path(sys.argv[1]) if len(sys.argv) > 1 else PROJECT.parent / "shared" / "data" / "klipper" / "docs"
    check = checker(docs)
    made: Counter[str] = Counter()
    found: Counter[str] = Counter()
    for change in changed(check.reference, 2000):
        made[change.kind] += 1
        if is_found(check, change):
            found[change.kind] += 1
        else:
            print(f"{change.kind}: {change.before!r}: {change.text.splitlines()[change.line - 1]!r}", file=sys.stderr)
    for what in LEVEL:
        print(f"{what:<28}{found[what]:>5} of {made[what]:>5}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
