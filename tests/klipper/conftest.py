"""An upstream and the checkout that follows it."""

import os

import pytest

from tests.klipper.upstreams import Upstream


@pytest.fixture
def docs(env):
    """Settings for a checkout that is not there yet; gives its folder."""
    folder = env() / "docs_repo" / "klipper"
    env(KLIPPER_DOCS_DIR=folder, GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_SYSTEM=os.devnull)
    return folder


@pytest.fixture
def further(small_docs, env):
    """A further repository `moonraker` beside the small documentation: a function that writes {path:
    text}."""

    def write(pages):
        env(KLIPPER_DOCS_EXTRA="moonraker=https://example.org/m.git#main:docs")
        small_docs(
            {f"../../.klipper.extra/moonraker/docs/{path}": text for path, text in pages.items()}
        )

    return write


@pytest.fixture
def upstream(env, docs):
    """A repository like Klipper's, which KLIPPER_DOCS_URL names."""
    made = Upstream(env() / "upstream")
    env(KLIPPER_DOCS_URL=made.url)
    return made
