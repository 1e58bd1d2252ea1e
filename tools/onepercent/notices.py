"""Notices: what the day holds in the morning, what is left of it in the evening, sent to the person's phone.

A timer starts `python3 -m tools notify` at both times. Each notice is sent once: one that could not be sent
is tried again until it can, or the next is due (exit status 75). Only titles leave the house, or counts
(NOTIFY_PRIVATE).
"""

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable
from urllib.parse import quote, urlsplit

from tools.core import http
from tools.toolkit import one_line, replace_file, state_path

from . import settings
from .base import days, words
from .database import store
from .snapshot import present

DEADLINE_S = 15
LONGEST_ANSWER_BYTES = 64_000
MOST_TITLES = 10  # of one kind, that a notice names
GOTIFY = '{"title": "{title}", "message": "{text}"}'


def main(options: list[str], cards_due: Callable[[], int]) -> int:
    """Send the notice of the morning or the evening; `--now` shows it, and sends it in any case. Returns the
    exit status."""
    config = settings.current()
    if options not in ([], ["--now"]):
        print("python3 -m tools notify [--now]", file=sys.stderr)
        return 2
    if not options and not config.notify_url:
        return 0
    with store.reading():
        # A Pi that was off at that hour sends it later.
        is_evening = f"{days.local(days.now()):%H:%M}" >= config.notify_evening
        time_of_day = "evening" if is_evening else "morning"
        notice_id = f"{days.today()} {time_of_day}"
    last_sent = state_path("notified")
    if not options and last_sent.exists() and last_sent.read_text("utf-8") == notice_id:
        return 0

    title, lines = _notice(time_of_day, cards_due)
    if options:
        print("\n".join([title, *lines]))
    status = 0
    if lines and config.notify_url:
        problem, status = _send(title, "\n".join(lines))
        if problem:
            print(f"pi-mcp: {problem}", file=sys.stderr)
    if not options and status == 0:
        replace_file(last_sent, notice_id)
    return status


def _notice(time_of_day: str, cards_due: Callable[[], int]) -> tuple[str, list[str]]:
    """The notice of the morning or the evening: a title and lines; without lines there is nothing to send."""
    # The state of the day.
    with store.reading() as db:
        today = days.today()
        view = present.View(db, today, today, today)
        agenda = present.agenda(view)
        habits = present.habits(view)["items"]
        entries = present.diary(view)["items"]

    # The things open today, one line per kind.
    pending = [habit["name"] for habit in habits if habit["today_status"] == "pending"]
    titles_by_kind = {"goal": [], "step": [], "habit": pending}
    for row in agenda["today"]:
        if not row["is_complete"]:
            titles_by_kind[row.get("kind", "step")].append(row["title"])
    lines = []
    for kind, titles in titles_by_kind.items():
        if not titles:
            continue
        line = words.count_in_words(len(titles), kind)
        if not settings.current().notify_private:
            few_titles = words.shortened(list(map(one_line, titles)), MOST_TITLES)
            line += f": {'; '.join(few_titles)}"
        lines.append(line)

    # The lines that only the evening or the morning has.
    if time_of_day == "evening":
        if not entries:
            lines.append(words.text_of("notice.diary"))
    else:
        late_kinds = Counter(row.get("kind", "step") for row in agenda["overdue"])
        counts = [words.count_in_words(count, kind) for kind, count in late_kinds.items()]
        if counts:
            lines.append(words.text_of("notice.overdue", late=", ".join(counts)))
        if cards := cards_due():
            lines.append(words.text_of("notice.cards", cards=words.count_in_words(cards, "card")))
    return words.text_of(f"notice.{time_of_day}", day=words.day_in_words(f"{today}")), lines


def _send(title: str, text: str) -> tuple[str, int]:
    """Send a notice to ntfy (text as the body), Gotify (an address that ends with /message) or any webhook
    (NOTIFY_BODY). Returns what went wrong, and the exit status."""
    # The request of the service.
    config = settings.current()
    url = config.notify_url
    address = urlsplit(url)
    content_type = "text/plain; charset=utf-8"
    template = config.notify_body or (GOTIFY if address.path.endswith("/message") else "")
    if not template:
        url += f"{'&' if '?' in url else '?'}title={quote(title)}"
        template = "{text}"
    elif template.lstrip().startswith("{"):
        content_type = "application/json"
        title = json.dumps(title)[1:-1]
        text = json.dumps(text)[1:-1]
    body = template.replace("{title}", title).replace("{text}", text)
    request = http.Request(url, "POST", body.encode(), {"Content-Type": content_type})

    # Its answer, or what went wrong.
    host = address.hostname
    bounds = http.Bounds(time.monotonic() + DEADLINE_S, LONGEST_ANSWER_BYTES)
    try:
        status = http.send(request, bounds).status
    except http.HttpError as error:
        # It may have arrived: better one notice less than one every ten minutes.
        if error.was_sent:
            return f"{host} did not answer: {error.reason}", 0
        return f"{host} cannot be reached: {error.reason}. It is tried again.", os.EX_TEMPFAIL
    if status in (429, 502, 503, 504):
        return f"{host} answered {status}. It is tried again.", os.EX_TEMPFAIL
    if status >= 300:
        return f"{host} answered {status}. Check NOTIFY_URL and NOTIFY_BODY.", 1
    return "", 0
