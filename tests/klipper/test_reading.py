"""read_doc, list_docs_map and the paths they take."""

import json
import os
import shutil
import time

import pytest

from tools.core import registry, settings
from tools.klipper import markdown, pages

PAGE = "# Bed Mesh\n\nIntro.\n\n## Faulty Regions\n\n```\n# no heading\n```\n\n### Set `zero` [point](x.md)\n\nText.\n"


def call(name, **arguments):
    return registry.find(name, registry.listed(settings.current()).values()).call(arguments)


def windows(path):
    """Every answer of read_doc from the beginning to the end."""
    offset = 0
    while offset is not None:
        answer = call("read_doc", path=path, offset=offset)
        yield answer
        offset = answer["next_offset"]


def joined(path):
    return "".join(one["text"][: (one["next_offset"] or one["total_chars"]) - one["offset"]] for one in windows(path))


def test_a_short_page_comes_whole(small_docs):
    small_docs({"Bed_Mesh.md": PAGE})
    assert call("read_doc", path="Bed_Mesh.md") == {
        "success": True, "path": "Bed_Mesh.md", "title": "Bed Mesh", "text": PAGE, "offset": 0,
        "total_chars": len(PAGE), "next_offset": None, "truncated": False,
    }  # fmt: skip


@pytest.mark.parametrize(
    "text",
    ["x" * 25_000, "line\n" * 6_000, "строка ё\r\n" * 4_000, "a" * 10_000, "a" * 10_001, "\n" * 20_001, ""],
    ids=["one line", "lines", "russian with CRLF", "exactly the limit", "one more", "empty lines", "empty"],
)
def test_reading_window_by_window_reproduces_the_file(small_docs, text):
    folder = small_docs({"Long.md": text})
    assert joined("Long.md") == text == (folder / "Long.md").read_bytes().decode()
    for answer in windows("Long.md"):
        assert len(answer["text"]) <= 10_000
        if answer["truncated"]:
            closing = answer["text"][answer["next_offset"] - answer["offset"] :]
            assert f"offset={answer['next_offset']}" in closing


@pytest.mark.parametrize(
    "path", ["Bed_Mesh.md", "docs/Bed_Mesh.md", "bed_mesh", "BED_MESH.MD", "./Bed_Mesh.md", " Bed_Mesh "]
)
def test_near_spellings_of_a_path_are_read(small_docs, path):
    small_docs({"Bed_Mesh.md": PAGE})
    assert call("read_doc", path=path)["path"] == "Bed_Mesh.md"


def test_the_case_must_be_right_where_two_pages_differ_in_it_only(small_docs):
    small_docs({"Bed.md": "# One\n", "BED.md": "# Two\n"})
    assert call("read_doc", path="BED.md")["title"] == "Two"
    assert call("read_doc", path="bed.md")["code"] == "NOT_FOUND"


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("../secret.md", "INVALID_PATH"),
        ("docs/../../secret.md", "INVALID_PATH"),
        ("/etc/passwd", "INVALID_PATH"),
        ("~/secret.md", "INVALID_PATH"),
        ("..\\secret.md", "INVALID_PATH"),
        ("Bed\0Mesh.md", "INVALID_PATH"),
        ("Bed\nMesh.md", "INVALID_PATH"),
        ("", "INVALID_PATH"),
        ("   ", "INVALID_PATH"),
        ("leads_out.md", "INVALID_PATH"),
        ("out/secret.md", "INVALID_PATH"),
        ("img", "IS_FOLDER"),
        ("docs/", "IS_FOLDER"),
        (".", "IS_FOLDER"),
        ("img/bed.png", "NOT_TEXT"),
        ("loop.md", "NOT_FOUND"),
        ("No_Such_Page.md", "NOT_FOUND"),
        ("x" * 900, "NOT_FOUND"),
        ("x" * 5000, "INVALID_ARGUMENTS"),
        ("-rf", "NOT_FOUND"),
        ("$(id)", "NOT_FOUND"),
    ],
)
def test_a_hostile_path_is_an_error_with_a_hint(small_docs, tmp_path, path, code):
    folder = small_docs({"Bed_Mesh.md": PAGE, "img/bed.png": b"\x89PNG\r\n\xff\xfe"})
    (tmp_path / "secret.md").write_text("secret", encoding="utf-8")
    (folder / "leads_out.md").symlink_to(tmp_path / "secret.md")
    (folder / "out").symlink_to(tmp_path)
    (folder / "loop.md").symlink_to(folder / "loop.md")
    answer = call("read_doc", path=path)
    assert (answer["success"], answer["code"]) == (False, code)
    assert answer["hint"]
    assert "secret" not in answer.get("text", "")


