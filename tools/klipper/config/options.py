"""Kinds and bounds of options' values, as Klipper's own source has them (`options.txt`); the brackets of templates.

In `options.txt` a line `module: option=kind…` has what a module of klippy reads: i whole number, f number, b
boolean, c choices, l list (lf, li: of numbers; then their count; n: one such list a line), then the bounds as
an interval: `[0,1]`, `(0` for what is above 0; p a pin, with the marks that it may have. A line `[section]-
modules !options ;commands` says which modules read a section, nearest first, whether a name follows its kind (-
never, + always, ? perhaps), what it has to have (`a|b`: one of them), and the commands that it brings. A line
`[option value]? !options` says what has to be beside that value. `@names` are the values of sensor_type.
`tests/lab/klipper/facts.py` makes it from a checkout of Klipper.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tools.klipper.config.printer_cfg import Section
from tools.klipper.config.reference import SERIES, STEPPER, Option

TABLE = Path(__file__).with_name("options.txt")
KNOWN = Path(__file__).with_name("known.txt")
# Kind with the count of a list, lower bound, upper bound, both with the bracket that says whether it is
# included.
SPEC = re.compile(r"(b|i|f|p\^?!?|l[if]?n?\d*)(?:([\[(])([-\d.e+]+))?(?:,([-\d.e+]+)([\])]))?$")
# `[section]- modules !options ;commands`
LINE = re.compile(r"\[(.*)\](.)([^!;]*)!?([^;]*);?(.*)")
MARKS = {
    "p": ("", ""),
    "p!": ("!?", "[!] "),
    "p^": (r"[\^~]?", "[^~] "),
    "p^!": (r"[\^~]?\s*!?", "[^~] [!] "),
}
"""The marks that a pin of each kind may have: as a pattern, and as Klipper says it."""
TRUTHS = "1 yes true on 0 no false off".split()
"""Klipper takes these as a boolean, in any case."""
# The tag of a template: `{% if …`, `{%- endfor …`.
TAG = re.compile(r"\{%[-+]?\s*(\w+)")
# What is written in a template and is none of it: comments, and marks in a text that do not end it.
ASIDE = re.compile(r"\{#.*?#\}|\\[\\'\"]", re.DOTALL)
BLOCKS = "if for macro call filter".split()
LONGEST = 400
"""Characters of a value that are looked at."""
KINDS = {"b": "True or False", "i": "a whole number", "f": "a number", "l": "numbers with commas between"}


@dataclass
class Table:
    """`version` is Klipper's; `sensors` are values of sensor_type; `options` by module; by kind of section
    `readers` (modules), `signs` (whether a name follows), `required` options (also by `option value`) and
    `commands`."""

    version: str
    sensors: set[str] = field(default_factory=set)
    options: dict[str, dict[str, str]] = field(default_factory=dict)
    readers: dict[str, list[str]] = field(default_factory=dict)
    signs: dict[str, str] = field(default_factory=dict)
    required: dict[str, list[str]] = field(default_factory=dict)
    commands: dict[str, list[str]] = field(default_factory=dict)

    def base(self, kind: str) -> str:
        """The kind that a section of a series is of: `extruder` for `extruder1`, `stepper` for `stepper_z1`."""
        if kind in self.signs:
            return kind
        return STEPPER if kind.startswith("stepper_") else kind.rstrip("0123456789")


@cache
def table() -> Table:
    """The facts of `options.txt`, read once."""
    first, *lines = TABLE.read_text("utf-8").splitlines()
    facts = Table(first.split()[2])
    sensors = ""
    for line in lines:
        if line.startswith("@"):  # @sensors: modules; @names: what they are called
            name, _, words = line.partition(" ")
            sensors = words if name == "@sensors" else sensors
            facts.sensors.update(words.split("|") if name == "@names" else ())
        elif match := LINE.match(line):
            kind, sign, modules, required, commands = match.groups()
            facts.required[kind] = required.split()
            if " " not in kind:
                facts.signs[kind] = sign
                facts.readers[kind] = modules.replace("@sensors", sensors).split() or [kind]
                facts.commands[kind] = commands.split()
        else:
            module, _, options = line.partition(": ")
            facts.options[module] = dict(word.split("=") for word in options.split())
    return facts


@cache
def spec(kind: str, option: str) -> str:
    """The kind and bounds of an option in a kind of section, in the table's form; "" if the table does not
    know them."""
    facts = table()
    for module in facts.readers.get(facts.base(kind), ()):
        options = facts.options.get(module, {})
        for name in (option, SERIES.sub("1", option)):
            if name in options:
                return options[name]
    return ""


def required(section: Section) -> list[str]:
    """The options that a section has to have: those of its kind, and those that the value of another one asks
    for; `a|b`: one of them."""
    facts = table()
    needed = list(facts.required.get(facts.base(section.kind), ()))
    for name, setting in section.values.items():
        for value in (setting.value, "*"):
            needed += facts.required.get(f"{name} {value}", ())
    return needed


@cache
def words_of(what: str) -> Mapping[str, list[str]]:
    """The words of `known.txt` for each name: what a section `takes`, Marlin's words for an option, and so on."""
    listed: dict[str, list[str]] = {}
    for line in KNOWN.read_text("utf-8").splitlines():
        subject, _, words = line.partition(":")
        sort, _, name = subject.partition(" ")
        if sort == what:
            listed.setdefault(name, []).extend(words.split())
    return listed


