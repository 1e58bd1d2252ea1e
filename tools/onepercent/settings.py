"""The settings of OnePercent."""

from dataclasses import dataclass
from pathlib import Path

from tools.core import setting_types as types
from tools.core import settings
from tools.core.settings import Section, setting


def _database_folder(path: Path) -> Path:
    return (settings.current().state_dir / path).parent


@dataclass(frozen=True)
class OnePercentSettings(Section):
    """Whose life this is, where it is kept, how it is changed."""

    onepercent_db: Path = setting(
        "ONEPERCENT_DB",
        Path("onepercent.sqlite3"),
        "OnePercent's database; a relative path lies in MCP_STATE_DIR",
        types.path,
        writes=_database_folder,
    )
    onepercent_user: str = setting(
        "ONEPERCENT_USER",
        "local",
        "whose goals, habits and diary these are; over HTTP the token says it",
        of_caller=lambda caller: caller.user,
    )
    onepercent_tz: str = setting(
        "ONEPERCENT_TZ",
        "",
        "time zone that decides what today is, e.g. `Europe/Berlin`; empty: the machine's",
        types.zone,
    )
    onepercent_preview_ttl_s: int = setting(
        "ONEPERCENT_PREVIEW_TTL", 300, "seconds for which a preview can be applied", types.positive
    )
    onepercent_rate_limit: bool = setting(
        "ONEPERCENT_RATE_LIMIT", True, "`off` lifts the limits on calls a minute", types.flag
    )
    onepercent_confirm: str = setting(
        "ONEPERCENT_CONFIRM", "off", "`elicit` asks the person through the client before anything is applied",
        types.one_of("off", "elicit"),
    )  # fmt: skip


def current() -> OnePercentSettings:
    """The settings of this process."""
    return settings.current(OnePercentSettings)
