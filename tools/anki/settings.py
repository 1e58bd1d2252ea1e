"""The settings of Anki and of images."""

from dataclasses import dataclass

from tools.core import setting_types as types
from tools.core import settings
from tools.core.settings import Section, setting


def _address(value: str) -> str:
    if value.startswith("unix:/"):
        return value
    return types.url(value)


@dataclass(frozen=True)
class AnkiSettings(Section):
    """Where Anki is, what new notes are by default, which images are taken."""

    anki_connect_url: str = setting(
        "ANKI_CONNECT_URL",
        "http://127.0.0.1:8765",
        "where AnkiConnect listens; `unix:/path` for a socket that ssh forwards",
        _address,
    )
    anki_connect_key: str = setting(
        "ANKI_CONNECT_KEY", "", "AnkiConnect's `apiKey`, where its config sets one", secret=True
    )
    anki_connect_timeout_s: int = setting(
        "ANKI_CONNECT_TIMEOUT", 30, "seconds to wait for an answer of AnkiConnect", types.positive
    )
    anki_default_deck: str = setting("ANKI_DEFAULT_DECK", "Default", "the deck of notes added without one")
    anki_default_model: str = setting(
        "ANKI_DEFAULT_MODEL", "Поля для ChatGPT", "the note type of notes added without one"
    )
    anki_confirm: str = setting(
        "ANKI_CONFIRM",
        "off",
        "`count`: deleting and changing need the true count in the call; `elicit`: the person is asked",
        types.one_of("off", "count", "elicit"),
    )
    anki_invoke: str = setting(
        "ANKI_INVOKE",
        "safe",
        "`all` lets anki.invoke also do what reaches files of Anki's host or deletes note types in bulk",
        types.one_of("safe", "all"),
    )
    image_max_bytes: int = setting(
        "IMAGE_MAX_BYTES", 10 * 1024 * 1024, "the largest image taken, in bytes", types.positive
    )
    image_allow_private: bool = setting(
        "IMAGE_ALLOW_PRIVATE", False, "1 lets images be downloaded from loopback and private addresses", types.flag
    )


def current() -> AnkiSettings:
    """The settings of this process."""
    return settings.current(AnkiSettings)
