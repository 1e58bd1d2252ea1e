"""Names that import their module once they are used."""

import sys

import pytest

from tools.service.late_names import LateName, late


@pytest.fixture
def library(tmp_path, monkeypatch):
    """A module `heavy`, and `user`, which imports names of it."""
    (tmp_path / "heavy.py").write_text(
        "class Thing:\n    kind = 'thing'\nclass Other: pass\ndef double(number):\n    return 2 * number\n",
        encoding="utf-8",
    )
    (tmp_path / "user.py").write_text(
        "import heavy as whole\nfrom heavy import Other, Thing, double\nEITHER = Thing | Other\nMORE = int | EITHER\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for name in ("heavy", "user"):
        sys.modules.pop(name, None)


@pytest.fixture
def user(library):
    with late("heavy"):
        import user
    assert "heavy" not in sys.modules
    return user


def test_nothing_is_imported_before_a_name_is_used(user):
    assert isinstance(user.Thing, LateName)
    assert isinstance(user.EITHER, LateName)
    assert "heavy" not in sys.modules
    assert user.Thing.kind == "thing"
    assert sys.modules["heavy"].Thing.kind == "thing"


def test_a_late_function_is_called(user):
    assert user.double(21) == 42
    assert user.whole.double(2) == 4


def test_a_late_class_makes_instances_is_subclassed_and_checked(user):
    class Mine(user.Thing):
        pass

    import heavy

    assert type(user.Thing()) is heavy.Thing
    assert Mine.__mro__[1] is heavy.Thing
    assert isinstance(Mine(), user.Thing)
    assert not isinstance(3, user.Thing)


def test_late_classes_are_what_pydantic_holds_values_against(library, tmp_path):
    pydantic = pytest.importorskip("pydantic")
    (tmp_path / "heavy.py").write_text(
        "import pydantic\nclass A(pydantic.BaseModel):\n    a: int\nclass B(pydantic.BaseModel):\n    b: int\n",
        encoding="utf-8",
    )
    with late("heavy"):
        from heavy import A, B
    adapter = pydantic.TypeAdapter(A | B)
    assert adapter.dump_python(adapter.validate_python({"b": 2})) == {"b": 2}
    assert A.model_validate({"a": 1}).a == 1


def test_a_name_that_is_not_there_is_an_error_once_it_is_used(library):
    with late("heavy"):
        from heavy import nothing
    with pytest.raises(AttributeError, match="nothing"):
        nothing()


def test_what_cannot_be_called_says_so(library, tmp_path):
    (tmp_path / "heavy.py").write_text("NUMBER = 3\n", encoding="utf-8")
    with late("heavy"):
        from heavy import NUMBER
    with pytest.raises(TypeError, match="3 is not callable"):
        NUMBER()


def test_a_module_that_is_imported_already_stays_as_it_is(library):
    import heavy

    with late("heavy"):
        from heavy import Thing
    assert Thing is heavy.Thing
