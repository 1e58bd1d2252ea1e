"""Requests to AnkiConnect: one connection each, one at a time across all sessions."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tools.anki import replies
from tools.anki.action_names import READING
from tools.anki.replies import Failure, Reply, Result, Unanswered
from tools.anki.settings import current
from tools.core import http, locks
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject

VERSION = 6
LONGEST_REPLY_BYTES = 64 * 1024 * 1024
ENTRY_S = 0.2
"""What each entry of a `multi` adds to the time allowed: a slow Pi adds a note in less."""

Action = tuple[str, JsonObject]


def call(action: str, *, extra_s: float = 0, **params: object) -> Result:
    """The result of one action; parameters that are None are left out.

    `extra_s` is waited beyond ANKI_CONNECT_TIMEOUT. Raises Failure.
    """
    return _result(entry(action, params), extra_s)


def multi(*actions: Action) -> list[Result]:
    """The result of each action, in one request and in order; for one that AnkiConnect refuses, the Refused.

    Raises Failure where the request as a whole fails.
    """
    if not actions:
        return []
    entries = [entry(action, params) for action, params in actions]
    answers = _result(entry("multi", {"actions": entries}), ENTRY_S * len(entries))
    return replies.results(answers, len(entries))


def results(*actions: Action) -> list[Result]:
    """As `multi`, but the first refusal is raised: for questions that belong together."""
    answers = multi(*actions)
    for answer in answers:
        if isinstance(answer, Failure):
            raise answer
    return answers


def raw(action: str, params: JsonObject, version: int) -> Result:
    """The result of any action with its parameters as they are."""
    return _result(_keyed({"action": action, "version": version, "params": params}), 0)


def entry(action: str, params: JsonObject) -> JsonObject:
    """One action as AnkiConnect reads it, alone or inside `multi`."""
    present = {name: value for name, value in params.items() if value is not None}
    return _keyed({"action": action, "version": VERSION, **({"params": present} if present else {})})


def _keyed(request: JsonObject) -> JsonObject:
    key = current().anki_connect_key
    return {**request, "key": key} if key else request


def _result(request: JsonObject, extra_s: float) -> Result:
    """The result in the answer to a request; of one that changes something, a failure says that it may have been done."""
    try:
        return replies.result(_exchange(request, extra_s), request["version"])
    except Unanswered as error:
        if not _only_reads(request):
            error.hint = f"{error.hint} {replies.UNKNOWN_OUTCOME}"
        raise


def _only_reads(request: object) -> bool:
    if not isinstance(request, dict):
        return False
    params = request.get("params")
    if request.get("action") == "multi" and isinstance(params, dict):
        entries = params.get("actions")
        return isinstance(entries, list) and all(map(_only_reads, entries))
    return isinstance(request.get("action"), str) and request["action"] in READING


def _exchange(request: JsonObject, extra_s: float) -> Reply:
    settings = current()
    timeout_s = settings.anki_connect_timeout_s + extra_s
    body = json.dumps(request).encode("ascii")
    post = http.Request(settings.anki_connect_url, "POST", body, {"Content-Type": "application/json"})
    with _one_at_a_time():
        try:
            response = http.send(post, http.Limits(time.monotonic() + timeout_s, LONGEST_REPLY_BYTES))
        except http.HttpError as error:
            raise replies.failure(error, timeout_s) from error
    return Reply(response.status, response.headers.get_content_type(), response.body)


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Wait until no other session talks to AnkiConnect, which answers one request at a time and lets five wait."""
    try:
        with locks.exclusive("ankiconnect"):
            yield
    except ToolError as error:
        if error.code != "BUSY":
            raise
        raise replies.busy() from error
