"""Public search engines: a service that answers as each one's documentation says."""

import json
import re
from datetime import date, timedelta
from functools import partial
from urllib.parse import parse_qsl, urlsplit

import pytest

from tests.search.test_search_tool import KEY, search
from tests.support.client import cases
from tools.core.errors import ToolError
from tools.search import engines, services

LONG = "Klipper &amp; <b>bed mesh</b> " * 40
CUT = ("Klipper & bed mesh " * 40)[:600] + "…"
# Of each engine: the page of its documentation, its key in a request, the parameters of a first and of a second
# page of three results, the documented answer, the result that it is, an error's status, body and words.
DOCUMENTED_TEXT = """
searxng
https://docs.searxng.org/dev/search_api.html
""
{"q": "bed mesh", "format": "json"}
{"pageno": 2}
{"results": [{"url": "https://a/1", "title": "A", "content": "LONG", "score": 4.0, "rank": 1, "parsed_url": ["a"]}]}
{"title": "A", "url": "https://a/1", "snippet": "CUT", "score": 4.0}
429
"<html>Too Many Requests</html>"
""

brave
https://api-dashboard.search.brave.com/api-reference/web/search/get
"X-Subscription-Token: s3cret-key"
{"q": "bed mesh", "count": 3}
{"offset": 1}
{"type": "search", "web": {"results": [{"title": "A", "url": "https://a/1", "description": "LONG", "rank": 1}]}}
{"title": "A", "url": "https://a/1", "snippet": "CUT"}
422
{"error": {"code": "VALIDATION", "detail": "Unable to validate request"}}
"Unable to validate request"

kagi
https://kagi.com/api/docs/openapi/search
"Authorization: Bearer s3cret-key"
{"query": "bed mesh", "limit": 3}
{"page": 2}
{"meta": {"ms": 1}, "data": {"search": [{"url": "https://a/1", "title": "A", "snippet": "LONG", "rank": 1}]}}
{"title": "A", "url": "https://a/1", "snippet": "CUT"}
401
{"error": [{"code": 2, "msg": "Unauthorized"}]}
"Unauthorized"

serper
https://serper.dev/playground
"X-API-KEY: s3cret-key"
{"q": "bed mesh", "num": 3}
{"page": 2}
{"searchParameters": {}, "organic": [{"title": "A", "link": "https://a/1", "snippet": "LONG", "position": 1}]}
{"title": "A", "url": "https://a/1", "snippet": "CUT"}
403
{"message": "Unauthorized.", "statusCode": 403}
"Unauthorized."

tavily
https://docs.tavily.com/documentation/api-reference/endpoint/search
"Authorization: Bearer s3cret-key"
{"query": "bed mesh", "max_results": 3}
{}
{"results": [{"title": "A", "url": "https://a/1", "content": "LONG", "score": 0.81, "raw_content": null}]}
{"title": "A", "url": "https://a/1", "content": "CUT", "score": 0.81}
401
{"detail": {"error": "Unauthorized: missing or invalid API key."}}
"missing or invalid API key"

exa
https://exa.ai/docs/reference/search
"x-api-key: s3cret-key"
{"query": "bed mesh", "numResults": 3, "contents": {"text": {"maxCharacters": 3000}}}
{}
{"requestId": "b5", "results": [{"title": "A", "url": "https://a/1", "id": "https://a/1", "text": "LONG"}]}
{"title": "A", "url": "https://a/1", "content": "CUT"}
400
{"requestId": "b5", "error": "Invalid request body", "tag": "INVALID_REQUEST"}
"Invalid request body"

google
https://developers.google.com/custom-search/v1/reference/rest/v1/cse/list
"?key=s3cret-key"
{"q": "bed mesh", "num": 3}
{"start": 4}
{"kind": "customsearch#search", "items": [{"title": "A", "link": "https://a/1", "snippet": "LONG", "kind": "x"}]}
{"title": "A", "url": "https://a/1", "snippet": "CUT"}
429
{"error": {"code": 429, "message": "Quota exceeded", "errors": [{"reason": "x"}]}}
"Quota exceeded"
"""


def documented():
    """The documentation of each engine by its name, without the page's address."""
    text = DOCUMENTED_TEXT.replace('"LONG"', json.dumps(LONG)).replace('"CUT"', json.dumps(CUT))
    for engine in text.split("\n\n"):
        name, _, rest = engine.strip().partition("\n")
        _, *values = rest.split("\n")
        yield name, list(map(json.loads, values))


DOCUMENTED = dict(documented())
every_engine = pytest.mark.parametrize("kind", DOCUMENTED)


def test_every_engine_is_tried_with_its_documented_answer():
    assert DOCUMENTED.keys() == {engine.kind for engine in engines.ENGINES}


@pytest.fixture
def searching_with(upstream, env):
    """A function that sets the kind of engine. It returns one that searches and gives the answer, the key
    and the parameters of the request."""

    def start(kind):
        env(SEARCH_API_KIND=kind, SEARCH_API_URL=f"{upstream.url}/search?cx=1")

        def ask(**arguments):
            answer = search(query="bed mesh", **arguments)
            _, path, headers, body = upstream.seen.pop()
            parameters = dict(parse_qsl(urlsplit(path).query))
            assert parameters.pop("cx") == "1"
            keys = [f"{name}: {value}" for name, value in headers.items() if KEY in value]
            keys += [f"?{name}={value}" for name, value in parameters.items() if value == KEY]
            others = {
                name: int(value) if value.isdigit() else value
                for name, value in parameters.items()
                if value != KEY
            }
            return answer, "".join(keys), body or others

        return ask

    return start


