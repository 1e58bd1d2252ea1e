"""Types and bounds of options' values, as Klipper's own source has them, and other facts of `known.txt`.

Both files have lines `SORT NAME: words`; known.txt explains its own at its top. Those of `options.txt`,
which `tests/lab/klipper/facts.py` makes from a checkout of Klipper:

- `of MODULE: option=type…`: the options that a module of klippy reads. Types: `i` whole number, `f` number, `b`
  boolean, `c` choices, `l` list (`lf`, `li`: of numbers; then their count; `n`: one such list a line), each with
  its bounds as an interval (`[0,1]`, `(0` for what is above 0); `p` a pin, with the marks that it may have.
- `kind SECTION: - modules`: whether a name follows it (`-` never, `+` always, `?` perhaps), and which modules
  read it, nearest first.
- `needs SECTION: options`: the options that it must have (`a|b`: one of them).
- `needs OPTION VALUE: options`: the options that must stand beside that value.
- `gives SECTION: commands`: the commands that it brings.
- `sensor NAME|…:`: the values of sensor_type.
"""

import operator
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import chain
from pathlib import Path

from .printer_cfg import ConfigSection, Setting
from .reference import SERIES, STEPPER, Option

# `l`, the type of the elements, `n` (one list a line), their count; then the interval, e.g. `[0,1)`.
NUMBER_RULE = r"(l?)([if]?)(n?)(\d*)(?:([\[(])([-\d.e+]+))?(?:,([-\d.e+]+)([\])]))?$"
# The words that Klipper takes as a boolean, in any case.
BOOLEANS = "1 yes true on 0 no false off".split()
# Klipper's message for each bound, and the comparison that is true if a number breaks it.
BOUNDS = {
    "(": ("be above", operator.le),
    "[": ("have minimum of", operator.lt),
    "]": ("have maximum of", operator.gt),
    ")": ("be below", operator.ge),
}
EXPECTED = {"i": "a whole number", "f": "a number", "l": "numbers with commas between"}


@cache
def _rows() -> Mapping[str, dict[str, list[str]]]:
    """Read the two files: the rows of each sort, a name and its words."""
    rows: dict[str, dict[str, list[str]]] = {}
    for file in ("options.txt", "known.txt"):
        text = Path(__file__).with_name(file).read_text("utf-8")
        for sort, names, words in re.findall(r"(?m)^(\w+) ([^:\n]*):(.*)", text):
            for name in names.split("|"):
                rows.setdefault(sort, {}).setdefault(name, []).extend(words.split())
    return rows


def known_words(sort: str) -> Mapping[str, list[str]]:
    """Rows of one sort as words by name: what a section `takes`, Marlin's words for an option, and so on."""
    return _rows()[sort]


def base_kind(kind: str) -> str:
    """Name the kind of a section of a series: `extruder` for `extruder1`, `stepper` for `stepper_z1`."""
    if kind in known_words("kind"):
        return kind
    return STEPPER if kind.startswith("stepper_") else kind.rstrip("0123456789")


def value_rule(kind: str, option: str) -> str:
    """Look up type and bounds of an option in a kind of section, in the table's form; "" if the table does
    not know them."""
    rules = _value_rules(base_kind(kind))
    return rules.get(option) or rules.get(SERIES.sub("1", option), "")


@cache
def _value_rules(kind: str) -> dict[str, str]:
    """Collect the rule of each option that the modules of a kind of section read; the first module of several
    decides."""
    rules: dict[str, str] = {}
    for module in reversed(known_words("kind").get(kind, ())[1:]):
        rules |= dict(word.split("=") for word in known_words("of").get(module, ()))
    return rules


def required_options(section: ConfigSection) -> list[str]:
    """Options that a section must have, by its kind and by the values of its other options; `a|b`: one of
    them."""
    needs = known_words("needs")
    needed = [*needs.get(base_kind(section.kind), ())]
    for name, setting in section.items():
        for value in (setting.value, "*"):
            needed += needs.get(f"{name} {value}", ())
    return list(dict.fromkeys(needed))


def rules(sort: str, kind: str) -> Iterator[tuple[str, list[str]]]:
    """Yield option and words of the rows `SORT KIND OPTION: words` of `known.txt` for a kind of section."""
    for name, words in known_words(sort).items():
        row_kind, option = name.split()
        if row_kind in ("*", kind):
            yield option, words


def meant_by_marlin(name: str) -> str:
    """Translate one of Marlin's options to Klipper's; "" if Marlin has none of that name."""
    return next((option for option, words in known_words("marlin").items() if name in words), "")


def value_problem(section: ConfigSection, option: Option, setting: Setting) -> str:
    """Klipper's message for a value that it refuses; "" if it takes it. Empty texts and lists are up to each
    option."""
    value = setting.value
    rule = value_rule(section.kind, setting.name)
    subject = f"option '{setting.name}' in section '{section.name[:60]}'"
    if not value and rule and not rule.startswith("l"):
        return f"Unable to parse {subject}: it is empty"
    if not value or "{" in value:  # `{…}`: the constants of a fork of Klipper
        return ""
    if rule == "b" and value.lower() not in BOOLEANS:
        return f"Unable to parse {subject}: expected True or False, not '{value[:40]}'"
    if rule.startswith("c"):
        choices = rule[1:].split("|")
        choice = value.partition("(")[0]  # a shaper may have parameters: `ei(v_tol=0.02)`
        is_part = any(value in choice for choice in choices)
        # The reference may be newer than the table.
        is_newer = not is_part and re.search(rf"\b{re.escape(value)}\b", option.text)
        if choice not in choices and not is_newer:
            return f"Choice '{value[:40]}' for {subject} is not a valid choice: one of {', '.join(choices)}"
    if match := re.match(NUMBER_RULE, rule):
        return _number_problem(subject, value, match)
    return ""


def _number_problem(subject: str, value: str, match: re.Match[str]) -> str:
    """Klipper's message for a number, or a list of numbers, that it refuses; "" if it takes it."""
    is_list, number_type, per_line, count, opening, low, high, closing = match.groups()
    rows = [[value]]
    if is_list:  # points have a line each, gears a `:` between them
        lines = value.split("\n") if per_line else [value.replace("\n", ",")]
        rows = [re.split("[,:]", line) for line in lines if line.strip()]
    if count and any(len(row) != int(count) for row in rows):
        scope = " in each line" if per_line else ""
        return f"O{subject[1:]} must have {count} elements{scope}, not '{value[:40]}'"
    if not number_type:
        return ""
    parse = int if number_type == "i" else float
    try:
        numbers = [parse(word) for word in filter(str.strip, chain.from_iterable(rows))]
    except ValueError:
        return f"Unable to parse {subject}: expected {EXPECTED[is_list or number_type]}, not '{value[:40]}'"
    for sign, bound in ((opening, low), (closing, high)):
        if bound and (problem := out_of_bounds(numbers, sign, parse(float(bound)))):
            return f"O{subject[1:]} must {problem}"
    return ""


def out_of_bounds(numbers: Iterable[float], sign: str, bound: float) -> str:
    """Klipper's message for the bound that a number breaks; "" if none does."""
    words, is_wrong = BOUNDS[sign]
    return f"{words} {bound}" if any(is_wrong(number, bound) for number in numbers) else ""
