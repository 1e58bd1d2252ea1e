"""The pages of studying, anki.due and anki.stats, in a real browser, over a real collection."""

import os
import re
import struct
from urllib.parse import urlsplit

import pytest

from tests.anki.anki_helpers import add_many, add_note, add_notes, log, png
from tests.anki.anki_standin import StandIn
from tests.onepercent.page.test_screenshots import documented, shot
from tests.support.pages import Host, capable, shown

pytestmark = pytest.mark.slow

EVIL = (
    '<script>parent.parent.postMessage("run", "*")</script>'
    '<img src=x onerror="parent.postMessage(1)"><a href="WEB/">go</a>'
    '<meta http-equiv="refresh" content="0;url=WEB/"><link rel=stylesheet href="WEB/a.css">'
    '<iframe src="WEB/"></iframe><b style="background:url(WEB/b.png)">\u202eevil</b></script></body></html>'
    '"\'`${1}<svg onload="alert(1)"><form action="WEB/"><button>4</button></form>' + "x" * 500
)


HEADER = (836, b"WAVE", b"fmt ", 16, 1, 1, 8000, 8000, 1, 8, b"data", 800)
SILENCE = b"RIFF" + struct.pack("<I4s4sIHHIIHH4sI", *HEADER) + bytes(800)


@pytest.fixture
def client(anki):
    with capable(ANKI_CONNECT_URL=os.environ["ANKI_CONNECT_URL"]) as client:
        yield client


@pytest.fixture
def host(client):
    host = Host(client)
    yield host
    host.close()


@pytest.fixture
def study(browser, host, collection):
    """Opens the page of studying; its tabs are closed afterwards."""
    tabs = []

    def open_tab(width=390, locale="en-GB", **how):
        # Anki notes when a note was edited by the second: one of that of an answer may be later than it.
        collection.db.execute("update notes set mod = mod - 60")
        tab = shown(browser, host.url, "anki_due", {"deck": "Geo"}, width, locale=locale, **how)
        tabs.append(tab)
        tab.wait(
            "document.querySelector('.face, h2')"
            " || /chat|cards/.test(document.querySelector('#state').innerText)"
        )
        return tab

    yield open_tab
    for tab in tabs:
        tab.close()


def eases(collection):
    return [ease for _, ease in log(collection)]


# Nothing is on its way, and no card is left.
ENDED = "!work && !queue.length && document.querySelector('h2')"


def settled(tab):
    tab.wait("!work && !queue.length")


@pytest.mark.parametrize("faults", [{}, {3: "deny", 7: "lose", 15: "lose", 19: "deny"}], ids=len)
def test_twenty_cards_are_studied_in_few_requests_and_tokens_and_no_rating_is_lost_or_doubled(
    study, host, collection, faults
):
    """Also where the client denies calls and loses replies."""
    notes = add_many(collection, "Geo", 20)
    collection.tags.bulk_add(notes[:1], "leech")
    tab = study()
    for number in range(20):
        tab.wait("shown && !open")
        if number in faults:
            settled(tab)
            tab.run(f"given.{faults[number]} = 'once'", host=True)
        tab.key(" ")
        tab.wait("open")
        tab.key("4")
        if number in faults:
            tab.wait("trouble")
            tab.press("Try again")
    tab.wait(ENDED)

    assert sorted(log(collection)) == [(card, 4) for card in sorted(collection.find_cards(""))]
    assert "20 answers" in tab.text() and "Hard to learn: 1\nquestion 0" in tab.text()
    result = host.client.call("anki_due", deck="Geo")
    model_texts = [block["text"] for block in result["content"]] + tab.run("model", host=True)
    # 20 answers; how often more cards are asked for hangs on how fast one presses.
    assert tab.run("calls.length", host=True) <= 30 + len(faults)
    assert sum(map(len, model_texts)) / 4 <= 300
    assert tab.console == []