def test_a_missing_page_names_the_nearest(small_docs):
    small_docs({"Bed_Mesh.md": PAGE, "BLTouch.md": "# BLTouch\n"})
    assert call("read_doc", path="Bed_Mash.md")["hint"] == "Did you mean Bed_Mesh.md?"


def test_pages_that_a_link_leads_out_to_are_not_listed(small_docs, tmp_path):
    folder = small_docs({"Bed_Mesh.md": PAGE})
    (tmp_path / "secret.md").write_text("# secret\n", encoding="utf-8")
    (folder / "Leak.md").symlink_to(tmp_path / "secret.md")
    (folder / "Alias.md").symlink_to(folder / "Bed_Mesh.md")
    assert [page.path for page in pages.pages()] == ["Alias.md", "Bed_Mesh.md"]


@pytest.mark.parametrize("heading", ["Faulty Regions", "## Faulty Regions", "#faulty-regions", "faulty regions"])
def test_reading_starts_at_a_heading(small_docs, heading):
    small_docs({"Bed_Mesh.md": PAGE})
    answer = call("read_doc", path="Bed_Mesh.md", heading=heading)
    assert answer["text"].startswith("## Faulty Regions")
    assert answer["offset"] == PAGE.index("## Faulty")


def test_a_section_ends_where_the_next_of_its_level_begins(small_docs):
    small_docs({"A.md": "# A\n\n## B\nb\n\n### C\nc\n\n## D\nd\n"})
    answer = call("read_doc", path="A.md", heading="B")
    assert answer["text"] == "## B\nb\n\n### C\nc\n\n"
    assert (answer["next_offset"], answer["truncated"], answer["next_heading"]) == (None, False, "D")
    assert call("read_doc", path="A.md", heading="C")["text"] == "### C\nc\n\n"
    assert call("read_doc", path="A.md", heading="D")["next_heading"] is None
    assert call("read_doc", path="A.md", heading="A")["text"] == call("read_doc", path="A.md")["text"]


def test_a_long_section_goes_on_to_its_end(small_docs):
    section = "## B\n" + "line\n" * 3000
    small_docs({"A.md": f"# A\n\n{section}## C\n"})
    read, offset = "", 0
    while offset is not None:
        answer = call("read_doc", path="A.md", heading="B", offset=offset)
        assert len(answer["text"]) <= 10_000
        assert answer["next_heading"] == "C"
        read += answer["text"][: (answer["next_offset"] or 5 + len(section)) - answer["offset"]]
        offset = answer["next_offset"]
    assert read == section
    assert call("read_doc", path="A.md", heading="B", offset=15_500)["code"] == "INVALID_OFFSET"


REFERENCE = """\
# Reference

## Steppers

### [stepper]

```
[stepper_x]
step_pin:
#speed: 5
```

### [extruder1]

```
[extruder1]
#nozzle:
```

### [heater_fan]

```
[heater_fan cooling_fan]
# kick: 3
#speed: 5
```

## G-Code commands

- Home: `G28 [X] [Y]`
- Stop: `M112`

### SET_FAN

`SET_FAN SPEED=1`, unlike `G28`.
"""


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ("[stepper_x]", "### [stepper]"),
        ("[stepper_y1]", "### [stepper]"),
        ("[extruder3]", "### [extruder1]"),
        ("[heater_fan hotend]", "### [heater_fan]"),
        ("heater_fan", "### [heater_fan]"),
        ("kick", "### [heater_fan]"),
        ("#nozzle:", "### [extruder1]"),
        ("G28", "## G-Code commands"),
        ("set_fan", "### SET_FAN"),
    ],
)
def test_a_section_is_found_by_what_is_typed(small_docs, heading, expected):
    small_docs({"R.md": REFERENCE})
    assert call("read_doc", path="R.md", heading=heading)["text"].startswith(expected + "\n")


