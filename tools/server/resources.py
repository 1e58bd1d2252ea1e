"""The status page."""

from tools.core import health, settings
from tools.core.resources import Resource

TOOLSETS = "# pi-mcp\n\n| system | state | found | what to do |\n| --- | --- | --- | --- |"
SETTINGS = "\n## Settings\n\n| variable | value |\n| --- | --- |"


@Resource("pi-mcp://status", "Server status")
def status() -> str:
    """What works, what is not set up and how to, what is broken; every setting, secrets hidden.

    Source: the checks of each system, the settings.
    """
    toolsets = [
        f"| {name} | {health.MARKS[found.state]} | {_cell(found.summary)} | {_cell(found.advice)} |"
        for name, found in health.every()
    ]
    values = [
        f"| `{name}` | {_cell(value)} |"
        for section in settings.sections()
        for name, value in settings.current(section).shown()
    ]
    return "\n".join([TOOLSETS, *toolsets, SETTINGS, *values, ""])


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
