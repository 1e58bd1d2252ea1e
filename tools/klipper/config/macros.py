"""The rules of macros: names, variables, and the brackets of templates; their commands are not looked at."""

import ast
import re
from collections.abc import Iterator

from tools.klipper.config.findings import Finding, at, cut
from tools.klipper.config.machine import Machine
from tools.klipper.config.options import known
from tools.klipper.config.printer_cfg import Section, Setting

MACRO = "gcode_macro"
VARIABLE = "variable_"
# The tag of a template: `{% if …`, `{%- endfor …`.
TAG = re.compile(r"\{%[-+]?\s*(\w+)")
# What is written in a template and is none of it: comments and texts in quotes.
ASIDE = re.compile(r"\{#.*?#\}", re.DOTALL)
BLOCKS = ("if", "for", "macro", "call", "filter")
NUMBER = re.compile(r"[A-Z]\d+(\.\d+)?$")


def findings(machine: Machine) -> Iterator[Finding]:
    """Everything that these rules find."""
    brought = known("command").items()
    taken = {command for kind, commands in brought if kind in machine.sections for command in commands}
    for section in machine.sections.values():
        if section.kind == MACRO:
            yield from _macro(section, taken)
        for setting in section.values.values():
            if setting.name.endswith("gcode") and "{" in setting.value and section.kind not in machine.plugins:
                yield from _template(section, setting)


def _macro(section: Section, taken: set[str]) -> Iterator[Finding]:
    words = section.name.split()
    if len(words) > 2:
        yield at(section, "", f"Name of section '{cut(section.name)}' contains illegal whitespace")
    name = words[1].upper() if len(words) > 1 else ""
    renamed = section.values.get("rename_existing")
    is_number = bool(NUMBER.match(name))
    if name in taken and not renamed:
        message = f"gcode command {name} already registered: a macro in the place of a command needs rename_existing"
        yield at(section, "", message)
    elif renamed and name and is_number != bool(NUMBER.match(renamed.value.upper())):
        message = f"G-Code macro rename of different types ('{name}' vs '{renamed.value[:40]}')"
        yield at(section, "rename_existing", message)
    elif name and not is_number and not (name.replace("_", "A").isalnum() and not re.match(r".?\d", name)):
        yield at(section, "", f"Can't register '{cut(name)}' as it is an invalid name")
    for setting in section.values.values():
        if setting.name.startswith(VARIABLE):
            try:
                ast.literal_eval(setting.value)
            except (SyntaxError, TypeError, ValueError, RecursionError, MemoryError):
                message = f"Option '{setting.name}' in section '{cut(section.name)}' is not a valid literal"
                yield at(section, setting.name, f"{message}: a text needs quotes ('…')")


def _template(section: Section, setting: Setting) -> Iterator[Finding]:
    """A block that is not closed, or a bracket."""
    text = ASIDE.sub("", setting.value)
    tags = TAG.findall(text)
    problem = _brackets(text)
    for word in BLOCKS:
        begin, end = f"{{% {word} %}}", f"{{% end{word} %}}"
        if (open_ := tags.count(word)) != (closed := tags.count("end" + word)):
            problem = f"{begin} without {end}" if open_ > closed else f"{end} without {begin}"
            break
    if problem:
        yield at(section, setting.name, f"Error loading template '{cut(section.name)}:{setting.name}': {problem}")


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
