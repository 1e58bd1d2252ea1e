"""The upstream of a checkout: its tip, and bringing the checkout there, as a new generation of pages."""

import os
import re
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.settings import masked
from tools.klipper.checkout import generations, git, report
from tools.klipper.checkout.generations import Generation
from tools.klipper.checkout.report import Progress
from tools.klipper.errors import failure
from tools.klipper.ownership import STATE, made_by_version_0_1
from tools.klipper.sources import Source, generation_of

PARTS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(?:([^/]*)@)?([^/]*)(.*)", re.DOTALL)
"""Scheme, login, host with port, and the rest of an address."""
NOT_A_PORT = re.compile(r":(?!\d*$)[^]]*$")
"""What follows the host's colon if a password before it holds a `/`."""
CLONE = (
    *("clone", "--progress", "--depth=1", "--filter=blob:none", "--no-checkout", "--single-branch", "--no-tags"),
    *("--no-local", "--template=", "--origin=origin", "--config=core.worktree=.."),
    *("--config=core.sparseCheckout=true", "--config=core.sparseCheckoutCone=false"),
)
"""One commit without contents, in a repository that has seen nothing before: no history, lost object or configuration
of an older one can be in the way. A person's own git finds a sparse checkout there."""
FETCH = ("fetch", "--progress", "--stdin", "--filter=blob:none", "--no-tags", "--no-write-fetch-head", "origin")
ROOM_BYTES = 1 << 20
ATTRIBUTES = "* -text -eol -filter -ident -working-tree-encoding\n"
"""Over the upstream's `.gitattributes`: files are written as they are, and through no program."""


def address(url: str) -> tuple[str, dict[str, str]]:
    """What git is given as an argument, without the password: that would show in the list of processes and in
    `.git/config`. And the variables that tell git the password.

    Raises ToolError INVALID_UPSTREAM if the address could be taken for something else.
    """
    from base64 import b64encode
    from urllib.parse import unquote_to_bytes

    parts = PARTS.fullmatch(url)
    scheme, login, host, rest = parts.groups() if parts else ("", "", "", "")
    if not url or url.startswith("-") or any(ord(char) < 32 for char in url) or NOT_A_PORT.search(host):
        raise failure("INVALID_UPSTREAM", f"There cannot be an upstream at {masked(url)!r}")
    user, _, password = (login or "").partition(":")
    if not login or scheme.lower() not in ("http", "https"):
        return (f"{scheme}://{user}@{host}{rest}" if login else url), {}
    token = b64encode(unquote_to_bytes(user) + b":" + unquote_to_bytes(password)).decode()
    header = {"KEY_0": f"http.{scheme}://{host}/.extraHeader", "VALUE_0": f"Authorization: Basic {token}", "COUNT": "1"}
    return f"{scheme}://{host}{rest}", {f"GIT_CONFIG_{name}": value for name, value in header.items()}


def ask(source: Source) -> tuple[str, str]:
    """The branch that a source follows, that of the settings or the default one, and its tip. Fetches nothing.

    Raises ToolError: unreachable, no such branch.
    """
    url, environ = address(source.url)
    name = f"refs/heads/{source.branch}" if source.branch else "HEAD"
    # Rows of `commit<tab>name`; --symref adds `ref: refs/heads/main<tab>HEAD`, which names the default branch.
    listed = git.run("ls-remote", "--symref", "--", url, name, environ=environ, timeout_s=git.CONTACT_TIMEOUT_S)
    values = [value for value, _, ref in (row.partition("\t") for row in listed.splitlines()) if ref == name]
    branch = source.branch or "".join(value[16:] for value in values if value.startswith("ref: refs/heads/"))
    if not values or not branch:
        missing = f"has no branch {source.branch!r}" if source.branch else "is empty or names no default branch"
        raise failure("INVALID_UPSTREAM", f"The upstream of {source.label} {missing}")
    return branch, values[-1]


