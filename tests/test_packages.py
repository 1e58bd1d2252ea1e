"""Importing a library without all that its packages import."""

import subprocess
import sys
import threading
from types import ModuleType

import pytest

from tests.client import PROJECT
from tools import packages


@pytest.fixture
def library(tmp_path, monkeypatch):
    """A package `big` that imports its module `heavy` to export it, beside its module `light`."""
    for name, text in {
        "__init__": "from big.heavy import thing\nfrom big.light import small\nRUN = [1]\n",
        "heavy": "import time\ntime.sleep(0.05)\nthing = 'heavy'\n",
        "light": "small = 'light'\n",
        "inner/__init__": "from big import thing as again\n",
        "inner/part": "from big.light import small\n",
    }.items():
        (tmp_path / "big" / f"{name}.py").parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "big" / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "big"]:
        del sys.modules[name]


def test_a_module_of_a_package_put_off_comes_without_what_the_package_imports(library):
    packages.put_off("big", "big.inner")
    import big.inner.part

    assert big.inner.part.small == "light"
    assert "big.heavy" not in sys.modules


def test_what_only_the_package_has_is_there_once_it_is_asked_for(library):
    packages.put_off("big", "big.inner")
    import big
    from big.inner import again

    assert (again, big.thing, big.small, big.RUN) == ("heavy", "heavy", "light", [1])
    with pytest.raises(AttributeError, match="module 'big' has no attribute 'nothing'"):
        _ = big.nothing


def test_two_threads_that_ask_at_once_both_get_it(library):
    packages.put_off("big")
    import big

    found = []
    threads = [threading.Thread(target=lambda: found.append(big.thing)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["heavy"] * 8


def test_asking_for_a_dunder_does_not_run_the_package(library):
    packages.put_off("big")
    import big

    assert not hasattr(big, "__nothing__")
    assert "big.heavy" not in sys.modules


def test_a_package_that_is_imported_already_stays_as_it_is(library):
    import big

    packages.put_off("big")
    assert type(big) is ModuleType


def test_a_package_that_is_not_installed_cannot_be_put_off():
    with pytest.raises(ModuleNotFoundError, match="nosuchpackage"):
        packages.put_off("nosuchpackage")


def test_absent_modules_look_uninstalled_for_a_while_only():
    with packages.absent("colorsys", "json"):
        with pytest.raises(ModuleNotFoundError):
            import colorsys
        import json
    import colorsys

    assert colorsys.rgb_to_hls
    assert json.dumps


def test_serving_needs_neither_the_sdks_clients_nor_http_nor_cryptography():
    code = (
        "import sys, server; server.warm_up()\n"
        "print(*{'mcp.client', 'mcp.server.mcpserver.server', 'httpx2', 'cryptography', 'uvicorn'} & set(sys.modules))\n"
        "from mcp import ClientSession\n"
        "from mcp.server import MCPServer\n"
        "print(ClientSession.__name__, MCPServer.__name__)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, timeout=60)
    assert done.stdout == "\nClientSession MCPServer\n", done.stderr
