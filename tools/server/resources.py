"""The status page."""

from tools.core import health, settings
from tools.core.resources import Resource


@Resource("pi-mcp://status", "Server status")
def status() -> str:
    """The state of each system, with advice; every setting, secrets hidden.

    Source: the checks of each system, the settings.
    """
    lines = ["# pi-mcp\n\n| system | state | found | what to do |\n| --- | --- | --- | --- |"]
    for name, result in health.run_checks():
        lines.append(
            f"| {name} | {result.state} | {_cell(result.summary)} | {_cell(result.advice)} |"
        )
    lines.append("\n## Settings\n\n| variable | value |\n| --- | --- |")
    for section in settings.sections():
        for name, value in printable_settings(section.current()).items():
            lines.append(f"| `{name}` | {_cell(value)} |")
    return "\n".join([*lines, ""])


def printable_settings(section: settings.Section) -> dict[str, str]:
    """The value of each variable, without secrets."""
    values = {}
    for name, variable in section.variables().items():
        value = getattr(section, name)
        values[variable.name] = "set" if variable.secret and value else settings.masked(str(value))
    return values


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
