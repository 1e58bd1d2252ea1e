"""What the documentation says, in its own words: of ssh, to Debian's own sshd, from a computer without a key
to Anki over a link; of HTTP, switched on, asked with a token, withdrawn, shut."""

import json
import re
import signal
from contextlib import contextmanager
from pathlib import Path

from tests.lab.systemd.machine import STATE, in_a_shell, root, state, systemctl
from tests.support.backends import backends
from tests.support.client import PROJECT, Client, messages, rpc
from tests.support.http_server import HttpServer
from tests.support.services import is_listening

PAGES = ("README.md", "docs/clients.md", "docs/manual.md")
README = "\n".join((PROJECT / page).read_text("utf-8") for page in PAGES)
PASSWORD = "raspberry"
ANSWERS = f"#!/bin/sh\ncase $1 in *yes/no*) echo yes ;; *) echo {PASSWORD} ;; esac\n"
ANKI_PORT = 8765
REMOTE = (PROJECT / "docs" / "remote.md").read_text("utf-8")
SWITCH_ON, TOKEN, SHUT = re.findall(r"```sh\n(.*?)```", REMOTE, re.DOTALL)
# All but the lines of tailscale, which is not there.
SWITCH_ON = re.sub(r"(?m)^[^#\n]*tailscale .*\n", "", SWITCH_ON)
KEYS = STATE / "http-keys"
UNITS = ("pi-mcp-http.socket", "pi-mcp-http.service")


def from_the_docs(pattern):
    """The one text in the documentation that matches a pattern."""
    [match] = set(re.findall(pattern, README))
    return match


def the_client_s_words():
    entry = json.loads(from_the_docs(r"```json\n(\{[^`]+\})\n```"))["mcpServers"]["pi"]
    return [entry["command"], *entry["args"]]


def a_key_is_copied_and_a_session_starts():
    systemctl("start", "ssh")
    root("chpasswd", text=f"pi:{PASSWORD}\n")
    askpass = Path.home() / "askpass"
    askpass.write_text(ANSWERS, "utf-8")
    askpass.chmod(0o755)
    in_a_shell("ssh-keygen -q -t ed25519 -N '' -f ~/.ssh/id_ed25519")
    in_a_shell(
        from_the_docs(r"`(ssh-copy-id \w+@[^`]+)`"),
        SSH_ASKPASS=askpass,
        SSH_ASKPASS_REQUIRE="force",
    )
    root("usermod", "--lock", "pi")  # from here on the key alone opens
    with Client(the_client_s_words()) as client:
        client.initialize()
        assert client.call("greet", name="Pi")["isError"] is False


def windows_adds_its_key_to_those_there_are():
    in_a_shell("ssh-keygen -q -t ed25519 -N '' -f ~/.ssh/windows")
    add = from_the_docs(r"\.pub \| (ssh [^\n]+)")
    in_a_shell(f"sed 's/$/\\r/' ~/.ssh/windows.pub | {add}")  # PowerShell ends its lines so
    in_a_shell(
        "ssh -o BatchMode=yes -o IdentitiesOnly=yes -i ~/.ssh/windows pi@raspberrypi.local true"
    )


def nothing_is_printed_at_login():
    assert in_a_shell(from_the_docs(r"`(ssh -T [^`]+wc -c)`").replace("\\|", "|")) == "0\n"


def sshd_takes_the_line_about_broken_links():
    in_a_shell(from_the_docs(r"(printf 'ClientAlive[^\n]+)\n"))
    taken = root("/usr/sbin/sshd", "-T").lower().splitlines()
    assert "clientaliveinterval 15" in taken and "clientalivecountmax 3" in taken
    assert "streamlocalbindunlink yes" in taken


def several_clients_have_anki_each_through_a_socket_of_its_own_also_after_sleep():
    with backends(ANKI_PORT), anki_session("claude") as asleep:
        with anki_session("code") as other:
            assert decks(asleep) == decks(other) == ["Default"]
        asleep.process.send_signal(signal.SIGSTOP)
        with anki_session("claude") as awake:
            assert decks(awake) == ["Default"]


@contextmanager
def anki_session(name):
    """A session of the client `name`, which the README calls claude in its example."""
    words = the_client_s_words()
    words[-1:] = json.loads(from_the_docs(r'`("env", [^`]+)`').join("[]"))
    words[2:2] = json.loads(from_the_docs(r'`("-R", "/home[^`]+)`').join("[]"))
    with Client([word.replace("anki-claude", f"anki-{name}") for word in words]) as client:
        client.initialize()
        yield client


def decks(client):
    result = client.call("anki_list_decks")
    assert not result["isError"], result
    return [deck["name"] for deck in result["structuredContent"]["result"]]


def ask(token, method="tools/list", **params):
    """The status and the answer of the HTTP service, called by its public name."""
    host = re.search(r"https://([^/]+)/mcp", SWITCH_ON)[1]
    server = HttpServer()
    server.port = 8422
    status, headers, body = server.send(rpc(method, params), token=token, headers={"Host": host})
    return status, messages(headers, body)[-1].get("result")


def token_in(text):
    return re.search(r"(?m)^eyJ\S+$", text)[0]


def of_the_lines(word):
    """The command of the last block that has this word, without its comment."""
    [line] = [line for line in SHUT.splitlines() if word in line]
    return line.partition(" #")[0]


def switched_on_it_serves_who_has_a_token_until_that_is_revoked():
    assert re.search(r"(?m)^  \w{4}-\w{4}$", in_a_shell(SWITCH_ON)), "no invitation"
    printed = in_a_shell(TOKEN)
    token = token_in(printed)
    assert state("pi-mcp-http.socket") == "active"
    assert ask("none")[0] == 401
    status, answer = ask(token)
    names = {tool["name"] for tool in answer["tools"]}
    assert status == 200 and "preview_actions" in names and "search_docs" in names
    assert not any(name.startswith("anki") for name in names) and "sync_docs" not in names
    status, answer = ask(token, "tools/call", name="get_user_snapshot", arguments={})
    assert status == 200 and not answer["isError"]
    assert "A goal to keep" not in json.dumps(answer)  # which is of the user of stdio

    token_list = in_a_shell(of_the_lines("token list"))
    assert "anna" in token_list and "phone" in token_list
    token_id = re.search(r"id (\w{16})", printed)[1]
    in_a_shell(of_the_lines("token revoke").replace("ID", token_id))
    assert ask(token)[0] == 401


def a_restart_loses_nobody():
    token = token_in(in_a_shell(TOKEN))
    systemctl("restart", "pi-mcp-http.service")
    assert ask(token)[0] == 200


def debians_own_uvicorn_serves_as_well_from_trixie_on():
    token = token_in(in_a_shell(TOKEN))
    in_a_shell(
        "sudo apt-get -qq update && sudo apt-get -qq install -y --no-install-recommends python3-uvicorn"
    )
    in_a_shell("rm -rf .venv; ./setup.sh --http || true")  # its check finds no public address
    version = in_a_shell("python3 -c 'import uvicorn; print(uvicorn.__version__)'").strip()
    is_enough = [int(number) for number in version.split(".")[:2]] >= [0, 32]
    assert (PROJECT / ".venv").exists() != is_enough
    systemctl("restart", "pi-mcp-http.service")
    assert ask(token)[0] == 200


def shut_it_answers_nobody():
    in_a_shell(of_the_lines("systemctl stop"))
    assert [state(unit) for unit in UNITS] == ["inactive", "inactive"]
    assert not is_listening(8422)
    KEYS.unlink()  # else the check goes on to look for the public address, which there is not
