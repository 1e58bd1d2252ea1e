"""Note types, which AnkiConnect calls models: shown, made, and the one that this server suggests."""

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

from tools.toolkit import JsonObject, Limits, Tool, ToolError, did_you_mean, filled

from . import client
from .card_text import OCCLUSION
from .client import action
from .note_input import OBJECTS, OCCLUSION_FORM, find_name
from .settings import current


@dataclass(frozen=True)
class CardTemplateSpec:
    name: Annotated[str, Limits(min_length=1)]
    front: str
    back: str


@Tool("anki.model_info")
def model_info(
    model: Annotated[str, "ANKI_DEFAULT_MODEL by default", Limits(strip=True)] = "",
) -> JsonObject:
    """Show a note type: fields, templates, styling.

    Source: AnkiConnect modelFieldNames, modelTemplates, modelStyling. {model, fields, templates: {card:
    {Front, Back}}, styling}.
    """
    name = model or current().anki_default_model
    names, *answers = client.multi(
        action("modelNames"),
        action("modelFieldNames", modelName=name),
        action("modelTemplates", modelName=name),
        action("modelStyling", modelName=name),
    )
    client.unrefused([names])
    spelling = find_name(name, names)
    if spelling is None:
        raise not_found(name, names)
    fields, templates, styling = client.unrefused(answers)
    answer = {
        "model": spelling,
        "fields": fields,
        "templates": templates,
        "styling": styling["css"],
    }
    fronts = " ".join(sides["Front"] for sides in templates.values())
    # The field of the boxes in an image-occlusion type.
    if OCCLUSION in fronts and (field := re.search(r"\{\{cloze:([^}]+)\}\}", fronts)):
        answer["hint"] = f"{field[1]} takes {OCCLUSION_FORM}"
    return answer


@Tool("anki.create_model", write=True)
def create_model(
    model_name: Annotated[str, Limits(min_length=1, strip=True)],
    in_order_fields: Annotated[list[str], Limits(min_length=1)],
    card_templates: Annotated[
        list[CardTemplateSpec],
        OBJECTS,
        "{name, front, back}: HTML with {{Field}}",
        Limits(min_length=1),
    ],
    css: str = "",
    is_cloze: bool | None = None,
    options: JsonObject | None = None,
) -> JsonObject:
    """Create a note type.

    Source: AnkiConnect createModel, modelNames. Its names come back as Anki keeps them.
    """
    all_options = dict(options or {})
    if is_cloze is not None:
        all_options["isCloze"] = is_cloze
    model = client.call(
        "createModel",
        modelName=model_name,
        inOrderFields=in_order_fields,
        cardTemplates=[
            {"Name": card.name, "Front": card.front, "Back": card.back} for card in card_templates
        ],
        css=css,
        isCloze=bool(all_options.get("isCloze")),
    )
    warnings = [
        f"AnkiConnect does not take the option {name}" for name in all_options if name != "isCloze"
    ]
    return {
        "model_name": model["name"],
        "in_order_fields": [field["name"] for field in model["flds"]],
        "card_templates": list(map(asdict, card_templates)),
        "css": css,
        "options": all_options,
        "anki_response": None,  # null says that it went well; anki.model_info shows the note type
        **filled(warnings=warnings),
    }


def not_found(name: str, names: list[str]) -> ToolError:
    """Error for a note type that does not exist; for the default one with the call that creates it."""
    hint = did_you_mean(name, names) or "`models` lists them; anki_create_model makes one."
    data = {}
    if name == current().anki_default_model:
        hint = (
            "Call anki_create_model with the arguments in `create_model`, or name one of `models`."
        )
        data = {"create_model": default_model(name)}
    return ToolError(
        f"RuntimeError: model was not found: {name}",
        hint,
        "MODEL_NOT_FOUND",
        models=names,
        **data,
    )


def default_model(name: str) -> JsonObject:
    """Arguments of anki.create_model for the suggested note type: four fields, one card."""
    text = Path(__file__).with_name("default_model.json").read_text("utf-8")
    return {"model_name": name, **json.loads(text)}
