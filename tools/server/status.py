"""The status page."""

from tools import checkup
from tools.catalog import Resource
from tools.settings import current

SYSTEMS = "# pi-mcp\n\n| system | state | found | what to do |\n| --- | --- | --- | --- |"
SETTINGS = "\n## Settings\n\n| variable | value |\n| --- | --- |"


@Resource("pi-mcp://status", "Server status")
def status() -> str:
    """What works, what is not set up and how to, what is broken; every setting, secrets hidden.

    Source: the checks of each system, the settings.
    """
    systems = [
        f"| {name} | {checkup.MARKS[health.state]} | {_cell(health.summary)} | {_cell(health.advice)} |"
        for name, health in checkup.systems()
    ]
    values = [f"| `{name}` | {_cell(value)} |" for name, value in current().shown()]
    return "\n".join([SYSTEMS, *systems, SETTINGS, *values, ""])


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
