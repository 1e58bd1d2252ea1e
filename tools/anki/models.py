"""Note types, which AnkiConnect calls models."""

from typing import Annotated

from tools.anki import client, default_model
from tools.anki.replies import Refused
from tools.anki.settings import current
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.schema import Limits
from tools.core.suggest import nearest
from tools.core.tool import Tool


@Tool("anki.model_info", raw=True)
def model_info(
    model: Annotated[str, "ANKI_DEFAULT_MODEL by default", Limits(strip=True)] = "",
) -> JsonObject:
    """Show a note type: {model, fields, templates: {card: {Front, Back}}, styling}.

    Source: AnkiConnect modelFieldNames, modelTemplates, modelStyling.
    """
    name = model or current().anki_default_model
    asked = [(action, {"modelName": name}) for action in ("modelFieldNames", "modelTemplates", "modelStyling")]
    names, fields, templates, styling = client.multi(("modelNames", {}), *asked)
    if isinstance(fields, Refused):
        raise not_found(name, names) if "was not found" in fields.text else fields
    shown = next((known for known in names if known.casefold() == name.casefold()), name)
    return {"model": shown, "fields": fields, "templates": templates, "styling": styling["css"]}


def not_found(name: str, names: list[str]) -> ToolError:
    """The error for a note type that is not there; for the default one it brings the call that makes it."""
    message = f"RuntimeError: model was not found: {name}"
    if name == current().anki_default_model:
        return ToolError(
            message,
            "Call anki_create_model with the arguments in `create_model`, or name one of `models`.",
            code="MODEL_NOT_FOUND",
            create_model=default_model.arguments(name),
            models=names,
        )
    near = nearest(name, names)
    return ToolError(
        message,
        f"Did you mean {near!r}?" if near else "`models` lists them; anki_create_model makes one.",
        code="MODEL_NOT_FOUND",
        models=names,
    )


def ids(answer: object) -> dict[str, int]:
    """An answer of modelNamesAndIds; empty if it cannot be told: not every server that speaks AnkiConnect knows it."""
    return answer if isinstance(answer, dict) else {}
