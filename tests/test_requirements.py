"""The pinned packages: enough to serve everything, small, and there as wheels for each machine that is promised."""

import re
import shutil
import subprocess
import sys
from importlib.metadata import distribution

import pytest

from tests.support.client import PROJECT, Client
from tests.support.installing import copy_of_the_project, make_environment, pins

pytestmark = pytest.mark.slow

PLATFORMS = [f"manylinux2014_{machine}" for machine in ("armv7l", "aarch64", "x86_64")]


@pytest.fixture(scope="module")
def lean(tmp_path_factory):
    """A copy of the project whose environment has the pinned packages and no other."""
    folder = copy_of_the_project(tmp_path_factory.mktemp("lean"))
    make_environment(folder, *pins("requirements.txt"))
    return folder


def session(lean):
    return Client([str(lean / ".venv" / "bin" / "python"), str(lean / "server.py"), "--standalone"])


def test_the_sdk_asks_for_nothing_that_is_pinned_out_of_its_range():
    """--no-deps takes pip's own look at the ranges away: all that the pinned packages say of each other must hold."""
    from packaging.requirements import Requirement

    wanted = {name.lower().replace("_", "-"): version for name, version in pins("requirements.txt").items()}
    for name in pins("requirements.txt"):
        for text in distribution(name).requires or ():
            requirement = Requirement(text)
            version = wanted.get(requirement.name.lower().replace("_", "-"))
            if version and (not requirement.marker or requirement.marker.evaluate({"extra": ""})):
                assert requirement.specifier.contains(version), (name, text)


def test_every_tool_answers_and_every_list_is_there(lean):
    with session(lean) as client:
        client.initialize()
        tools = client.request("tools/list")["result"]["tools"]
        assert len(tools) > 20
        for tool in tools:
            result = client.call(tool["name"], **arguments(tool["inputSchema"]))
            assert "Internal error" not in result["content"][0]["text"], (tool["name"], result)
        prompts = client.request("prompts/list")["result"]["prompts"]
        assert len(prompts) > 5
        assert client.request("prompts/get", name=prompts[0]["name"], arguments={"language": "en", "question": "?"})
        for method, key in {
            "resources/list": "resources",
            "resources/templates/list": "resourceTemplates",
        }.items():
            assert client.request(method)["result"][key]
        read = client.request("resources/read", uri="onepercent://actions")["result"]
        assert read["contents"][0]["text"]
        completed = client.request(
            "completion/complete",
            ref={"type": "ref/prompt", "name": prompts[0]["name"]},
            argument={"name": "language", "value": "r"},
        )
        assert completed["result"]["completion"]["values"] == ["ru"]


def arguments(schema):
    """The least that a tool takes, as its schema has it."""
    return {name: value(schema["properties"][name]) for name in schema.get("required", ())}


def value(schema):
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type") or schema["anyOf"][0]["type"]
    if kind == "array":
        return [value(schema["items"])] if schema.get("minItems") else []
    return {"string": "x", "integer": 1, "number": 1, "boolean": False, "object": {}}[kind]


@pytest.mark.parametrize("platform", PLATFORMS)
def test_each_machine_gets_wheels_alone(platform, tmp_path):
    """What --no-deps installs, resolved as pip does it on that machine; nothing has to be compiled there."""
    command = [
        sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps", "-d", tmp_path,
        "--only-binary", ":all:", "--platform", platform, "--retries", "0", "--timeout", "20",
        "-r", PROJECT / "requirements.txt", "-r", PROJECT / "requirements-http.txt",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode and not re.search(r"from versions: [^n]", done.stderr):
        pytest.skip(f"pip reaches no index: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    assert len(list(tmp_path.glob("*.whl"))) == len(pins("requirements.txt")) + len(pins("requirements-http.txt"))
    shutil.rmtree(tmp_path)
