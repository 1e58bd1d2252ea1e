"""Real git upstreams for the tests of the sync."""

import os
import subprocess
from typing import ClassVar

from tests.support.web import Handler

IDENTITY = ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL")
NO_SETTINGS = dict.fromkeys(("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"), os.devnull)
ENVIRON = {**os.environ, **dict.fromkeys(IDENTITY, "t@example.org"), **NO_SETTINGS}


def git(folder, *words):
    """git as a person runs it."""
    process = subprocess.run(
        ["git", "-C", folder, *words], env=ENVIRON, capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, f"git {words}: {process.stderr}"
    return process.stdout.strip()


class Upstream:
    """A repository with a `docs` folder, as Klipper's, that tests commit to."""

    def __init__(self, folder, branch="master"):
        self.folder = folder
        folder.mkdir(parents=True)
        git(folder, "init", "-q", "-b", branch)
        git(folder, "config", "uploadpack.allowFilter", "true")
        self.commit(
            {
                "docs/Bed_Mesh.md": page("Bed Mesh"),
                "docs/BLTouch.md": page("BLTouch"),
                "src/code.c": "int;\n",
            }
        )

    @property
    def url(self):
        return f"file://{self.folder}"

    @property
    def tip(self):
        return git(self.folder, "rev-parse", "HEAD")

    def commit(self, files):
        """Write (None: remove) these files and commit them."""
        for name, text in files.items():
            path = self.folder / name
            if text is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        git(self.folder, "add", "-A", "-f")
        git(self.folder, "commit", "-q", "--allow-empty", "-m", "change")
        return self.tip

    def publish(self, name, title=""):
        """Commit a page."""
        return self.commit({f"docs/{name}.md": page(title or name)})

    def go_away(self):
        self.folder.rename(self.folder.with_name("away"))

    def pages(self):
        """What a checkout's docs should hold."""
        return contents(self.folder / "docs")


def page(title, words=200):
    """A page whose last line shows that it is whole."""
    lines = [f"{title} line {number}\n" for number in range(words)]
    return f"# {title}\n\n{''.join(lines)}end of {title}\n"


def contents(folder):
    """Every file below, by relative path."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }


def smart_http(root):
    """git's own smart HTTP server over the repositories in `root`."""

    class Git(Handler):
        asked: ClassVar[list[str]] = []

        def _answer(self):
            self.asked.append(self.path)
            path, _, query = self.path.partition("?")
            environ = ENVIRON | {
                "GIT_PROJECT_ROOT": str(root),
                "GIT_HTTP_EXPORT_ALL": "1",
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "REQUEST_METHOD": self.command,
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            }
            backend = ["git", "http-backend"]
            output = subprocess.check_output(backend, input=self.body(), env=environ)
            head, _, content = output.partition(b"\r\n\r\n")
            headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
            self.send(int(headers.pop("Status", "200").split()[0]), content, headers)

        do_GET = do_POST = _answer

    return Git


class Stalled(Handler):
    """Says that an answer comes, and nothing more until the client is gone."""

    def do_GET(self):
        kind = "application/x-git-upload-pack-advertisement"
        self.send(200, headers={"Content-Type": kind, "Content-Length": 1000})
        self.connection.recv(1)