def test_a_card_rated_while_the_page_looks_for_more_is_not_shown_again(study, collection):
    add_many(collection, "Geo", 3)
    tab = study(slow=200)
    tab.run("open = true; rate(4)")
    tab.wait("work && !queue.length")  # the first is answered, more cards are asked for
    tab.run("open = true; rate(4); open = true; rate(4)")
    tab.wait(ENDED)
    assert len(log(collection)) == 3 and "3 answers" in tab.text()
    assert len(tab.run("model", host=True)) == 1


def test_a_rating_reaches_the_log_once_and_can_be_taken_back(study, anki, collection):
    """Pressed twice, with lost replies, with Anki closed, and undone."""
    add_many(collection, "Geo", 6)
    tab = study()
    tab.press("Show answer")
    anki.requests.clear()
    anki.faults = {1: "cut_after", 2: "cut_before"}
    tab.run("rate(3); rate(3); rate(1)")
    tab.wait("trouble")
    assert "did not work" in tab.text()
    anki.faults = {}
    tab.press("Try again")
    settled(tab)
    assert eases(collection) == [3]
    assert "Answered already" in tab.text()

    anki.addon._profile_open = False
    tab.press("Show answer")
    tab.press("Easy")
    tab.wait("trouble")
    anki.addon._profile_open = True
    tab.press("Try again")
    settled(tab)
    assert eases(collection) == [3, 4]

    tab.press("↩ Undo")
    tab.wait("open")
    assert eases(collection) == [3]
    x, y = tab.run(
        "(e => [e.x + 60, e.y + 40])(document.querySelector('iframe').getBoundingClientRect())"
    )
    # Into the card's frame, which must not keep the keys.
    for kind in ("mousePressed", "mouseReleased"):
        tab.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
    tab.wait("document.activeElement.tagName !== 'IFRAME'")
    tab.key("2")
    settled(tab)
    assert eases(collection) == [3, 2]
    assert tab.run("total()") == 6, "one was good, one hard: both come again today"


def test_a_card_runs_and_loads_nothing_and_shows_its_pictures_sounds_and_formulas(
    study, collection, web
):
    front = r'WEB \(\frac{a^2}{\sqrt{b_1}}\) \(\unknown{x}\) <img src="my%20map.png">[sound:a.wav]'
    add_notes(collection, "Geo", front.replace("WEB", EVIL).replace("WEB", web.url()))
    collection.media.write_data("my map.png", png(40, 30))
    collection.media.write_data("a.wav", SILENCE)
    tab = study()
    tab.press("Show answer")
    source = tab.run("document.querySelector('iframe').srcdoc")
    assert (
        re.search(r'src="data:image/png;base64,\w', source)
        and "<mfrac>" in source
        and r"\(\unknown{x}\)" in source
    )
    assert (
        "<script" not in source
        and "<link" not in source
        and "refresh" not in source.partition("</title>")[2]
    )
    assert tab.run("document.querySelector('iframe').getAttribute('sandbox').trim()") == ""
    assert tab.run("document.querySelectorAll('main img, main script').length") == 0
    tab.press("▶ 1")
    tab.wait("audio?.state === 'running' && audio.currentTime > 0")
    assert "did not work" not in tab.text()
    assert tab.run("document.documentElement.scrollWidth") <= 390
    assert web.seen == []
    assert tab.run("seen.every(message => message && message.jsonrpc)", host=True)


def test_the_page_passes_axe_and_asks_the_chat_to_explain(study, collection, axe):
    formula = r"\(x_{1,2} = \frac{-b \pm \sqrt{b^2-4ac}}{2a}\)"
    question = rf"What is it? {formula} <img src=map.png> \[\sum_{{i=1}}^n i\]"
    add_notes(collection, "Geo", question, "b")
    collection.media.write_data("map.png", png(200, 80))
    for locale, reveal, explain in (
        ("en-GB", "Show answer", "Explain"),
        ("ru-RU", "Показать ответ", "Объясни"),
    ):
        tab = study(320, locale=locale, theme="dark" if locale == "ru-RU" else "light")
        tab.press(reveal)
        assert axe(tab) == []
        tab.press(explain)
        tab.wait("model.length", host=True)
        assert "What is it?" in tab.run("model[0]", host=True) and "answer" in tab.run(
            "model[0]", host=True
        )


