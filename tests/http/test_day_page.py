"""The page of the days as a phone's browser has it: 390 pixels wide, over HTTP, with no client around it."""

import pytest

from tests.onepercent.page.test_days_page import saved, says, tick, today
from tests.support.http_server import HttpServer
from tests.support.services import wait_until

pytestmark = pytest.mark.slow


def turned(tab, press):
    """Wait until the tab shows another page after `press`."""
    before = dict(tab.contexts)
    press()
    wait_until(lambda: tab.contexts != before)


class Phone:
    """A browser in front of a server, and the person who holds it: anna."""

    def __init__(self, browser, server):
        self.server = server
        self.origin = server.url.removesuffix("/mcp")
        self.tab = browser.open("about:blank", 390)
        turned(self.tab, lambda: self.tab.send("Page.navigate", url=f"{self.origin}/day"))
        self.token = server.token(scope="onepercent")

    def do(self, action, **params):
        self.server.do(self.token, action, **params)

    def data(self, section):
        """A section of the person's snapshot."""
        answer = self.server.content("get_user_snapshot", token=self.token, include=[section])
        return answer["data"][section]

    def calls(self):
        """How many calls the page has made."""
        return sum(url.endswith("/day/call") for url in self.tab.requests)

    def sign_in(self):
        self.wait("document.querySelector('#code')")
        code = self.server.invited()
        self.tab.click("#code")
        self.tab.type(f"{code[:4]}-{code[4:]}".lower())
        turned(self.tab, lambda: self.tab.key("Enter"))
        self.wait("document.querySelector('.tick')")

    def wait(self, condition):
        self.tab.wait(condition, host=True)


@pytest.fixture
def phone(browser):
    with HttpServer(ONEPERCENT_TZ="UTC") as server:
        holder = Phone(browser, server)
        holder.do("habit.create", name="Run")
        holder.do("habit.create", name="Water", target={"amount": 8, "unit": "glasses"})
        holder.do("habit.mark_completed", habit_id=1, date=today(-2))
        yield holder
        holder.tab.close()


def test_two_taps_tick_and_late_marks_amounts_and_undo_work_as_in_a_client(phone):
    phone.sign_in()
    tab = phone.tab
    assert tab.text("#ring") == "0/2"
    tab.click("#h1")
    says(tab, "Saved · +10 XP")
    assert tab.text("#ring") == "1/2"
    tick(tab, "#h1")
    assert tab.text("#ring") == "0/2"
    tab.click("#n2")
    phone.wait("document.querySelector('.panel input')")
    tab.click(".panel input")
    tab.type("3")
    tab.press("Add")
    saved(tab)
    assert "3/8 glasses" in tab.text("#body")
    tab.click(f"[id='t{today(-1)}']")
    phone.wait(f"data.day === '{today(-1)}'")
    tick(tab, "#h1")
    assert tab.run("document.documentElement.scrollWidth") <= 390
    rows = tab.run("data.habits.concat(data.others).map((it) => [it.name, it.signs.at(-1)])")
    assert ["Run", "+"] in rows
    run, water = phone.data("habits")["items"]
    assert (run["current_streak"], water["today_amount"]) == (2, 3)
    assert not tab.console
    assert {url.partition("/day")[0] for url in tab.requests} == {phone.origin}


def test_who_opens_it_again_sees_what_was_marked_elsewhere(phone):
    phone.sign_in()
    phone.do("habit.mark_completed", habit_id=1)
    phone.tab.run("document.dispatchEvent(new Event('visibilitychange'))")
    phone.wait("document.getElementById('h1').ariaPressed === 'true'")


def test_without_a_connection_it_says_so_and_goes_on_once_there_is_one(phone):
    phone.sign_in()
    network = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    phone.tab.send("Network.emulateNetworkConditions", offline=True, **network)
    phone.tab.click("#h1")
    says(phone.tab, "Your Pi does not answer. Are you online?")
    assert phone.tab.run("document.getElementById('h1').ariaPressed") == "false"
    phone.tab.send("Network.emulateNetworkConditions", offline=False, **network)
    tick(phone.tab, "#h1")


def test_a_revoked_phone_is_back_at_the_form_with_its_next_tap(phone):
    phone.sign_in()
    [row] = [row for row in phone.server.ledger.entries() if row["label"] == "/day"]
    phone.server.ledger.revoke(row["id"])
    turned(phone.tab, lambda: phone.tab.click("#h1"))
    phone.wait("document.querySelector('#code')")
    assert phone.data("xp")["balance"] == 10


def test_messages_and_clicks_that_are_not_the_persons_do_nothing(phone):
    phone.sign_in()
    count = phone.calls()
    phone.tab.run("""(() => {
      const data = { jsonrpc: "2.0", id: 9, method: "tools/call", params: { name: "tick_by_press",
        arguments: { action: "habit.mark_completed", id: 1, press_key: key } } };
      dispatchEvent(new MessageEvent("message", { data, source: null }));
      document.getElementById("h1").click();
    })()""")
    assert phone.tab.run("document.getElementById('h1').ariaPressed") == "false"
    tick(phone.tab, "#h1")
    assert phone.calls() == count + 1
