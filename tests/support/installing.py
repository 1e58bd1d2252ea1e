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
    """Make a folder of nearly empty wheels with the pinned names and versions. Returns the settings by which
    pip takes them."""
    folder.mkdir()
    for file in ("requirements-http.txt", "requirements-test.txt", "requirements-images.txt"):
        for package, version in pins(file).items():
            make_wheel(folder, package.replace("-", "_"), version)
    return {"PIP_CONFIG_FILE": "/dev/null", "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder)}


def make_wheel(folder, name, version):
    about = f"{name}-{version}.dist-info"
    code = f"import sys\nif __name__ == '__main__':\n    print('{name}', sys.argv[1:])\n"
    files = {
        f"{name}.py": code,
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{about}/RECORD": f"{name}.py,,{len(code)}\n",
    }
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)


def pins(name):
    """The packages with their versions that a requirements file pins for this Python."""
    versions = {}
    for line in (PROJECT / name).read_text("utf-8").splitlines():
        pin, _, marker = line.partition(";")
        if "==" in pin and ("python_version" not in marker or MARKER in marker):
            package, version = pin.split("==")
            versions[package] = version
    return versions


def run_setup(folder, *words, **environment):
    environ = {**os.environ, **environment}
    return finished(["./setup.sh", *words], cwd=folder, env=environ, stdin=subprocess.DEVNULL)


def set_up(folder, *words, **environment):
    """Run setup.sh, which must succeed."""
    done = run_setup(folder, *words, **environment)
    assert done.returncode == 0, done
    return done


def files(folder):
    return {
        path: path.stat().st_mtime_ns
        for path in folder.rglob("*")
        if path.is_file() and ".venv" not in path.parts
    }
