"""The status page."""

from tools.core import health, settings
from tools.core.resources import Resource

TOOLSETS = "# pi-mcp\n\n| system | state | found | what to do |\n| --- | --- | --- | --- |"
SETTINGS = "\n## Settings\n\n| variable | value |\n| --- | --- |"


@Resource("pi-mcp://status", "Server status")
def status() -> str:
    """The state of each system, with advice; every setting, secrets hidden.

    Source: the checks of each system, the settings.
    """
    toolsets = [
        f"| {name} | {found.state} | {_cell(found.summary)} | {_cell(found.advice)} |"
        for name, found in health.every()
    ]
    values = [
        f"| `{name}` | {_cell(value)} |"
        for section in settings.sections()
        for name, value in shown(settings.current(section)).items()
    ]
    return "\n".join([TOOLSETS, *toolsets, SETTINGS, *values, ""])


def shown(section: settings.Section) -> dict[str, str]:
    """The value of each variable, without secrets."""
    values = {variable: getattr(section, name) for name, variable in section.variables().items()}
    return {
        variable.name: "set" if variable.secret and value else settings.masked(str(value))
        for variable, value in values.items()
    }


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
