"""A sentence for the person in its parts, from which a page draws it."""

from dataclasses import dataclass, field

from tools.core.json_types import JsonObject
from tools.onepercent import words

Detail = str | list[str]  # a list: label, value before, value after


@dataclass(slots=True)
class Line:
    """A sentence in its parts.

    `subject` is what it is about, `title` and `kind` the same for a page that shows the title alone: цель
    «Дом», Дом, цель. `head`: the verb before the subject, if something goes or comes back.
    """

    sign: str
    subject: str
    title: str
    kind: str = ""
    head: str = ""
    what: str = ""
    details: list[Detail] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    rows: list[str] = field(default_factory=list)
    xp: int = 0
    count: int = 1

    def text(self, is_done: bool = False) -> str:
        """Цель «Дом»: новая; срок 20.12. Удалить: цель «Дом» и 7 шагов.

        Once it is done, only what it was: the preview has shown the rest.
        """
        start, parts = self.subject, [self.what, *map(_detail_text, self.details)]
        if self.head:
            start = f"{verb(self.head, is_done)}{self.subject}{self.what}"
            parts = parts[1:]
        parts = [part for part in parts if part]
        if is_done:
            return ": ".join([capital(start), *parts[: not self.head]])
        text = ": ".join(filter(None, (capital(start), "; ".join(parts), ", ".join(self.steps))))
        text = "; ".join([text, *self.rows])
        return f"{text} ({words.xp_signed(self.xp)})" if self.xp else text

    def parts(self) -> JsonObject:
        """The parts as a page draws them."""
        what = ": ".join(filter(None, (self.kind, self.what)))
        if self.head:
            what = f"{verb(self.head)}{self.kind}{self.what}"
        return {
            "sign": self.sign,
            "title": capital(self.title),
            "what": capital(what),
            "details": self.details,
            "rows": self.steps + self.rows,
            "xp": self.xp,
            "count": self.count,
        }


def _detail_text(detail: Detail) -> str:
    if isinstance(detail, str):
        return detail
    label, before, after = detail
    return ": ".join(filter(None, (label, f"{before} → {after}")))


def verb(head: str, is_done: bool = False) -> str:
    return f"{words.say(f'head.{head}').split('|')[is_done]}: "


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]
