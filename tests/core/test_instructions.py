"""What the model is told at the start, and the schema of what may be anything."""

from typing import Any

from tools.core import instructions, schema, settings
from tools.core.toolsets import toolsets


def test_every_toolset_has_its_say_unless_only_some_are_wanted(env):
    whole = instructions.instructions(settings.current())
    parts = {}
    for name in toolsets():
        env(MCP_TOOLSETS=name)
        parts[name] = instructions.instructions(settings.current()).removesuffix(instructions.LAST).strip()
    assert whole == " ".join([*filter(None, parts.values()), instructions.LAST])
    assert len([text for text in parts.values() if text]) >= 3


def test_a_parameter_that_may_be_anything_has_an_empty_schema():
    assert schema.of(Any) == {}
    assert schema.of(list[Any]) == {"type": "array", "items": {}}
