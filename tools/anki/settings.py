"""The settings of Anki and of images."""

from tools.core import settings
from tools.core.settings import Section, setting


class AnkiSettings(Section):
    """Settings: Anki's address, defaults of new notes, limits of images."""

    anki_connect_url: str = setting(
        "http://127.0.0.1:8765",
        "where AnkiConnect listens; `unix:/path` for a socket that ssh forwards",
        lambda value: value if value.startswith("unix:/") else settings.url(value),
    )
    anki_connect_key: str = setting(
        "", "AnkiConnect's `apiKey`, if its config sets one", secret=True
    )
    anki_connect_timeout_s: int = setting(
        30, "seconds to wait for AnkiConnect's answer", settings.positive
    )
    anki_default_deck: str = setting("Default", "deck for notes added without one")
    anki_default_model: str = setting("Поля для ChatGPT", "note type for notes added without one")
    anki_confirm: str = setting(
        "off",
        "`count` (recommended): a call that deletes or changes must state the true count; `elicit`: the person is asked",
        settings.one_of("off", "count", "elicit"),
    )
    anki_invoke: str = setting(
        "safe",
        "`all` lets anki.invoke also do the deletions and changes that other tools keep a journal of, and reach files of Anki's host",
        settings.one_of("safe", "all"),
    )
    image_max_bytes: int = setting(
        10 * 1024 * 1024,
        "the largest image accepted, in bytes",
        settings.positive,
    )
    image_allow_private: bool = setting(
        False,
        "1 lets images be downloaded from loopback and private addresses",
        settings.flag,
    )


current = AnkiSettings.current