@every_engine
def test_an_engine_is_asked_and_read_as_it_documents(upstream, searching_with, env, kind):
    key, first, second, answer, result, *_ = DOCUMENTED[kind]
    ask = searching_with(kind)
    upstream.answers(answer)
    env(SEARCH_API_KEY=KEY if key else "")
    page, header, parameters = ask(limit=3)
    assert page["results"] == [result]
    assert (header.casefold(), parameters) == (key.casefold(), first)
    if second:
        assert ask(limit=3, cursor="2")[2] == first | second


@every_engine
def test_ten_results_fit_a_conversation_unless_all_is_asked_for(upstream, searching_with, kind):
    answer = DOCUMENTED[kind][3]
    ask = searching_with(kind)
    # The one result of the documented answer.
    [member] = re.findall(r"\[(\{.*\})\]", json.dumps(answer))
    upstream.answers(json.dumps(answer).replace(member, ", ".join([member] * 10)))
    results = ask(limit=10)[0]["results"]
    assert (len(results), len(ask()[0]["results"])) == (10, 5)
    assert len(json.dumps(results)) < 10 * 800
    whole = ask(full=True)[0]["results"][0]
    assert whole.keys() >= json.loads(member).keys()
    assert max(len(value) for value in whole.values() if isinstance(value, str)) > 700


def test_a_score_of_zero_is_kept():
    answer = {"results": [{"url": "https://a/1", "title": "A", "content": "", "score": 0}]}
    results = services.results_of(engines.ENGINES[0], answer, 5, "1", full=False)["results"]
    assert results == [{"title": "A", "url": "https://a/1", "score": 0.0}]


@every_engine
def test_nothing_found_is_not_an_error_and_an_error_has_the_engines_words(
    upstream, searching_with, kind
):
    *_, status, body, words = DOCUMENTED[kind]
    ask = searching_with(kind)
    upstream.answers({"query": "bed mesh"})
    assert ask()[0] == {"results": [], "nextCursor": None}
    upstream.answers(body, status)
    refusal = ask()[0]
    assert refusal["code"] in ("SEARCH_REFUSED", "SEARCH_UNAUTHORIZED", "RATE_LIMITED")
    assert str(status) in refusal["error"] and words in refusal["error"]


ADDRESSES = """
https://api.search.brave.com/res/v1/web/search | auto | X-Subscription-Token:
https://kagi.com/api/v0/search | auto | Authorization: Bot
https://proxy.example/kagi | kagi | Authorization: Bearer
https://www.googleapis.com/customsearch/v1?cx=1 | auto | ?key
https://api.tavily.com/search | json | none
https://n8n.example/webhook/x | auto | none
"""


def test_the_address_names_the_engine_unless_the_setting_does(env):
    for address, kind, key in cases(ADDRESSES):
        env(SEARCH_API_URL=address, SEARCH_API_KIND=kind)
        chosen = services.chosen_engine()
        assert (chosen.key.strip() if chosen else "none") == key


def test_pages_follow_by_cursor_where_there_are_more(upstream, searching_with):
    ask = searching_with("brave")
    upstream.answers({"web": {"results": [{"title": "A", "url": "https://a"}] * 5}})
    assert ask()[0]["nextCursor"] == "2"
    assert ask(limit=6)[0]["nextCursor"] is None
    for cursor in ("next", "0"):
        assert search(query="x", cursor=cursor)["code"] == "INVALID_CURSOR"


# The parameter of each engine for a time range; null: it documents none.
TIME_RANGES = f"""
searxng | week | null
searxng | year | {{"time_range": "year"}}
brave | week | {{"freshness": "pw"}}
brave | year | {{"freshness": "py"}}
kagi | week | null
serper | week | {{"tbs": "qdr:w"}}
serper | year | {{"tbs": "qdr:y"}}
tavily | week | {{"time_range": "week"}}
tavily | year | {{"time_range": "year"}}
exa | week | {{"startPublishedDate": "{date.today() - timedelta(7)}"}}
exa | year | {{"startPublishedDate": "{date.today() - timedelta(366)}"}}
google | week | {{"dateRestrict": "w1"}}
google | year | {{"dateRestrict": "y1"}}
"""


def test_every_engine_is_asked_for_a_time_range():
    assert {kind for kind, *_ in cases(TIME_RANGES)} == DOCUMENTED.keys()


@pytest.mark.parametrize("kind, time_range, sent", cases(TIME_RANGES))
def test_a_time_range_is_sent_as_the_engine_documents_it_or_refused(kind, time_range, sent):
    engine = next(engine for engine in reversed(engines.ENGINES) if engine.kind == kind)
    parameters = partial(services.parameters, engine, "bed mesh", 3, "1")
    if sent == "null":
        with pytest.raises(ToolError, match="no time range"):
            parameters(time_range)
    else:
        assert parameters(time_range) == parameters() | json.loads(sent)
