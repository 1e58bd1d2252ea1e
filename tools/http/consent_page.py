"""The page on which a person lets a client in: who asks, for what, one field for the invitation's code. No script."""

import base64
import hashlib
from html import escape

from tools.core.calls import READ_ONLY

STYLE = """body{font:17px/1.5 system-ui,sans-serif;color:#1a1a1a;background:#fff;max-width:26rem;margin:auto;padding:1rem;
overflow-wrap:anywhere}.host{font-size:1.6rem;font-weight:700}.note{background:#fdeaea;color:#8a1010;padding:.6rem}
label{display:block;font-weight:600}input,button{font:600 1.4rem/1.4 system-ui,sans-serif;width:100%;padding:.5rem;
box-sizing:border-box;border:2px solid #767676;border-radius:.5rem}input{text-transform:uppercase;letter-spacing:.1em}
button{margin-top:1rem;border:0;background:#0b57d0;color:#fff}"""
STYLE_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
TEXTS = {
    "title": ("Access to your Raspberry Pi", "Доступ к вашему Raspberry Pi"),
    "asks": ("asks for access. You will be sent back to", "просит доступ. Затем вы вернётесь на"),
    "may": ("It may use:", "Будет доступно:"),
    "invite": ("No invitation is open. On the Pi:", "Открытых приглашений нет. На Pi:"),
    "code": ("Code of the invitation", "Код приглашения"),
    "allow": ("Allow", "Разрешить"),
    "wrong": (
        "That code is wrong, used, or older than ten minutes.",
        "Код неверен, использован или старше десяти минут.",
    ),
    "wait": ("Too many tries. Wait a minute, then try again.", "Слишком много попыток. Подождите минуту и повторите."),
    "onepercent": ("goals, habits and the diary", "цели, привычки и дневник"),
    "klipper": ("the Klipper documentation", "документация Klipper"),
    "printer": ("the printer's files and state", "файлы и состояние принтера"),
    "anki": ("Anki cards", "карточки Anki"),
    "search": ("search on the web", "поиск в интернете"),
    "server": ("the state of this server", "состояние этого сервера"),
    READ_ONLY: ("reading only", "только чтение"),
}


def form(lang: str, name: str, host: str, scope: set[str], fields: dict[str, str], problem: str = "") -> str:
    """The page for a client `name` that the person will be sent back to at `host`; `fields` come back with the code,
    `problem` is a key of TEXTS."""
    words = _words(lang)
    hidden = "".join(f'<input type="hidden" name="{escape(key)}" value="{escape(fields[key])}">' for key in fields)
    items = [word.partition(":") for word in sorted(scope)]
    allowed = "".join(
        f"<li>{words.get(item, item)}{f' ({words[READ_ONLY]})' if read else ''}" for item, _, read in items
    )
    may = (
        f"<p>{words['may']}<ul>{allowed}</ul>"
        if scope
        else f"<p>{words['invite']} <code>python3 -m tools invite</code>"
    )
    body = f"""<p><b>{escape(name)}</b> {words["asks"]}<p class="host">{escape(host)}{may}
<form method="post" action="/authorize">{hidden}<label for="code">{words["code"]}</label><input id="code" name="code"
required maxlength="20" autocomplete="one-time-code" spellcheck="false"><button>{words["allow"]}</button></form>"""
    return page(lang, words.get(problem, ""), body)


def page(lang: str, note: str, body: str = "") -> str:
    """A page with a note of what is wrong above."""
    title, alert = _words(lang)["title"], f'<p class="note" role="alert">{escape(note)}' * bool(note)
    return f"""<!doctype html><html lang="{lang}"><meta charset="utf-8"><meta name="viewport"
content="width=device-width"><title>{title}</title><style>{STYLE}</style><main><h1>{title}</h1>{alert}{body}</main></html>"""


def _words(lang: str) -> dict[str, str]:
    return {key: texts[lang == "ru"] for key, texts in TEXTS.items()}