def update(source: Source, handle: int, progress: Progress) -> JsonObject:
    """Bring a checkout to its upstream's tip, and answer what changed. Under its lock.

    Raises ToolError, OSError; the pages are those of one generation whatever happens.
    """
    progress.at(1, "asking the upstream")
    branch, tip = ask(source)
    old = generations.load(generation_of(source.checkout) or source.checkout, source.docs)
    if (old.commit, old.docs) == (tip, source.docs) and old.folder != source.checkout and old.files_now() == old.files:
        new = old
    else:
        new = _renewed(source, branch, old, handle, progress)
    answer = report.answer(source, old, new)
    aside = generations.settle(source, new)
    progress.at(100, "done")
    if aside.paths:
        answer["local_edits"] = {"pages": aside.paths, "moved_to": str(aside.folder)}
    return answer


def _renewed(source: Source, branch: str, old: Generation, handle: int, progress: Progress) -> Generation:
    """Make a generation beside the old one and switch to it."""
    place = source.checkout / STATE / "new"
    # The lock stays open in every git: it holds until a git that outlived its server is gone too.
    run = partial(git.run, git_dir=place / ".git", handles=[handle])
    url, environ = address(source.url)
    online = partial(run, environ=environ, timeout_s=git.FETCH_TIMEOUT_S)
    generations.remove(place)
    try:
        online(*CLONE, f"--branch={branch}", "--", url, str(place), on_stderr=partial(progress.hear, 5, 40))
        if made_by_version_0_1(old.folder):
            _recognize(old, run)
        # The objects at these paths, `?` before those to be fetched. git reads the attributes of upper folders too.
        paths = (f":(literal){source.docs}", ":(glob)**/.gitattributes")
        listed = run("rev-list", "--objects", "--missing=print", "HEAD", "--", *paths)
        if missing := [row[1:] for row in listed.splitlines() if row.startswith("?")]:
            online(*FETCH, lines=missing, on_stderr=partial(progress.hear, 40, 80))
        progress.at(85, "writing the pages")
        new = _written(source, place, run)
        generations.switch(source, new)
        return new
    except ToolError as error:
        if error.code == "GIT_FAILED":  # git often does not say that the disk is full: then this raises OSError
            place.with_name("room").write_bytes(bytes(ROOM_BYTES))
        raise
    finally:
        place.with_name("room").unlink(missing_ok=True)
        generations.remove(place)


def _recognize(old: Generation, run: Callable[..., str]) -> None:
    """Write the manifest of a checkout of version 0.1."""
    git_dir = old.folder / ".git"
    objects = {"GIT_OBJECT_DIRECTORY": str(git_dir / "objects")}
    with suppress(ToolError):  # damaged: then all that is not the upstream's is put aside
        # Nothing else is asked of its own repository: a person may have named programs in its configuration.
        commit = git.run("rev-parse", "@{u}", git_dir=git_dir).strip()
        # Every file as `mode type object<tab>path`, ended by NUL.
        rows = run("ls-tree", "-r", "-z", "--full-tree", commit, "--", f"{old.docs}/", environ=objects).split("\0")
        old.files = {path: about.split()[2] for about, _, path in (row.partition("\t") for row in rows[:-1])}
        old.commit, old.title = commit, commit[:9]
    old.save()


def _written(source: Source, place: Path, run: Callable[..., str]) -> Generation:
    """Write the pages of the commit. Raises ToolError NO_DOCS."""
    info = place / ".git/info"
    info.mkdir(exist_ok=True)
    (info / "attributes").write_text(ATTRIBUTES, encoding="utf-8")
    # Characters that a pattern takes for others are escaped.
    (info / "sparse-checkout").write_text(re.sub(r"[*?[\\]", r"\\\g<0>", f"/{source.docs}/\n"), encoding="utf-8")
    # Makes the index and writes the files that the sparse checkout has.
    run("read-tree", "-m", "-u", "HEAD")
    # The commit, and its day.
    commit, date = run("log", "-1", "--format=%H %cs").split()
    new = Generation(place, commit, f"{commit[:9]} {date}", source.docs, {})
    new.files = new.files_now()
    if not new.files:
        raise failure("NO_DOCS", f"The upstream of {source.label} has no folder {source.docs!r} at {new.title}")
    for file in (place / path for path in new.files):
        if not file.is_symlink():
            with file.open("rb") as page:
                os.fsync(page.fileno())  # before the switch: a power cut leaves no empty pages
    new.save()
    return new