def inside(tab, expression):
    """The value of an expression in the frame of the card, whose own scripts do not run."""
    (page,) = tab.send("Page.getFrameTree")["frameTree"]["childFrames"]
    frame = page["childFrames"][-1]["frame"]["id"]
    world = tab.send("Page.createIsolatedWorld", frameId=frame)["executionContextId"]
    return tab.send("Runtime.evaluate", expression=expression, contextId=world, returnByValue=True)[
        "result"
    ].get("value")


TYPED = "Basic (type in the answer)"


def test_a_typed_answer_is_compared_letter_by_letter(study, collection):
    add_note(collection, "Geo", TYPED, "идти пешком", "ist gegangen[sound:a.wav]")
    add_note(collection, "Geo", TYPED, "b", "c")
    tab = study(locale="ru-RU")
    assert "[[type" not in inside(tab, "document.body.innerText")
    assert tab.run("document.activeElement.tagName") == "INPUT"
    tab.type("hat gegangen")
    tab.key("1")  # a digit is typed, not a rating
    tab.key("Enter")
    tab.wait("open")
    answer = inside(tab, "document.querySelector('code').innerHTML").replace(' class=""', "")
    assert answer == "<s>h</s><s>a</s><b>i</b><b>s</b>t gegangen<s>1</s>"
    tab.key("3")
    assert tab.run("document.querySelector('input').value") == "", (
        "the key is a rating, not an answer"
    )
    settled(tab)
    assert eases(collection) == [3]


def test_a_card_of_big_letters_is_whole_and_the_buttons_stay_at_one_place(study, collection):
    """Also with a typed card, a picture, a table and a card of two hundred lines."""
    big = "<div style='font-size: 64px'>" + "漢字かな<br>" * 6 + "<i>конец</i></div>"
    add_notes(
        collection,
        "Geo",
        "x",
        big,
        "<img src=map.png>",
        "<br>".join(map(str, range(200))),
        "ש" * 40,
    )
    add_note(collection, "Geo", TYPED, "a", "b")
    collection.media.write_data("map.png", png(900, 2000))
    tab = study()
    places = set()
    for number in range(6):
        tab.wait("shown && !open")
        if "漢字" in tab.run("shown.sides[0]"):
            assert inside(tab, "document.documentElement.scrollHeight > innerHeight"), (
                "it is scrolled to"
            )
            assert (
                inside(tab, "document.querySelector('i').getBoundingClientRect().top + scrollY")
                > 300
            )
            assert inside(tab, "document.body.getBoundingClientRect().top") >= 0, (
                "its top is not cut off"
            )
        places.add(tab.run("document.querySelector('.buttons').getBoundingClientRect().top"))
        tab.click(".buttons button")
        tab.wait("open")
        places.add(tab.run("document.querySelector('.buttons').getBoundingClientRect().top"))
        tab.click(".buttons button:nth-child(4)")
        tab.wait(f"past.length + queue.length === {number + 1}")
    assert len(places) == 1
    settled(tab)
    assert len(log(collection)) == 6


def test_an_occlusion_card_is_not_rated_and_a_script_is_said(study, collection):
    add_notes(collection, "Geo", "<script>document.title = 1</script>plain")
    add_notes(collection, "Geo", "<div id=image-occlusion-container><img src=map.png></div>")
    tab = study(locale="ru-RU")
    assert "Карточка со скриптом" in tab.text()
    tab.press("Показать ответ")
    tab.press("Легко")
    tab.wait("document.body.innerText.includes('закрывает части картинки')")
    assert tab.run("document.querySelectorAll('iframe').length") == 0, (
        "its picture gives the answer away"
    )
    tab.key("1")
    tab.press("Дальше")
    tab.wait(ENDED)
    assert len(log(collection)) == 1 and "Карточки с масками (1) ждут в Anki" in tab.text()


