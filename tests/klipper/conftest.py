"""An upstream and the checkout that follows it."""

import pytest

from tests.klipper.asking import call
from tests.klipper.upstreams import NO_SETTINGS, Upstream


@pytest.fixture
def docs(env):
    """Settings for a checkout that is not there yet; gives its folder."""
    folder = env() / "docs_repo" / "klipper"
    env(KLIPPER_DOCS_DIR=folder, **NO_SETTINGS)
    return folder


@pytest.fixture
def further(small_docs, env):
    """A further repository `moonraker` beside the small documentation: a function that writes {path:
    text}."""

    def write(pages):
        env(KLIPPER_DOCS_EXTRA="moonraker=https://example.org/m.git#main:docs")
        folder = "../../.klipper.extra/moonraker/docs"
        small_docs({f"{folder}/{path}": text for path, text in pages.items()})

    return write


@pytest.fixture
def behind(env, docs, upstream):
    """An upstream that is one commit, with the page New.md, ahead of its checkout, which is checked at every
    start."""
    call("sync_docs")
    upstream.publish("New")
    env(KLIPPER_DOCS_CHECK_INTERVAL=0)
    return upstream


@pytest.fixture
def upstream(env, docs):
    """A repository like Klipper's, which KLIPPER_DOCS_URL names."""
    repository = Upstream(env() / "upstream")
    env(KLIPPER_DOCS_URL=repository.url)
    return repository
