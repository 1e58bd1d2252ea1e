"""What docs/remote.md says, in its own words, under a real systemd: switched on, asked with a token, withdrawn, shut."""

import json
import re
import urllib.error
import urllib.request

from tests.lab.systemd.machine import STATE, TIMEOUT_S, in_a_shell, state, systemctl
from tests.support.client import HEADERS, PROJECT, messages

PAGE = (PROJECT / "docs" / "remote.md").read_text(encoding="utf-8")
SWITCH_ON, TOKEN, SHUT, _ = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
SWITCH_ON = "".join(line for line in SWITCH_ON.splitlines(keepends=True) if "tailscale " not in line.partition("#")[0])
KEYS = STATE / "http-keys"
UNITS = ("pi-mcp-http.socket", "pi-mcp-http.service")


def ask(token, method="tools/list", **params):
    """The status, and what the service of HTTP answers to who calls it by its public name."""
    host = re.search(r"https://([^/]+)/mcp", SWITCH_ON)[1]
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    headers = {**HEADERS, "Host": host, "Authorization": f"Bearer {token}"}
    request = urllib.request.Request("http://127.0.0.1:8422/mcp", body, headers)
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
            found = {name.lower(): value for name, value in answer.headers.items()}
            return answer.status, messages(found, answer.read())[-1]["result"]
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def of_the_lines(word):
    """The command of the last block that has this word, without what it says behind it."""
    [line] = [line for line in SHUT.splitlines() if word in line]
    return line.partition(" #")[0]


def switched_on_it_serves_who_has_a_token_until_that_is_revoked():
    assert re.search(r"^  \w{4}-\w{4}$", in_a_shell(SWITCH_ON), re.MULTILINE), "no invitation"
    said = in_a_shell(TOKEN)
    token = re.search(r"^(eyJ\S+)$", said, re.MULTILINE)[1]
    assert state("pi-mcp-http.socket") == "active"
    assert ask("none")[0] == 401
    status, answer = ask(token)
    names = {one["name"] for one in answer["tools"]}
    assert status == 200 and "preview_actions" in names and "search_docs" in names
    assert not any(name.startswith("anki") for name in names) and "sync_docs" not in names
    status, answer = ask(token, "tools/call", name="get_user_snapshot", arguments={})
    assert status == 200 and not answer["isError"]
    assert "A goal to keep" not in json.dumps(answer)  # which is of the user of stdio

    listed = in_a_shell(of_the_lines("token list"))
    assert "anna" in listed and "phone" in listed
    number = re.search(r"id (\w{16})", said)[1]
    in_a_shell(of_the_lines("token revoke").replace("ID", number))
    assert ask(token)[0] == 401


def a_restart_loses_nobody():
    token = re.search(r"^(eyJ\S+)$", in_a_shell(TOKEN), re.MULTILINE)[1]
    systemctl("restart", "pi-mcp-http.service")
    assert ask(token)[0] == 200


def shut_it_answers_nobody():
    in_a_shell(of_the_lines("systemctl stop"))
    assert [state(unit) for unit in UNITS] == ["inactive", "inactive"]
    try:
        ask("none")
    except urllib.error.URLError as error:
        assert isinstance(error.reason, ConnectionRefusedError)
    else:
        raise AssertionError("it is answered")
    KEYS.unlink()  # else the check goes on to look for the public address, which there is not