def test_the_answer_comes_into_sight_below_a_high_question(study, collection):
    add_notes(collection, "Geo", "<img src=tall.png>", "<br>".join(map(str, range(40))))
    collection.media.write_data("tall.png", png(300, 900))
    tab = study()
    before = tab.run("history.length")
    for _ in "ab":
        tab.wait("shown && !open")
        assert inside(tab, "scrollY") == 0
        tab.press("Show answer")
        tab.wait("document.querySelector('iframe').onload === null")
        top = inside(tab, "document.getElementById('answer').getBoundingClientRect().top")
        assert -1 <= top < 300, "the line above the answer is in sight"
        assert inside(tab, "scrollY") > 0
        tab.press("Easy")
    assert tab.run("history.length") == before


def test_a_table_keeps_its_words_and_a_long_word_stays_in_the_card(study, collection):
    cells = "".join(
        f"<td>{word}" for word in ("Nom", "der", "Maskulinum", "Femininum", "Neutrum", "Plural")
    )
    add_notes(collection, "Geo", f"<table><tr>{cells}</table><p>{'x' * 90}</p>")
    tab = study(320)
    assert inside(
        tab, "[...document.querySelectorAll('td')].every(it => it.getClientRects()[0].height < 40)"
    )
    assert inside(tab, "document.querySelector('p').getBoundingClientRect().width") <= 320


def test_letters_twice_as_large_leave_every_button_on_a_small_screen(study, collection, tmp_path):
    add_notes(collection, "Geo", "a")
    tab = study(320, locale="ru-RU")
    tab.press("Показать ответ")
    shot(tab, tmp_path / "study-320-32.png", 32)
    assert tab.run("document.documentElement.scrollWidth") <= 320
    buttons = "[...document.querySelectorAll('button')]"
    right = f"Math.max(...{buttons}.map(it => it.getBoundingClientRect().right))"
    assert tab.run(right) <= 320


def test_formulas_are_drawn_and_what_cannot_be_drawn_is_said(study, collection):
    add_notes(collection, "Geo", r"\(\vec{a} + \overline{b} \in \mathbb{R}\)", r"\(\ce{H2O}\)")
    tab = study(locale="ru-RU")
    seen = set()
    for _ in "ab":
        tab.wait("shown && !open")
        text = inside(tab, "document.body.innerHTML")
        is_drawn = "<math" in text
        assert is_drawn == ("ce{" not in text)
        assert is_drawn != ("показана в записи TeX" in tab.text())
        assert not is_drawn or ("ℝ" in text and "→" in text)
        seen.add(is_drawn)
        tab.press("Показать ответ")
        tab.press("Легко")
    assert seen == {True, False}


def test_sound_plays_when_the_answer_is_shown_and_by_the_key_r(study, collection):
    add_note(collection, "Geo", "Basic", "q", "[sound:a.wav]")
    collection.media.write_data("a.wav", SILENCE)
    tab = study()
    tab.press("Show answer")
    tab.wait("audio?.state === 'running' && audio.currentTime > 0")
    count = "{ apply: (make, it) => (audio.started++, make.call(it)) }"
    tab.run(
        "audio.started = 0,"
        f" audio.createBufferSource = new Proxy(audio.createBufferSource, {count}), 0"
    )
    tab.key("r")
    tab.wait("audio.started === 1")
    assert "did not work" not in tab.text()


def test_without_anki_the_page_says_what_to_do_and_tries_again(
    browser, host, anki, collection, axe
):
    add_notes(collection, "Geo", "a")
    port = urlsplit(anki.url).port
    for tool, ready in (("anki_due", "shown"), ("anki_stats", "answer")):
        anki.close()
        tab = shown(browser, host.url, tool, {"deck": "Geo"}, 390, locale="ru-RU")
        tab.wait("document.querySelector('h1').textContent.includes('Anki не отвечает')")
        assert "Откройте Anki" in tab.text() and axe(tab) == []
        anki = StandIn(collection, port=port)
        tab.press("Попробовать снова")
        tab.wait(ready)
        tab.close()
    anki.close()


