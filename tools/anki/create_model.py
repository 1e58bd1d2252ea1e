"""The tool that makes a note type."""

import re
import unicodedata
from dataclasses import dataclass
from typing import Annotated

from tools.anki import client
from tools.anki.replies import Refused, Result
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.schema import Alias, Limits
from tools.core.tool import Tool

UNEXPECTED = re.compile(r"unexpected keyword argument '(\w+)'")


@dataclass(frozen=True)
class CardTemplateSpec:
    name: Annotated[str, Limits(min_length=1), Alias("Name")]
    front: Annotated[str, Alias("Front")]
    back: Annotated[str, Alias("Back")]


@Tool("anki.create_model", write=True, raw=True)
def create_model(
    model_name: Annotated[str, Limits(min_length=1, strip=True), Alias("modelName")],
    in_order_fields: Annotated[list[str], Limits(min_length=1), Alias("inOrderFields")],
    card_templates: Annotated[list[CardTemplateSpec], Limits(min_length=1), Alias("cardTemplates")],
    css: str = "",
    is_cloze: Annotated[bool | None, Alias("isCloze")] = None,
    options: JsonObject | None = None,
) -> JsonObject:
    """Create a note type: {model_name, in_order_fields, card_templates, css, options, anki_response}, names as Anki keeps
    them; `warnings` tells changes.

    Source: AnkiConnect createModel, modelNames.
    """
    _check_distinct("in_order_fields", in_order_fields)
    _check_distinct("card_templates", [template.name for template in card_templates])
    sent = {**(options or {}), **({} if is_cloze is None else {"isCloze": is_cloze})}
    templates = [{"Name": card.name, "Front": card.front, "Back": card.back} for card in card_templates]
    _check_free(model_name)
    made, refused = _create(
        {"modelName": model_name, "inOrderFields": in_order_fields, "cardTemplates": templates, "css": css}, dict(sent)
    )
    name, fields = _name(made, model_name), _fields(made, in_order_fields)
    warnings = [f"AnkiConnect does not take the option {option}: the model was made without it" for option in refused]
    warnings += [
        f"Anki calls {asked!r} {kept!r}" for asked, kept in _changed(model_name, name, in_order_fields, fields)
    ]
    return {
        "model_name": name,
        "in_order_fields": fields,
        "card_templates": [{"name": card.name, "front": card.front, "back": card.back} for card in card_templates],
        "css": css,
        "options": sent,
        # null says that it went well; AnkiConnect's own answer, the whole note type, is anki.model_info's to show.
        "anki_response": None,
        **({"warnings": warnings} if warnings else {}),
    }


def _check_free(name: str) -> None:
    """Anki does not tell case apart, nor a name with quotes from one without: it would make `basic-09deb` of `basic`."""
    kept = unicodedata.normalize("NFC", name).replace('"', "").strip()
    taken = next((model for model in client.call("modelNames") if model.casefold() == kept.casefold()), None)
    if taken and taken != name:  # the very same name gets Anki's own words
        raise ToolError(
            f"RuntimeError: Model name already exists: Anki does not tell {name!r} from {taken!r}",
            "Choose another model_name, or look at this one with anki_model_info.",
            code="MODEL_EXISTS",
        )


def _name(made: object, asked: str) -> str:
    """What the note type is called, by AnkiConnect's answer; others that speak its protocol may not tell."""
    name = made.get("name") if isinstance(made, dict) else None
    return name if isinstance(name, str) and name else asked


def _fields(made: object, asked: list[str]) -> list[str]:
    fields = made.get("flds") if isinstance(made, dict) else None
    if not isinstance(fields, list) or len(fields) != len(asked):
        return asked
    return [
        field.get("name", name) if isinstance(field, dict) else name for field, name in zip(fields, asked, strict=True)
    ]


def _changed(name: str, kept_name: str, fields: list[str], kept_fields: list[str]) -> list[tuple[str, str]]:
    pairs = zip([name, *fields], [kept_name, *kept_fields], strict=True)
    return [(asked, kept) for asked, kept in pairs if asked != kept]


def _create(model: JsonObject, options: JsonObject) -> tuple[Result, list[str]]:
    """AnkiConnect's answer, and the options that it refused, which it does before it makes anything."""
    refused: list[str] = []
    while True:
        try:
            return client.call("createModel", **{**options, **model}), refused
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
