"""The tool behind a page's Apply button: the person's own consent, recorded apart from a model's word."""

import uuid
from typing import Annotated

from tools.core.json_types import JsonObject
from tools.core.schema import Published
from tools.core.tool import Tool
from tools.onepercent import fields
from tools.onepercent.apply_actions import applied
from tools.onepercent.database import audit
from tools.onepercent.page import keys, pages

Uuid = Annotated[str, Published(fields.Uuid().schema())]


@Tool(
    "apply_by_press", order=24, write=True, destructive=True, idempotent=True, lock=False, on_call=audit.entry,
    page=pages.PREVIEW, app_only=True,
)  # fmt: skip
def apply_by_press(preview_id: Uuid, press_key: str) -> JsonObject:
    """Apply a preview: the person pressed Apply on its page.

    Source: docs/pages.md
    """
    preview_id = fields.identifier("preview_id", preview_id)
    keys.check(keys.of_preview(preview_id), press_key)
    # A second press brings the same key and gets the answer of the first.
    return applied(preview_id, str(uuid.uuid5(uuid.UUID(preview_id), "press")))
