"""setup.sh --with: what was added stays, and stays up to date. The Pillow of an index of our own is a few bytes."""

import subprocess
import zipfile

import pytest

from tests.klipper.upstreams import Upstream, git
from tests.support.installing import copy_of_the_project, give_packages, made_by_setup, publish, setup

pytestmark = made_by_setup


@pytest.fixture
def upstream(tmp_path, monkeypatch):
    """Where the project is pulled from; `asks_for` changes the Pillow that it wants."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    for version in ("1.0", "2.0"):
        make_wheel(wheels, version)
    for name, value in {"PIP_CONFIG_FILE": "/dev/null", "PIP_NO_INDEX": 1, "PIP_FIND_LINKS": wheels}.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.setenv("DESTDIR", str(tmp_path / "root"))
    monkeypatch.setenv("KLIPPER_DOCS_URL", Upstream(tmp_path / "docs").url)
    monkeypatch.delenv("KLIPPER_DOCS_DIR")
    folder = copy_of_the_project(tmp_path / "upstream")
    ask_for(folder, "pillow==1.0")
    return folder


@pytest.fixture
def project(upstream, tmp_path):
    """The project as a person cloned it, with an environment of its own."""
    folder = tmp_path / "pi-mcp"
    git(tmp_path, "clone", "-q", str(upstream), str(folder))
    give_packages(folder)
    return folder


def make_wheel(folder, version):
    about = f"pillow-{version}.dist-info"
    with zipfile.ZipFile(folder / f"pillow-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr("PIL.py", f"__version__ = '{version}'\n")
        wheel.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: pillow\nVersion: {version}\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", "")


def ask_for(upstream, requirement):
    (upstream / "requirements-images.txt").write_text(f"{requirement}\n", encoding="utf-8")
    publish(upstream)


def pillow_of(project):
    """The version in its environment; empty: none."""
    command = [str(project / ".venv" / "bin" / "python"), "-c", "import PIL; print(PIL.__version__)"]
    return subprocess.run(command, capture_output=True, text=True, timeout=60).stdout.strip()


def set_up(project, words=""):
    done = setup(project, *words.split())
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_an_extra_is_installed_once_and_an_update_brings_what_it_now_needs(project, upstream):
    set_up(project)
    assert pillow_of(project) == ""
    assert "Installing the packages of requirements-images.txt" in set_up(project, "--with images")
    assert pillow_of(project) == "1.0"
    assert "Installing" not in set_up(project, "--with images")
    ask_for(upstream, "pillow==2.0")
    set_up(project, "--update")
    assert pillow_of(project) == "2.0"


def test_an_extra_goes_with_the_service_in_either_order_and_through_an_update(project, upstream, tmp_path):
    set_up(project, "--systemd --with images")
    assert (tmp_path / "root" / "usr" / "local" / "bin" / "pi-mcp").exists()
    assert pillow_of(project) == "1.0"
    assert "Installing" not in set_up(project, "--with images --systemd")
    ask_for(upstream, "pillow==2.0")
    assert "Installing the packages of requirements-images.txt" in set_up(project, "--update")
    assert pillow_of(project) == "2.0"


def test_an_update_adds_no_extra_by_itself(project, upstream):
    ask_for(upstream, "pillow==2.0")
    set_up(project, "--update")
    assert pillow_of(project) == ""


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ("--with", 1, "--with what? There is: images"),
        ("--with wings", 1, "there is no extra 'wings'; there is: images"),
        ("--with --systemd", 1, "there is no extra '--systemd'; there is: images"),
        ("--systemd wings", 2, "unknown word 'wings' (--help shows what there is)"),
    ],
)
def test_a_wrong_word_is_one_line_and_nothing_is_done(project, words, status, said):
    before = sorted(project.rglob("*"))
    done = setup(project, *words.split())
    assert (done.returncode, done.stdout, done.stderr) == (status, "", f"setup.sh: {said}\n")
    assert sorted(project.rglob("*")) == before
