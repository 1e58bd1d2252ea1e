"""The settings as the READMEs show them."""

from pathlib import Path

from tools.core import settings


def markdown() -> str:
    """Every setting as a Markdown table, for the README: variable, default, meaning."""
    rows = [
        (f"`{variable.name}`", _default(variable), variable.meaning)
        for section in settings.sections()
        for variable in section.variables().values()
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in [("variable", "default", "meaning"), ("---",) * 3, *rows])


def _default(variable: settings.Variable) -> str:
    value = variable.usual({})
    if isinstance(value, bool):
        value = int(value)
    text = (
        str(value).replace(f"{settings.PROJECT}/", "").replace(str(Path.home()), "~") if value not in ("", ()) else ""
    )
    return f"`{text}`" if text else ""
