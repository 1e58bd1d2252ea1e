"""The README holds: its table, its snippets, its example."""

import json
import os
import re
import shlex
import sys
import zipfile

import pytest

try:
    import tomllib
except ImportError:  # Python 3.10
    import tomli as tomllib

from tests.klipper.config.sample import CHANGES, REFERENCE
from tests.onepercent.person import act, do
from tests.support.air import check_cap
from tests.support.client import PROJECT, finished
from tests.support.installing import copy_of_the_project
from tools import connect
from tools.__main__ import settings_table
from tools.core import registry
from tools.core.tool import TOOLS
from tools.onepercent.base import texts

READMES = ["README.md", "README.ru.md"]
MANUALS = ["docs/manual.md", "docs/manual.ru.md"]


registry.load()


def text(name="README.md"):
    return (PROJECT / name).read_text("utf-8")


def blocks(language, name):
    return re.findall(rf"^```{language}\n(.*?)^```$", text(name), re.MULTILINE | re.DOTALL)


def rows(table):
    return [line[2:-2].split(" | ") for line in table.splitlines() if line.startswith("| `")]


def test_the_settings_table_is_the_generated_one():
    generated = f"<!-- python3 -m tools settings -->\n{settings_table()}\n<!-- end -->"
    assert generated in text("docs/manual.md")


def test_the_russian_table_has_the_same_settings_and_defaults():
    english = rows(settings_table())
    russian = {row[0]: row for row in rows(text("docs/manual.ru.md"))}
    for name, default, words in english:
        _, russian_default, russian_words = russian[name]
        assert russian_default == default
        assert choices(russian_words) == choices(words), name


def choices(words):
    return {*re.findall("`[a-z]+`", words)}


@pytest.mark.parametrize("name", READMES)
def test_every_client_starts_the_server_by_the_same_command(name):
    [config] = map(json.loads, blocks("json", name))
    printed = connect.clients_text(*connect.EXAMPLE_TARGET[:2])
    assert config == json.loads(printed.splitlines()[-1])
    lines = re.findall(r"^(?:claude|code|gemini) .+|^export .+", text(name), re.MULTILINE)
    assert len(lines) == 4
    assert all(line in printed for line in [*lines, *blocks("toml", name)])


def test_the_lines_of_all_clients_are_one_command():
    printed = connect.clients_text("anna@pi.local", "/home/anna/pi-mcp/server.py")
    command = ["ssh", *connect.SSH_OPTIONS, "anna@pi.local", "/home/anna/pi-mcp/server.py"]
    toml = re.search(r"\[mcp_servers.pi\].*?(?=\n\nClaude Desktop)", printed, re.DOTALL)[0]
    codex = tomllib.loads(toml)["mcp_servers"]["pi"]
    [vs_code] = re.findall(r"code --add-mcp '(.+)'", printed)
    for config in (codex, json.loads(vs_code)):
        assert [config["command"], *config["args"]] == command
    shell = re.findall(r"(?:claude|gemini) mcp add --scope user pi (?:-- )?(.+)", printed)
    assert [shlex.split(line.replace(" -- ", " ")) for line in shell] == [command, command]
    assert codex["required"]


# The files of the example, in the order in which docs/add_a_tool.md shows them.
CODE = ["tools/pi/__init__.py", "tools/pi/temperature.py", "tests/pi/test_temperature.py"]


