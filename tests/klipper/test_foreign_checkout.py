"""A checkout that sync_docs did not make is only read, byte for byte."""

import os
import shutil

import pytest

from tests.klipper.asking import paths
from tests.klipper.test_sync import sync, synced
from tests.klipper.upstreams import git, page
from tools.core.errors import ToolError
from tools.core.settings import written_folders
from tools.klipper import settings
from tools.klipper.checkout import freshness
from tools.klipper.sync_docs import health

pytestmark = pytest.mark.slow


def state_of(folder):
    """Every file, link and folder below, the hidden ones too, and when its contents, mode or name changed: that
    time is the file system's own."""
    return {path: path.lstat().st_ctime_ns for path in (folder, *folder.rglob("*"))}


def full(docs, upstream):
    git(docs.parent, "clone", "-q", upstream.url, str(docs))


def sparse(docs, upstream):
    options = "-q --depth=1 --filter=blob:none --no-checkout".split()
    git(docs.parent, "clone", *options, upstream.url, str(docs))
    git(docs, "sparse-checkout", "set", "docs")
    git(docs, "checkout", "-q", "master")


def sparse_and_packed(docs, upstream):
    """As `git gc` leaves it from time to time."""
    sparse(docs, upstream)
    git(docs, "pack-refs", "--all")


def unpacked(docs, upstream):
    shutil.copytree(upstream.folder, docs, ignore=shutil.ignore_patterns(".git"))


def at_work(docs, upstream):
    """A project of one's own: an edited file, a staged one, a commit nobody pushed."""
    full(docs, upstream)
    (docs / "macros.cfg").write_text("[gcode_macro X]\n")
    git(docs, "add", "macros.cfg")
    git(docs, "commit", "-q", "-m", "mine")
    (docs / "staged.cfg").write_text("staged\n")
    git(docs, "add", "staged.cfg")
    (docs / "docs/Bed_Mesh.md").write_text(page("Bed Mesh, edited"))


@pytest.fixture(
    params=[sparse, sparse_and_packed, unpacked, at_work], ids=lambda kind: kind.__name__
)
def foreign(request, docs, upstream, env):
    docs.parent.mkdir()
    request.param(docs, upstream)
    upstream.publish("New")
    env(KLIPPER_DOCS_CHECK_INTERVAL=0)
    return docs


def test_it_is_not_touched_and_its_owner_is_named(foreign, request):
    """Only a checkout of the documentation alone is compared: a printer's docs stay at the printer's
    version."""
    before = state_of(foreign)

    answer = synced()
    freshness.at_start()
    summary = health().summary
    synced()

    assert state_of(foreign) == before
    assert (answer["status"], answer["folder"]) == ("only read", str(foreign))
    assert "Moonraker" in answer["note"] and "only read" in summary
    assert os.listdir(foreign.parent) == [foreign.name]
    assert paths("Bed Mesh")[0] == "Bed_Mesh.md" and foreign not in written_folders()
    note = freshness.note()
    assert bool(note) == ("sparse" in request.node.name)
    assert "РЕКОМЕНДУЕТСЯ" not in note, "nothing that sync_docs can do takes it off"


def test_further_repositories_are_not_taken_from_beside_it(env, docs, upstream):
    """KLIPPER_DOCS_DIR=~/klipper-docs with moonraker=… must not mean ~/moonraker, where the live one is."""
    docs.parent.mkdir()
    live = docs.parent / "moonraker"
    full(live, upstream)
    upstream.publish("New")
    before = state_of(live)
    env(KLIPPER_DOCS_EXTRA=f"moonraker={upstream.url}")

    synced()

    assert state_of(live) == before
    assert settings.sources()[1].checkout == docs.parent / ".klipper.extra/moonraker"


def test_a_folder_without_pages_is_left_alone(docs, upstream):
    docs.mkdir(parents=True)
    (docs / "mine.txt").write_text("mine")
    before = state_of(docs)

    assert sync()["code"] == "NOT_A_CHECKOUT"
    assert state_of(docs) == before


def test_the_home_the_project_and_what_holds_them_are_never_written_to(
    env, upstream, monkeypatch, tmp_path
):
    home = tmp_path / "empty/home"
    project = tmp_path / "project"
    for folder in (home, project):
        folder.mkdir(parents=True)
    (tmp_path / "link").symlink_to(home)
    monkeypatch.setattr(settings, "PROJECT", project)
    for name in ("empty/home", "empty", "/", "project", "link"):
        env(HOME=home, KLIPPER_DOCS_DIR=tmp_path / name)
        assert sync()["code"] == "UNSAFE_FOLDER"
        with pytest.raises(ToolError, match="cannot be kept"):
            health()
    assert not list(home.iterdir()) and not list(project.iterdir())
