"""The names of the core that nearly every toolset takes. Importing them loads what a call needs anyway;
`__init__.py` and `settings.py` of a toolset are read before any call, so they take theirs from tools/core
itself."""

# ruff: noqa: F401
from tools.core.calls import checkpoint
from tools.core.errors import (
    Cancelled,
    ToolError,
    cut,
    did_you_mean,
    nearest_names,
    one_line,
    quoted,
)
from tools.core.files import exclusive_lock, make_folder_of, plain_file, replace_file
from tools.core.json_types import Answer, JsonObject, compact_json, filled
from tools.core.registry import TextOutput, command, for_people
from tools.core.schema import Alias, Limits
from tools.core.settings import PROJECT, state_path
from tools.core.tool import Tool