@pytest.mark.slow
def test_the_example_of_the_guide_copied_to_the_letter_passes_the_tests(tmp_path):
    project = copy_of_the_project(tmp_path / "pi-mcp")
    for name, source in zip(CODE, blocks("python", "docs/add_a_tool.md"), strict=True):
        assert f"`{name}`" in text("docs/add_a_tool.md")
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text(source, "utf-8")
    for name, row in zip(READMES, blocks("markdown", "docs/add_a_tool.md"), strict=True):
        last = re.search(r"^\| `server` .*\n", text(name), re.MULTILINE)[0]
        (project / name).write_text(text(name).replace(last, last + row), "utf-8")

    def run(*words):
        done = finished([sys.executable, *words], cwd=project, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run("tests/golden.py")
    everything_that_loops = map(str, sorted(project.glob("tests/test_*.py")))
    default = ["-n", "0", "-p", "no:cacheprovider", "-m", "not slow and not smoke"]
    run("-m", "pytest", *default, "tests/pi", *everything_that_loops)
    assert "pi_temperature " in run("-m", "tools", "list")


@pytest.mark.slow
@pytest.mark.parametrize("name", MANUALS)
def test_every_command_of_the_shell_runs(name, env, small_docs):
    home = env() / "home"
    config = home / "printer_data" / "config"
    config.mkdir(parents=True)
    (config / "printer.cfg").write_text("[printer]\nkinematics: none\n")
    small_docs({"Config_Reference.md": REFERENCE, "Config_Changes.md": CHANGES})
    small_docs({"G-Codes.md": "# G-Codes\n", "BLTouch.md": "# BLTouch\n"})
    with zipfile.ZipFile(home / "FILE.zip", "w") as export_of_loop:
        export_of_loop.writestr("Habits.csv", "Position\n")
    # The manual's report is of March: a period of which nothing is kept is an error.
    do(act("diary.create_entry", what_done="x", date="2026-03-01"))
    commands = re.findall(r"`python3 -m tools ([^`]+)`", text(name))
    commands.append("onepercent history 31")
    assert len(commands) > 10
    for command in commands:
        environ = {**os.environ, "PYTHONPATH": str(PROJECT)}
        done = finished(["sh", "-c", f"{sys.executable} -m tools {command}"], cwd=home, env=environ)
        assert done.returncode == 0, (command, done.stdout, done.stderr)


@pytest.mark.parametrize("name", READMES)
def test_every_tool_is_in_the_table_of_its_toolset(name):
    table = dict(row for row in rows(text(name)) if len(row) == 2)
    for tool in TOOLS.values():
        assert tool.app_only or f"`{tool.listed_name}`" in table[f"`{tool.toolset}`"]


def test_the_picture_is_of_tools_that_there_are():
    names = set(re.findall(r">→ (\w+) ", text("docs/conversation.svg")))
    assert names and names <= {tool.listed_name for tool in TOOLS.values()}


TROUBLE = "## Trouble|## When it does not work|## Если"


@pytest.mark.parametrize("page", ["manual", "remote"])
def test_every_symptom_is_explained_in_both_languages(page):
    counts = []
    for ending in (".md", ".ru.md"):
        section = re.split(TROUBLE, text(f"docs/{page}{ending}"))[1].split("\n## ")[0]
        counts.append(section.count("\n| "))
    assert counts[0] == counts[1] > 10


def anchors(page):
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


# A link or a picture of Markdown, or of HTML in it.
LINK = r"(?:\]\(|src(?:set)?=\")(?!http)([^)\"]+)[)\"]"


def test_what_the_documents_link_to_is_there():
    for page in [*PROJECT.glob("*.md"), *PROJECT.glob("docs/*.md")]:
        for link in re.findall(LINK, page.read_text("utf-8")):
            file, _, anchor = link.partition("#")
            target = page.parent / file if file else page
            assert target.exists(), (page, link)
            assert not anchor or anchor in anchors(target), (page, link)


@pytest.mark.parametrize("name", READMES)
@pytest.mark.filterwarnings("default:a cap")
def test_the_readme_is_short(name):
    check_cap(name, len(text(name).split()), 1060)


@pytest.mark.filterwarnings("default:a cap")
def test_the_changes_of_a_version_fit_on_a_screen():
    versions = text("CHANGELOG.md").split("\n## ")[1:]
    assert versions
    for version in versions:
        check_cap("a version", version.count("\n- "), 20)
    kinds = set(re.findall(r"^### (.*)$", text("CHANGELOG.md"), re.MULTILINE))
    assert kinds <= {"Added", "Changed", "Fixed", "Security"}


def test_the_map_names_files_that_there_are():
    file = r"[\w/-]+(?:\.ru)?\.(?:py|txt|html|css|json|md)\b"
    names = {*re.findall(file, text("docs/architecture.md"))}
    patterns = ("*", "docs/*", "tools/**/*", "tests/**/*")
    files = [path.as_posix() for pattern in patterns for path in PROJECT.glob(pattern)]
    assert len(names) > 40
    assert not [name for name in names if not any(file.endswith(f"/{name}") for file in files)]


def test_what_is_pasted_into_a_shell_is_the_same_in_both_languages():
    for page in ("clients", "manual", "remote"):
        english, russian = (
            re.sub(" *#.*", "", "".join(blocks("sh", f"docs/{page}{ending}")))
            for ending in (".md", ".ru.md")
        )
        assert english == russian, page


def test_the_signs_of_the_marks_are_explained_as_they_are():
    assert f"`{texts.in_language('en')['shell.marks']}`" in text("docs/pages.md")
