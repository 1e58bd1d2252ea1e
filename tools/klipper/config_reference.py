"""The configuration reference, looked up by section and option."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import groupby
from typing import Annotated

from tools.toolkit import JsonObject, Limits, ToolError, filled, nearest_names

from . import pages
from .config import changes, checking, options
from .config.machine import cut_between_words
from .config.reference import AXIS_STEPPER, REFERENCE_PAGE, Block, Option, Options, Reference
from .search import index

Name = Annotated[str, Limits(max_length=200)]
# Characters of a section's options with shortened texts.
SECTION_CHARS = 2500
# Entries of Config_Changes about a name.
MOST_CHANGES = 4


@pages.DocsTool("config_reference", title="Options of printer.cfg")
def config_reference(section: Name = "", option: Name = "", full: bool = False) -> JsonObject:
    """Look up a printer.cfg section's options (default, required, text), or the sections that have an option;
    with what Config_Changes says. Texts are shortened unless `full`.

    Source: Config_Reference.md and Config_Changes.md as they are in the checkout. Without either name: all
    sections.
    """
    reference = checking.checker().reference
    if not section and not option:
        return {"sections": list(reference.kinds)}
    blocks = _blocks(reference, section) if section else reference.blocks
    if option:
        return _option(reference, blocks, option)
    return _section(blocks, full=full)


def _unknown_name_error(message: str, suggestions: list[str]) -> ToolError:
    hint = "Without a name config_reference lists all sections."
    if suggestions:
        hint = f"Nearest: {', '.join(suggestions)}."
    return ToolError(message[:300], hint, "NOT_FOUND")


def _blocks(reference: Reference, name: str) -> list[Block]:
    """Find the blocks of a section by its name as typed: `[stepper_x]`, `heater_fan hotend`, `common spi
    settings`.

    Raises ToolError if there is none; the hint names what is near, by its name, meaning or letters.
    """
    normalized = " ".join(name.lower().strip(" []").split())
    kind = reference.kind_of(normalized)
    blocks = reference.blocks_named(kind or normalized)
    if AXIS_STEPPER.fullmatch(kind) and not any(block.options for block in blocks):
        return reference.kinds["stepper_x"]  # the page describes all axes there
    if not blocks:
        word = normalized.partition(" ")[0]
        asked_words = index.asked_words()[REFERENCE_PAGE].items()
        headings = [heading for heading, words in asked_words if word in words]
        kinds = [kind for kind in reference.kinds if word in kind]
        near = list(dict.fromkeys([*kinds, *headings]))[:6]
        raise _unknown_name_error(
            f"No such section in {REFERENCE_PAGE}: {name}",
            near or nearest_names(word, reference.kinds),
        )
    return blocks


def _section(blocks: list[Block], *, full: bool) -> JsonObject:
    """Describe the options of a section: `name (default): text` each, or those of a group together."""
    # Texts share what the names leave of the answer.
    groups = list(_groups(blocks))
    names_chars = sum(len(names) + 5 for _, names, _ in groups)
    share = (SECTION_CHARS - names_chars) // max(1, len(groups))
    longest = 1_000_000 if full else max(24, share)
    lines_by_variant = defaultdict(list)
    for variant, names, text in groups:
        line = f"{names}: {cut_between_words(text, longest)}"
        lines_by_variant[variant].append(line.rstrip(": "))
    # The answer, with the variants of the section if it has several.
    block = blocks[0]
    answer: JsonObject = {
        "section": block.name or block.heading,
        "page": REFERENCE_PAGE,
        "heading": block.heading,
    }
    variants = [{"of": name, "options": lines} for name, lines in lines_by_variant.items()]
    if len(variants) == 1:
        answer["options"] = variants[0]["options"]
    else:
        answer["variants"] = variants
    answer["changes"] = _dated_changes(block.kind or block.heading, full=full)
    return filled(**answer)


def _groups(blocks: list[Block]) -> Iterator[tuple[str, str, str]]:
    """Group options by their common text; yields the variant of the section, their names, the text."""
    for block in blocks:
        chapter = "" if block.heading.startswith("[") else f", {block.heading}"
        for lines, group in groupby(block.options, lambda option: option.lines):
            names = [_marked(option.name, option) for option in group]
            yield f"[{block.name}]{chapter}", ", ".join(names), " ".join(lines)


def _marked(name: str, option: Option) -> str:
    """Add to a name the option's default, or that it is required."""
    mark = option.default or ("required" if option.plain else "")
    return f"{name} ({mark})" if mark else name


def _option(reference: Reference, blocks: list[Block], option: str) -> JsonObject:
    """Describe an option in the blocks that have it, or what became of it. Raises ToolError if nothing has
    that name.
    """
    name = option.strip("#: ").lower()
    described = list(reference.described(blocks))
    by_key = Options((entry.key, entry) for entry in described)
    if match := by_key.option_named(name):
        return filled(
            option=match.name,
            page=REFERENCE_PAGE,
            sections=_texts_with_sections([entry for entry in described if entry.key == match.key]),
            changes=_dated_changes(name, full=False),
        )
    if changes_of_name := _dated_changes(name, full=True):
        return {"option": option, "changes": changes_of_name[:MOST_CHANGES]}
    suggestions = nearest_names(name, sorted(by_key), cutoff=0.5)
    if klipper_name := options.meant_by_marlin(name):
        suggestions = [f"{klipper_name}, which is Marlin's {name}"]
    raise _unknown_name_error(f"No such option: {option}", suggestions)


def _texts_with_sections(namesakes: list[Option]) -> list[JsonObject]:
    """List each text of options of one name with the sections in which it stands; texts that refer to another
    section come last."""
    sections: dict[str, dict[str, None]] = defaultdict(dict)  # each once, in order
    for option in namesakes:
        sections[option.text][_marked(option.owner, option)] = None
    longest = SECTION_CHARS if len(sections) == 1 else 300
    ordered = sorted(
        sections, key=lambda text: (text.startswith("See the") or not text, -len(sections[text]))
    )
    return [
        {"in": list(sections[text])[:30], "text": cut_between_words(text, longest)}
        for text in ordered[:6]
    ]


def _dated_changes(name: str, *, full: bool) -> list[str]:
    """List the entries about a name on the page of changes: each with its date, and its sentences from the
    first with the name on."""
    entries = []
    for entry, sentences in changes.entries_about(checking.checker().entries, name):
        text = entry.text if full else cut_between_words(" ".join(sentences), 160)
        entries.append(f"{entry.date}: {text}")
    return entries if full else entries[:MOST_CHANGES]
