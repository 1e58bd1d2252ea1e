"""Importing a library without all that its packages import."""

import importlib.util
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.client import PROJECT, Client
from tools.service import deferred, lean_sdk


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


def test_a_module_of_a_deferred_package_comes_without_what_the_package_imports(library):
    deferred.defer("big", "big.inner")
    import big.inner.part

    assert big.inner.part.small == "light"
    assert "big.heavy" not in sys.modules


def test_what_only_the_package_has_is_there_once_it_is_asked_for(library):
    deferred.defer("big", "big.inner")
    import big
    from big.inner import again

    assert (again, big.thing, big.small, big.RUN) == ("heavy", "heavy", "light", [1])
    with pytest.raises(AttributeError, match="module 'big' has no attribute 'nothing'"):
        _ = big.nothing


def test_two_threads_that_ask_at_once_both_get_it(library):
    deferred.defer("big")
    import big

    found = []
    threads = [threading.Thread(target=lambda: found.append(big.thing)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["heavy"] * 8


def test_asking_for_a_dunder_does_not_run_the_package(library):
    deferred.defer("big")
    import big

    assert not hasattr(big, "__nothing__")
    assert "big.heavy" not in sys.modules


def test_its_names_are_listed_and_starred_as_without_deferring(library):
    deferred.defer("big")
    import big

    assert {"thing", "small", "RUN"} <= set(dir(big))
    namespace = {}
    exec("from big import *", namespace)
    assert namespace["thing"] == "heavy"


def test_a_package_that_fails_once_runs_again_when_it_is_asked_again(library, monkeypatch):
    deferred.defer("big")
    import big

    monkeypatch.setitem(sys.modules, "big.heavy", None)
    with pytest.raises(ModuleNotFoundError):
        _ = big.thing
    monkeypatch.delitem(sys.modules, "big.heavy")
    assert big.thing == "heavy"


def test_what_cannot_be_imported_leanly_is_imported_plainly(library):
    def lean():
        deferred.defer("big", "big.nothing")

    def plain():
        import big

        assert type(big) is ModuleType

    assert "big.nothing" in deferred.import_with_way_back(lean, plain, "big")
    assert sys.modules["big"].thing == "heavy"


def test_a_package_that_is_imported_already_stays_as_it_is(library):
    import big

    deferred.defer("big")
    assert type(big) is ModuleType


def test_a_package_that_is_not_installed_cannot_be_deferred():
    with pytest.raises(ModuleNotFoundError, match="nosuchpackage"):
        deferred.defer("nosuchpackage")


def test_absent_modules_look_uninstalled_for_a_while_only():
    with deferred.absent("colorsys", "json"):
        with pytest.raises(ModuleNotFoundError):
            import colorsys
        import json
    import colorsys

    assert colorsys.rgb_to_hls
    assert json.dumps


def run(code, **environ):
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=PROJECT,
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_serving_needs_neither_the_sdks_clients_nor_http_nor_cryptography():
    done = run(
        "import sys, server; server.warm_up()\n"
        "print(*{'mcp.client', 'mcp.server.mcpserver.server', 'httpx2', 'cryptography', 'uvicorn'} & set(sys.modules))\n"
        "from mcp import ClientSession\n"
        "from mcp.server import MCPServer\n"
        "print(ClientSession.__name__, MCPServer.__name__)\n"
    )
    assert done.stdout == "\nClientSession MCPServer\n", done.stderr


def test_a_session_imports_the_models_of_its_own_era_and_no_web_framework():
    done = run(
        "import sys, server; server.import_sdk('stdio')\n"
        f"print(*{{*{lean_sdk.LATE['stdio']}}} & set(sys.modules))\n"
        "from mcp_types.methods import validate_client_request\n"
        "validate_client_request('ping', '2025-11-25', None)\n"
        f"print(*{{*{lean_sdk.LATE['stdio']}}} & set(sys.modules))\n"
    )
    assert done.stdout == "\nmcp_types._v2025_11_25\n", done.stderr


def test_the_lean_import_is_for_the_sdk_that_is_installed():
    assert f"mcp=={lean_sdk.VERSION}\n" in (PROJECT / "requirements.txt").read_text(encoding="utf-8")
    assert deferred.is_installed("mcp", lean_sdk.VERSION)
    assert not deferred.is_installed("mcp", "0.0.1")
    assert not deferred.is_installed("nosuchpackage", "1")


PATCHES = {
    "a module that relies on its package": (
        "mcp/server/lowlevel/server.py",
        "import sys\nassert type(sys.modules['mcp']).__name__ == 'module'\n",
    ),
    "models that cannot be built later": (
        "mcp_types/__init__.py",
        "import pydantic\nassert not pydantic.BaseModel.model_config.get('defer_build')\n",
    ),
    "an era whose models are looked into at once": (
        "mcp_types/methods.py",
        "assert isinstance(v2026.CallToolRequest, type)\n",
    ),
    "a web framework that is used at once": (
        "mcp/server/lowlevel/server.py",
        "assert issubclass(Starlette, object)\n",
    ),
}


@pytest.mark.parametrize("patch", PATCHES.values(), ids=PATCHES)
def test_an_sdk_that_cannot_be_imported_leanly_is_served_all_the_same(tmp_path, patch):
    file, added = patch
    packages = Path(importlib.util.find_spec("mcp").origin).parents[1]
    for name in ("mcp", "mcp_types", f"mcp-{lean_sdk.VERSION}.dist-info"):
        shutil.copytree(packages / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    with open(tmp_path / file, "a", encoding="utf-8") as module:
        module.write(added)
    with Client(PYTHONPATH=str(tmp_path)) as client:
        assert client.initialize()["serverInfo"]["name"] == "pi-mcp"
        assert client.call("greet", name="Ada")["isError"] is False
        assert client.end() == 0
    assert "imported whole" in b"".join(client.errors).decode()