def meant_by_marlin(name: str) -> str:
    """Klipper's option for one of Marlin's; "" if Marlin has none of that name."""
    return next((option for option, words in words_of("marlin").items() if name in words), "")


def wrong(section: str, option: Option, name: str, value: str) -> str:
    """Klipper's words for a value that it refuses; "" if it takes it. An empty text or list is a matter of each
    option."""
    known = spec(section.partition(" ")[0], name)
    what = f"option '{name}' in section '{section[:60]}'"
    if not value and known[:1] in ("i", "f", "b", "c", "p"):
        return f"Unable to parse {what}: it is empty"
    if not value or "{" in value:  # `{…}`: the constants of a fork of Klipper
        return ""
    if known.startswith("c"):
        choices = known[1:].split("|")
        base = value.partition("(")[0]  # a shaper may have parameters: `ei(v_tol=0.02)`
        number = str(int(value)) if value.isdigit() else base
        is_newer = re.search(
            rf"(?<![\w-]){re.escape(value)}(?![\w-])", option.text
        )  # the reference than the table
        is_part = any(value in choice for choice in choices)
        if base in choices or number in choices or (is_newer and not is_part):
            return ""
        return f"Choice '{value[:40]}' for {what} is not a valid choice: one of {', '.join(choices)}"
    match = SPEC.match(known)
    if not match:
        return ""
    if known.startswith("p"):
        return _wrong_mark(value, known)
    if problem := _not_of_kind(value, match[1]):
        is_count = "element" in problem
        return (
            f"O{what[1:]} must have {problem}" if is_count else f"Unable to parse {what}: expected {problem}"
        )
    bound = _out_of_bounds(float(value), match) if match[1] in "if" else ""
    return f"O{what[1:]} must {bound}" if bound else ""


def _wrong_mark(pin: str, kind: str) -> str:
    """The mistake in the marks before a pin; "" if it may have them."""
    pattern, form = MARKS[kind]
    if re.match(rf"\s*{pattern}\s*[^\s^~!]", pin):
        return ""
    return f"Invalid pin description '{pin[:40]}': format is {form}[chip_name:] pin_name"


def _not_of_kind(value: str, kind: str) -> str:
    """The kind expected in the place of the value; "" if it is of the kind."""
    if kind == "b":
        good = value.lower() in TRUTHS
    elif kind in "if":
        good = _is_number(value, kind)
    else:
        lines = value.split("\n") if "n" in kind else [value.replace("\n", ",")]
        rows = [re.split("[,:]", line) for line in lines if line.strip()]
        count = kind.lstrip("lifn")
        if count and any(len(row) != int(count) for row in rows):
            return f"{count} elements{' in each line' if 'n' in kind else ''}, not '{value[:40]}'"
        good = kind[1:2] not in ("i", "f") or all(
            _is_number(word, kind[1]) for row in rows for word in row if word.strip()
        )
    return "" if good else f"{KINDS[kind[0]]}, not '{value[:40]}'"


def _is_number(text: str, kind: str) -> bool:
    try:
        (int if kind == "i" else float)(text)
    except ValueError:
        return False
    return len(text) <= LONGEST


def _out_of_bounds(number: float, match: re.Match[str]) -> str:
    _, opening, low, high, closing = match.groups()
    if low and (number < float(low) or (opening == "(" and number == float(low))):
        return f"be above {float(low)}" if opening == "(" else f"have minimum of {float(low):g}"
    if high and (number > float(high) or (closing == ")" and number == float(high))):
        return f"be below {float(high)}" if closing == ")" else f"have maximum of {float(high)}"
    return ""


def template_mistake(value: str) -> str:
    """The block or bracket of a template that is not closed; "" if all are."""
    text = ASIDE.sub("", value)
    tags = TAG.findall(text)
    for word in BLOCKS:
        begin, end = f"{{% {word} %}}", f"{{% end{word} %}}"
        opened, closed = tags.count(word), tags.count("end" + word)
        if opened != closed:
            return f"{begin} without {end}" if opened > closed else f"{end} without {begin}"
    return _brackets(text)


def _brackets(text: str) -> str:
    """The mistake in the brackets inside a template's tags; "" if nothing is."""
    closing = {"(": ")", "[": "]", "{": "}"}
    open_: list[str] = []
    quote = ""
    for char in text:
        if quote:
            quote = "" if char == quote else quote
        elif open_ and char in "'\"":
            quote = char
        elif char == "{" or (open_ and char in "(["):
            open_.append(char)
        elif open_ and char in ")]}" and closing[open_.pop()] != char:
            return f"a bracket is closed by '{char}' that another one opened"
    return f"'{open_[-1]}' is not closed" if open_ else ""