def test_where_several_sections_fit_all_are_named(small_docs):
    small_docs({"R.md": REFERENCE})
    answer = call("read_doc", path="R.md", heading="speed")
    assert answer["code"] == "HEADING_AMBIGUOUS"
    assert answer["hint"] == "Name one as heading: [stepper]; [heater_fan]."


@pytest.mark.parametrize(
    "path",
    [
        "Bed_Mesh.md#faulty-regions",
        "./Bed_Mesh.md#faulty-regions",
        "Bed_Mesh.html#faulty-regions",
        "https://www.klipper3d.org/Bed_Mesh.html#faulty-regions",
        "https://github.com/Klipper3d/klipper/blob/master/docs/Bed_Mesh.md#faulty-regions",
    ],
)
def test_a_link_is_read_at_its_heading(small_docs, path):
    small_docs({"Bed_Mesh.md": PAGE})
    assert call("read_doc", path=path)["text"].startswith("## Faulty Regions")


def test_a_mark_may_be_part_of_a_name(small_docs):
    small_docs({"C#.md": "# C sharp\n", "C.md": "# C\n"})
    assert call("read_doc", path="C#.md")["title"] == "C sharp"
    assert call("read_doc", path="C.md")["title"] == "C"


def test_a_dated_entry_is_read_by_its_date(small_docs):
    small_docs({"Changes.md": "# Changes\n\n20250102: new\n\n20250101: b\n\n20250101: a\n"})
    answer = call("read_doc", path="Changes.md", heading="20250102")
    assert (answer["text"], answer["next_heading"]) == ("20250102: new\n\n", "2025-01-01")
    assert call("read_doc", path="Changes.md", heading="2025-01-01-1")["text"] == "20250101: a\n"
    assert call("list_docs_map", path="Changes")["entries"] == "3 dated ones, 2025-01-01 to 2025-01-02"


def test_the_map_of_a_page_names_its_headings_with_their_size(small_docs):
    small_docs({"A.md": "# A\n\n## B\nb\n\n### C\nc\n\n## D\nd\n"})
    assert call("list_docs_map", path="a") == {
        "success": True,
        "path": "A.md",
        "total_chars": 29,
        "headings": ["# A (29)", "## B (17)", "### C (9)", "## D (7)"],
    }


def test_a_link_to_a_folder_beside_the_documentation_is_not_read(small_docs):
    folder = small_docs({"A.md": "# A\n"})
    private = folder.with_name("docs_private")
    private.mkdir()
    (private / "secret.md").write_text("# secret\n", encoding="utf-8")
    (folder / "Leak.md").symlink_to(private / "secret.md")
    assert [page.path for page in pages.pages()] == ["A.md"]
    assert call("read_doc", path="Leak.md")["code"] == "INVALID_PATH"


def test_a_file_whose_name_is_not_text_is_left_out(small_docs):
    folder = small_docs({"A.md": "# A\n"})
    (folder / os.fsdecode(b"caf\xe9.md")).write_text("# Cafe\n", encoding="utf-8")
    assert [page.path for page in pages.pages()] == ["A.md"]
    assert json.dumps(call("list_docs_map"), ensure_ascii=False).encode()


def test_a_very_long_page_is_listed_but_not_read(small_docs):
    folder = small_docs({"A.md": "# A\n", "Long.md": "# Long\n\nunique\n" + "x" * pages.LONGEST_BYTES})
    assert [page["name"] for page in call("list_docs_map")["pages"]] == ["A.md", "Long.md"]
    assert call("read_doc", path="Long.md")["code"] == "TOO_LONG"
    assert call("search_docs", query="unique")["result"] == []
    assert folder.exists()


EVIL = {
    "blanks": "# " + " " * 60_000 + "x\n",
    "blanks and marks": "# x " + "# " * 30_000 + "\n",
    "brackets": "# " + "[" * 60_000 + "\n",
    "links": "# " + "[](" * 20_000 + "\n",
    "marks": "#" * 60_000 + "\n" + " #" * 30_000 + "\n",
    "headings": "# a\n" * 20_000,
    "lists": "- " * 30_000 + "\n" + " " * 60_000 + "- `\n",
}