def test_a_press_needs_its_key_and_the_model_has_none(client, anki, collection):
    add_notes(collection, "Geo", "a")
    result = client.call("anki_due", deck="Geo")
    (card,) = result["_meta"]["pi-mcp/cards"]
    key = result["_meta"]["pi-mcp/press"]
    rating = {"cardId": card["cardId"], "ease": 3, "seen": card["seen"]}

    def press(key):
        return client.call("anki_answer_by_press", **rating, press_key=key)["structuredContent"]

    assert key not in str(result["content"])
    assert "answer" not in result["content"][0]["text"]
    assert press("guess")["code"] == "NOT_PRESSED"
    assert press(key)["answered"] == press(key)["answered"] == 1
    assert len(log(collection)) == 1
    assert "answer" in client.call("anki_due", deck="Geo", asText=True)["content"][0]["text"]


def test_how_studying_goes_can_be_looked_at(browser, host, anki, collection, axe):
    hostile = "<img src=x onerror=\"parent.seen.push('run')\">"
    add_many(collection, "Geo", 9)
    add_notes(collection, "Geo", hostile)
    add_notes(collection, f"Geo::{hostile}", "deep")
    anki.addon.answerCards(
        [{"cardId": card, "ease": 3} for card in collection.find_cards("deck:Geo")[:4]]
    )
    collection.tags.bulk_add(collection.find_notes("onerror"), "leech")
    for theme, width, locale, words, none in (
        ("light", 320, "en-GB", "answers today", "No answers in 30 days"),
        ("dark", 720, "ru-RU", "4\nответа сегодня\n1\nдень подряд", "За 30 дней ответов нет"),
    ):
        tab = shown(
            browser, host.url, "anki_stats", {"deck": "Geo"}, width, theme=theme, locale=locale
        )
        tab.wait("document.querySelector('.bars')")
        text = tab.text()
        assert words in text.lower()
        assert hostile in text
        assert tab.run("document.querySelectorAll('.bars i').length") == 30
        assert tab.run("document.querySelectorAll('img, main script').length") == 0
        assert tab.run("document.documentElement.scrollWidth") <= width
        assert axe(tab) == []
        assert tab.run("seen.includes('run')", host=True) is False
        assert [url for url in tab.requests if not url.startswith(host.url)] == []
        axis = tab.text(".axis")
        for zone in ("Pacific/Kiritimati", "Pacific/Honolulu"):
            tab.send("Emulation.setTimezoneOverride", timezoneId=zone)
            tab.run("draw()")
            assert tab.text(".axis") == axis, "the days are those of the server"
        tab.run("(answer.perDay.fill(0), draw())")
        assert none in tab.text()
        assert tab.console == []
        tab.close()


VERBS = {
    "ru": ("Немецкий::A2::Глаголы", "идти пешком<br><small>(перфект)</small>", "сад", "мост"),
    "en": ("German::A2::Verbs", "to walk<br><small>(perfect)</small>", "the garden", "the bridge"),
}


@pytest.mark.skipif(
    "PI_MCP_SCREENSHOTS" not in os.environ, reason="writes the documentation's pictures"
)
@pytest.mark.parametrize("language", ["ru", "en"])
def test_the_pictures_of_the_documentation(browser, host, anki, collection, tmp_path, language):
    deck, front, *others = VERBS[language]
    back = "ist gegangen<br><br><small>Ich bin zu Fuß <b>gegangen</b>.</small>[sound:a.wav]"
    add_note(collection, deck, TYPED, front, back)
    add_notes(collection, deck, *others, *map(str, range(9)))
    collection.media.write_data("a.wav", SILENCE)
    cards = collection.find_cards("")
    anki.addon.answerCards([{"cardId": card, "ease": 1} for card in cards[-3:]])
    collection.sched.set_due_date(cards[3:8], "0")
    for theme in ("light", "dark"):
        tab = shown(
            browser, host.url, "anki_due", {"deck": deck}, 390, locale=language, theme=theme
        )
        tab.wait("shown")
        tab.run(
            "(cards = [shown, ...cards], cards.sort((one, other) => !!other.typed - !!one.typed), 0)"
        )
        tab.run(
            "(next(), typed = 'ist gegengen', open = true, past = Array(12), spent = 170000, draw())"
        )
        documented(tab, tmp_path, "study", theme, language)
        tab.close()
