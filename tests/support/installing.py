"""setup.sh on a copy of the project."""

import os
import shutil
import subprocess
import sys
import zipfile

from tests.support.client import PROJECT, finished

# Of the lines that are for this Python only.
MARKER = f'python_version {"<" if sys.version_info < (3, 11) else ">="} "3.11"'


def copy_of_the_project(folder):
    """The project as it is in git's index, or the whole of a folder that git does not know."""
    listed = finished(["git", "ls-files", "-z"], cwd=PROJECT)
    if listed.returncode:
        unwanted = shutil.ignore_patterns(".*", "docs_repo", "__pycache__")
        shutil.copytree(PROJECT, folder, ignore=unwanted)
    for name in filter(None, listed.stdout.split("\0")):
        if (PROJECT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(PROJECT / name, folder / name)
    return folder


def make_wheels(folder):
    """A folder of wheels with the pinned names and versions and next to nothing in them; gives the settings by
    which pip takes them."""
    folder.mkdir()
    for file in ("requirements-http.txt", "requirements-test.txt", "requirements-images.txt"):
        for package, version in pins(file).items():
            make_wheel(folder, package.replace("-", "_"), version)
    return {"PIP_CONFIG_FILE": "/dev/null", "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder)}


def make_wheel(folder, name, version):
    about = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        text = f"import sys\nif __name__ == '__main__':\n    print('{name}', sys.argv[1:])\n"
        wheel.writestr(f"{name}.py", text)
        wheel.writestr(
            f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        )
        wheel.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{about}/RECORD", f"{name}.py,,{len(text)}\n")


def pins(name):
    """The packages with their versions that a requirements file pins for this Python."""
    lines = (PROJECT / name).read_text(encoding="utf-8").splitlines()
    wanted = [line.partition(";") for line in lines if "==" in line.partition(";")[0]]
    return dict(
        line.split("==")
        for line, _, marker in wanted
        if "python_version" not in marker or MARKER in marker
    )


def setup(folder, *words, **environment):
    return finished(
        ["./setup.sh", *words],
        cwd=folder,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
    )


def set_up(folder, *words, **environment):
    """What a run of setup.sh prints that ends well."""
    done = setup(folder, *words, **environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def files(folder):
    return {
        path: path.stat().st_mtime_ns
        for path in folder.rglob("*")
        if path.is_file() and ".venv" not in path.parts
    }