@pytest.mark.parametrize("name", EVIL)
def test_an_evil_heading_costs_little_and_is_cut(small_docs, name):
    small_docs({"Evil.md": EVIL[name] + "evil words\n"})
    start = time.process_time()
    assert len(call("read_doc", path="Evil.md")["title"]) <= 200
    for result in call("search_docs", query="evil words")["result"]:
        assert len(json.dumps(result)) < 3000
    assert call("read_doc", path="Evil.md", heading="[" * 200)["success"] is False
    assert call("list_docs_map", path="Evil.md")["success"] is True
    assert time.process_time() - start < 10  # it was a minute


def test_the_second_of_two_equal_headings_has_a_number(small_docs):
    small_docs({"Twice.md": "# A\n\n## Same\none\n\n## Same\ntwo\n"})
    assert "two" in call("read_doc", path="Twice.md", heading="#same-1")["text"]
    assert "one" in call("read_doc", path="Twice.md", heading="Same")["text"]


def test_a_heading_that_is_not_there_names_the_nearest(small_docs):
    small_docs({"Bed_Mesh.md": PAGE})
    answer = call("read_doc", path="Bed_Mesh.md", heading="Fautly Region")
    assert answer["code"] == "HEADING_NOT_FOUND"
    assert "Faulty Regions" in answer["hint"]


def test_an_offset_behind_the_end_says_how_long_the_page_is(small_docs):
    small_docs({"Bed_Mesh.md": PAGE})
    answer = call("read_doc", path="Bed_Mesh.md", offset=10_000)
    assert answer["code"] == "INVALID_OFFSET"
    assert str(len(PAGE)) in answer["hint"]


def test_headings_are_found_outside_of_code_only():
    assert [(one.level, one.text, one.line) for one in markdown.headings(PAGE)] == [
        (1, "Bed Mesh", 1),
        (2, "Faulty Regions", 5),
        (3, "Set zero point", 11),
    ]
    for one in markdown.headings(PAGE):
        assert PAGE[one.offset :].startswith("#")


def test_the_map_shows_folders_titles_sizes_and_counts_assets(small_docs):
    small_docs({"A.md": "# Title A\n", "sub/B_b.md": "no heading", "img/x.png": b"\xff", "img/y.png": b"\xff"})
    assert call("list_docs_map") == {
        "success": True,
        "pages": [{"name": "A.md", "title": "Title A", "size": 10}],
        "folders": {"sub": {"pages": [{"name": "B_b.md", "title": "B b", "size": 10}]}, "img": {"assets": 2}},
    }


def test_the_map_leaves_out_a_page_that_goes_while_it_is_made(small_docs, monkeypatch):
    docs = small_docs({"A.md": "# A\n", "B.md": "# B\n", "sub/C.md": "# C\n"})
    listed = list(pages.pages())
    shutil.rmtree(docs / "sub")
    (docs / "sub").write_text("a file now")
    (docs / "B.md").unlink()
    monkeypatch.setattr(pages, "pages", lambda: iter(listed))
    assert call("list_docs_map") == {
        "success": True,
        "pages": [{"name": "A.md", "title": "A", "size": 4}],
        "assets": 1,
    }


def test_the_map_leaves_out_a_page_that_does_not_open(small_docs):
    docs = small_docs({"A.md": "# A\n"})
    (docs / "Loop.md").symlink_to("Loop.md")
    assert [page["name"] for page in call("list_docs_map")["pages"]] == ["A.md"]


def test_further_repositories_are_listed_and_read_under_their_name(small_docs, env):
    folder = small_docs({"Bed_Mesh.md": PAGE})
    extra = folder.parent.parent / ".klipper.extra" / "moonraker" / "docs"
    extra.mkdir(parents=True)
    (extra / "Install.md").write_text("# Installation\n", encoding="utf-8")
    env(KLIPPER_DOCS_EXTRA="moonraker=https://example.org/m.git")
    assert call("list_docs_map")["folders"]["moonraker"]["pages"][0]["title"] == "Installation"
    assert call("read_doc", path="moonraker/Install.md")["path"] == "moonraker/Install.md"
    assert call("read_doc", path="moonraker/../Bed_Mesh.md")["code"] == "INVALID_PATH"


@pytest.mark.parametrize("name", ["read_doc", "list_docs_map"])
def test_without_documentation_the_way_to_get_it_is_named(name):
    answer = call(name, **({"path": "Bed_Mesh.md"} if name == "read_doc" else {}))
    assert answer["code"] == "DOCS_MISSING"
    assert "sync_docs" in answer["hint"]
