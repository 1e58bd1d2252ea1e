"""The tool that makes a note type."""

import re
from dataclasses import dataclass
from typing import Annotated, Any

from tools.anki import client
from tools.anki.replies import Refused
from tools.errors import ToolError
from tools.registry import Tool
from tools.schema import Alias, Limits

UNEXPECTED = re.compile(r"unexpected keyword argument '(\w+)'")


@dataclass(frozen=True)
class CardTemplateSpec:
    name: Annotated[str, "e.g. Card 1", Limits(min_length=1), Alias("Name")]
    front: Annotated[str, "HTML with {{Field}}", Alias("Front")]
    back: Annotated[str, "HTML", Alias("Back")]


@Tool("anki.create_model", write=True, bare=True)
def create_model(
    model_name: Annotated[str, Limits(min_length=1, strip=True), Alias("modelName")],
    in_order_fields: Annotated[list[str], "field names", Limits(min_length=1), Alias("inOrderFields")],
    card_templates: Annotated[list[CardTemplateSpec], Limits(min_length=1), Alias("cardTemplates")],
    css: str = "",
    is_cloze: Annotated[bool | None, Alias("isCloze")] = None,
    options: Annotated[dict[str, Any] | None, "further parameters of createModel, e.g. latexPre"] = None,
) -> dict[str, Any]:
    """Create a note type. Returns {model_name, in_order_fields, card_templates, css, options, anki_response};
    `warnings` names options that this AnkiConnect does not take.

    Source: AnkiConnect createModel.
    """
    _check_distinct("in_order_fields", in_order_fields)
    _check_distinct("card_templates", [one.name for one in card_templates])
    sent = {**(options or {}), **({} if is_cloze is None else {"isCloze": is_cloze})}
    templates = [{"Name": one.name, "Front": one.front, "Back": one.back} for one in card_templates]
    refused = _create(
        {"modelName": model_name, "inOrderFields": in_order_fields, "cardTemplates": templates, "css": css}, dict(sent)
    )
    warnings = [f"AnkiConnect does not take the option {name}: the model was made without it" for name in refused]
    return {
        "model_name": model_name,
        "in_order_fields": in_order_fields,
        "card_templates": [{"name": one.name, "front": one.front, "back": one.back} for one in card_templates],
        "css": css,
        "options": sent,
        # null says that it went well; AnkiConnect's own answer, the whole note type, is anki.model_info's to show.
        "anki_response": None,
        **({"warnings": warnings} if warnings else {}),
    }


def _create(model: dict[str, Any], options: dict[str, Any]) -> list[str]:
    """Make the model and return the options that AnkiConnect refused, which it does before it makes anything."""
    refused: list[str] = []
    while True:
        try:
            client.call("createModel", **{**options, **model})
            return refused
        except Refused as error:
            unexpected = UNEXPECTED.search(error.text)
            if not unexpected or options.pop(unexpected[1], None) is None:
                raise
            refused.append(unexpected[1])


def _check_distinct(place: str, names: list[str]) -> None:
    """Anki would call the second of two equal names `Name+` and say nothing."""
    seen: set[str] = set()
    for name in names:
        if name.casefold() in seen or not name.strip():
            raise ToolError(
                f"ValueError: {place}: {name[:80]!r} is {'there twice' if name.strip() else 'no name'}",
                "Give each its own name.",
                code="INVALID_ARGUMENTS",
            )
        seen.add(name.casefold())
