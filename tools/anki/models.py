"""Note types, which AnkiConnect calls models."""

from difflib import get_close_matches
from typing import Annotated, Any

from tools.anki import client, default_model
from tools.anki.replies import Refused
from tools.errors import ToolError
from tools.registry import Tool
from tools.schema import Limits
from tools.settings import current


@Tool("anki.model_info", bare=True)
def model_info(
    model: Annotated[str, "a note type; ANKI_DEFAULT_MODEL by default", Limits(strip=True)] = "",
) -> dict[str, Any]:
    """Show a note type: {model, fields, templates: {card: {Front, Back}}, styling}. Use it to learn the field names
    before adding notes.

    Source: AnkiConnect modelFieldNames, modelTemplates, modelStyling.
    """
    name = model or current().anki_default_model
    asked = [(action, {"modelName": name}) for action in ("modelFieldNames", "modelTemplates", "modelStyling")]
    names, fields, templates, styling = client.multi(("modelNames", {}), *asked)
    if isinstance(fields, Refused):
        raise not_found(name, names) if "was not found" in fields.text else fields
    shown = next((one for one in names if one.casefold() == name.casefold()), name)
    return {"model": shown, "fields": fields, "templates": templates, "styling": styling["css"]}


def not_found(name: str, names: list[str]) -> ToolError:
    """The error for a note type that is not there; for the default one it brings the call that makes it."""
    message = f"RuntimeError: model was not found: {name}"
    if name == current().anki_default_model:
        return ToolError(
            message,
            "Call anki.create_model with the arguments in `create_model`, or name one of `models`.",
            code="MODEL_NOT_FOUND",
            create_model=default_model.arguments(name),
            models=names,
        )
    near = get_close_matches(name, names, n=1)
    return ToolError(
        message,
        f"Did you mean {near[0]!r}?" if near else "`models` lists them; anki.create_model makes one.",
        code="MODEL_NOT_FOUND",
        models=names,
    )
