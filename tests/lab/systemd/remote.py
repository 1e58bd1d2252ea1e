"""What the README says of ssh, in its own words, to Debian's own sshd: from a computer without a key to Anki over a link."""

import json
import re
import signal
from contextlib import contextmanager
from pathlib import Path

from tests.lab.systemd.machine import in_a_shell, root, systemctl
from tests.support.backends import backends
from tests.support.client import PROJECT, Client

PAGES = ("README.md", "docs/clients.md", "docs/manual.md")
README = "\n".join((PROJECT / page).read_text(encoding="utf-8") for page in PAGES)
PASSWORD = "raspberry"
ANSWERS = f"#!/bin/sh\ncase $1 in *yes/no*) echo yes ;; *) echo {PASSWORD} ;; esac\n"
ANKI_PORT = 8765


def told(pattern):
    """The one thing that the README has for a pattern."""
    [found] = set(re.findall(pattern, README))
    return found


def the_client_s_words():
    given = json.loads(told(r"```json\n(\{[^`]+\})\n```"))["mcpServers"]["pi"]
    return [given["command"], *given["args"]]


def a_key_is_copied_and_a_session_starts():
    systemctl("start", "ssh")
    root("chpasswd", text=f"pi:{PASSWORD}\n")
    askpass = Path.home() / "askpass"
    askpass.write_text(ANSWERS, encoding="utf-8")
    askpass.chmod(0o755)
    in_a_shell("ssh-keygen -q -t ed25519 -N '' -f ~/.ssh/id_ed25519")
    in_a_shell(told(r"`(ssh-copy-id \w+@[^`]+)`"), SSH_ASKPASS=askpass, SSH_ASKPASS_REQUIRE="force")
    root("usermod", "--lock", "pi")  # from here on the key alone opens
    with Client(the_client_s_words()) as client:
        client.initialize()
        assert client.call("greet", name="Pi")["isError"] is False


def windows_adds_its_key_to_those_there_are():
    in_a_shell("ssh-keygen -q -t ed25519 -N '' -f ~/.ssh/windows")
    add = told(r"\.pub \| (ssh [^\n]+)")
    in_a_shell(f"sed 's/$/\\r/' ~/.ssh/windows.pub | {add}")  # PowerShell ends its lines so
    in_a_shell("ssh -o BatchMode=yes -o IdentitiesOnly=yes -i ~/.ssh/windows pi@raspberrypi.local true")


def nothing_is_printed_at_login():
    assert in_a_shell(told(r"`(ssh -T [^`]+wc -c)`").replace("\\|", "|")) == "0\n"


def sshd_takes_the_line_about_broken_links():
    check = told(r"`(python3 server.py --check --ssh [^`]+)`")
    assert "does not notice a cut link" in in_a_shell(check)
    in_a_shell(told(r"(printf 'ClientAlive[^\n]+)\n"))
    taken = root("/usr/sbin/sshd", "-T").lower().splitlines()
    assert {"clientaliveinterval 15", "clientalivecountmax 3", "streamlocalbindunlink yes"} <= set(taken)
    said = in_a_shell(check)
    assert "does not notice" not in said and "✗" not in said


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
    words[-1:] = json.loads(told(r'`("env", [^`]+)`').join("[]"))
    words[2:2] = json.loads(told(r'`("-R", "/home[^`]+)`').join("[]"))
    with Client([word.replace("anki-claude", f"anki-{name}") for word in words]) as client:
        client.initialize()
        yield client


def decks(client):
    result = client.call("anki_list_decks")
    assert not result["isError"], result
    return [one["name"] for one in result["structuredContent"]["result"]]
