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
def upstream(env, docs):
    """A repository like Klipper's, which KLIPPER_DOCS_URL names."""
    made = Upstream(env() / "upstream")
    env(KLIPPER_DOCS_URL=made.url)
    return made
