"""Pictures before and after `./setup.sh --with images`, with the Pillow that pip finds."""

import base64
import subprocess
import sys

import pytest

from tests.anki.anki_images import png
from tests.klipper.upstreams import Upstream
from tests.support.client import PROJECT, Client
from tests.support.installing import copy_of_the_project, give_packages, made_by_setup, setup

pytestmark = made_by_setup


@pytest.fixture
def wheels(tmp_path):
    """What pip gets from its index, so that there is one download."""
    folder = tmp_path / "wheels"
    command = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps"]
    done = subprocess.run(
        [*command, "--only-binary=:all:", "-d", str(folder), "-r", "requirements-images.txt"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    if done.returncode:
        pytest.skip(f"pip gets no Pillow here: {done.stderr.strip().splitlines()[-1]}")
    return folder


def add(client, front):
    """The one detail of a note added with a large picture."""
    image = {"image_base64": base64.b64encode(png(2000, 1000)).decode()}
    note = {"fields": {"Front": front, "Back": "text"}, "images": [image]}
    (detail,) = client.call("anki_add_notes", notes=[note])["structuredContent"]["details"]
    return detail


def test_the_extra_that_the_warning_names_makes_pictures_small_in_a_session_that_runs(anki, wheels, tmp_path):
    project = copy_of_the_project(tmp_path / "pi-mcp")
    give_packages(project)
    with Client([str(project / "server.py"), "--standalone"]) as client:
        client.initialize()
        before = add(client, "before")
        assert before["images"][0]["filename"].endswith(".png")
        assert "./setup.sh --with images" in before["warnings"][0]

        upstream = Upstream(tmp_path / "docs")
        done = setup(
            project, "--with", "images", PIP_NO_INDEX="1", PIP_FIND_LINKS=wheels, KLIPPER_DOCS_URL=upstream.url
        )
        assert done.returncode == 0, done.stdout + done.stderr

        after = add(client, "after")
        assert after["images"][0]["filename"].endswith(".jpg")
        assert "warnings" not in after
