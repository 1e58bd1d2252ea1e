"""read_doc, list_docs_map and the paths they take."""

import os

from tests.klipper.asking import call
from tests.support.client import cases

PAGE = "# Bed Mesh\n\nIntro.\n\n## Faulty Regions\n\n```\n``` b ```\n# no heading\n```\n\n### Set `zero` [point](x.md)\n\nText.\n"


def read(path, **more):
    return call("read_doc", path=path, **more)


def windows(path, **heading):
    """Every answer of read_doc from the beginning of a page, or of a section, to its end."""
    offset = 0
    while offset is not None:
        answer = read(path, offset=offset, **heading)
        yield answer
        offset = answer["next_offset"]


def joined(path, **heading):
    """The texts of all windows, without the line that ends each but the last."""
    *others, end = windows(path, **heading)
    texts = [answer["text"][: answer["next_offset"] - answer["offset"]] for answer in others]
    return "".join(texts) + end["text"]


def test_a_short_page_comes_whole(small_docs):
    small_docs({"Bed_Mesh.md": PAGE})
    assert read("Bed_Mesh.md") == {
        "success": True, "path": "Bed_Mesh.md", "title": "Bed Mesh", "text": PAGE, "offset": 0,
        "total_chars": len(PAGE), "next_offset": None, "truncated": False,
    }  # fmt: skip


TEXTS = (
    "x" * 25_000,
    "line\n" * 6_000,
    "строка ё\r\n" * 4_000,
    "a" * 10_000,
    "a" * 10_001,
    "\n" * 20_001,
    "",
)


def test_reading_window_by_window_reproduces_the_file(small_docs):
    for text in TEXTS:
        small_docs({"Long.md": text})
        assert joined("Long.md") == text
        for answer in windows("Long.md"):
            assert len(answer["text"]) <= 10_000
            closing = f"read_doc again with offset={answer['next_offset']}]"
            assert answer["text"].endswith(closing) == answer["truncated"]


# A page as people and pages name it.
SPELLINGS = "Bed_Mesh.md;docs/Bed_Mesh.md;bed_mesh;BED_MESH.MD;./Bed_Mesh.md; Bed_Mesh ".split(";")
LINKS = (
    "Bed_Mesh.md#faulty-regions", "./Bed_Mesh.html#faulty-regions", "https://www.klipper3d.org/Bed_Mesh.html#faulty-regions",
    "https://github.com/Klipper3d/klipper/blob/master/docs/Bed_Mesh.md#faulty-regions",
)  # fmt: skip


def test_a_page_is_read_by_its_path_or_a_link_and_from_a_heading(small_docs):
    small_docs({"Bed_Mesh.md": PAGE, "BLTouch.md": "# BLTouch\n"})
    for path in SPELLINGS:
        assert read(path)["path"] == "Bed_Mesh.md"
    for path in LINKS:
        assert read(path)["text"].startswith("## Faulty Regions")
    for heading in ("Faulty Regions", "## Faulty Regions", "#faulty-regions", "faulty regions"):
        assert read("Bed_Mesh.md", heading=heading)["offset"] == PAGE.index("## Faulty")
    assert read("Bed_Mesh.md", heading="Set zero point")["offset"] == PAGE.index("### Set")
    assert read("Bed_Mash.md")["hint"] == "Did you mean Bed_Mesh.md?"


HOSTILE = {
    "INVALID_PATH": (
        "../secret.md", "docs/../../secret.md", "/etc/passwd", "~/secret.md", "..\\secret.md", "Bed\0Mesh.md", "Bed\nMesh.md",
    ),
    "NOT_FOUND": ("   ", "leads_out.md", "out/secret.md", "img", "No_Such_Page.md", "x" * 900, "-rf", "$(id)"),
    "NOT_TEXT": ("img/bed.png",),
    "INVALID_ARGUMENTS": ("x" * 5000,),
}  # fmt: skip


def test_a_hostile_path_is_an_error_with_a_hint(small_docs, tmp_path):
    folder = small_docs({"Bed_Mesh.md": PAGE, "img/bed.png": b"\x89PNG\r\n\xff\xfe"})
    (tmp_path / "secret.md").write_text("secret", "utf-8")
    (folder / "leads_out.md").symlink_to(tmp_path / "secret.md")
    (folder / "out").symlink_to(tmp_path)
    for code, paths in HOSTILE.items():
        for path in paths:
            assert read(path)["code"] == code, path


def test_a_page_with_a_hash_in_its_name_is_read_as_it_is_listed(small_docs):
    name = "C# and #2.md"
    small_docs({name: "# Notes\n\n## Tips\n", "C.md": "# Other\n\n## and #2.md\n"})
    assert [page["name"] for page in call("list_docs_map")["pages"]] == [name, "C.md"]
    assert read(name)["text"].startswith("# Notes")
    assert read(f"{name}#Tips")["text"] == "## Tips\n"
    assert read("C.md#and #2.md")["text"] == "## and #2.md\n"


def test_what_a_link_leads_out_to_or_nobody_can_name_is_not_listed(small_docs, tmp_path):
    folder = small_docs({"Bed_Mesh.md": PAGE})
    beside = folder.with_name("docs_private")
    beside.mkdir()
    (beside / "secret.md").touch()
    (folder / "Leak.md").symlink_to(beside / "secret.md")
    (folder / "Alias.md").symlink_to(folder / "Bed_Mesh.md")
    (folder / os.fsdecode(b"caf\xe9.md")).touch()
    (folder / "Loop.md").symlink_to("Loop.md")
    assert [page["name"] for page in call("list_docs_map")["pages"]] == ["Alias.md", "Bed_Mesh.md"]
    assert read("Leak.md")["code"] == "NOT_FOUND"


def test_a_section_ends_where_the_next_of_its_level_begins_and_the_map_tells_its_size(small_docs):
    small_docs({"A.md": "# A\n\n## B\nb\n\n### C\nc\n\n## D\nd\n"})
    answer = read("A.md", heading="B")
    assert answer["text"] == "## B\nb\n\n### C\nc\n\n"
    assert not answer["truncated"] and answer["next_offset"] is None
    assert answer["next_heading"] == "D"
    assert read("A.md", heading="C")["text"] == "### C\nc\n\n"
    assert read("A.md", heading="D")["next_heading"] is None
    assert read("A.md", heading="A")["text"] == read("A.md")["text"]
    outline = call("list_docs_map", path="a")
    assert (outline["path"], outline["total_chars"]) == ("A.md", 29)
    assert outline["headings"] == ["# A (29)", "## B (17)", "### C (9)", "## D (7)"]


def test_a_long_section_goes_on_to_its_end(small_docs):
    section = "## B\n" + "line\n" * 3000
    small_docs({"A.md": f"# A\n\n{section}## C\n"})
    assert joined("A.md", heading="B") == section
    assert {answer["next_heading"] for answer in windows("A.md", heading="B")} == {"C"}
    assert read("A.md", heading="B", offset=15_500)["text"] == ""


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
TYPED = """
[stepper_x] | ### [stepper]
[stepper_y1] | ### [stepper]
[extruder3] | ### [extruder1]
[heater_fan hotend] | ### [heater_fan]
heater_fan | ### [heater_fan]
kick | ### [heater_fan]
#nozzle: | ### [extruder1]
G28 | ## G-Code commands
set_fan | ### SET_FAN
"""


def test_a_section_is_found_by_what_is_typed(small_docs):
    small_docs({"R.md": REFERENCE})
    for typed, heading in cases(TYPED):
        assert read("R.md", heading=typed)["text"].startswith(heading + "\n")
    answer = read("R.md", heading="speed")
    assert answer["code"] == "HEADING_AMBIGUOUS"
    assert answer["hint"] == "Name one as heading: [stepper]; [heater_fan]."


def test_a_dated_entry_is_read_by_its_date(small_docs):
    small_docs({"Changes.md": "# Changes\n\n20250102: new\n\n20250101: b\n\n20250101: a\n"})
    answer = read("Changes.md", heading="20250102")
    assert (answer["text"], answer["next_heading"]) == ("20250102: new\n\n", "2025-01-01")
    assert read("Changes.md", heading="2025-01-01-1")["text"] == "20250101: a\n"
    entries = call("list_docs_map", path="Changes")["entries"]
    assert entries == "3 dated ones, 2025-01-01 to 2025-01-02"


def test_for_what_is_not_there_the_answer_names_what_is(small_docs):
    small_docs({"Bed_Mesh.md": PAGE, "Twice.md": "# A\n\n## Same\none\n\n## Same\ntwo\n"})
    assert "two" in read("Twice.md", heading="#same-1")["text"]
    assert "one" in read("Twice.md", heading="Same")["text"]
    answer = read("Bed_Mesh.md", heading="Fautly Region")
    assert answer["code"] == "HEADING_NOT_FOUND" and "Faulty Regions" in answer["hint"]
    answer = read("Bed_Mesh.md", offset=10_000)
    assert (answer["text"], answer["next_offset"], answer["total_chars"]) == ("", None, len(PAGE))


def test_the_map_shows_folders_titles_sizes_and_counts_assets(small_docs):
    small_docs(
        {"A.md": "# Title A\n", "sub/B_b.md": "no heading", "img/x.png": b"", "img/y.png": b""}
    )
    assert call("list_docs_map") == {
        "success": True,
        "pages": [{"name": "A.md", "title": "Title A", "size": 10}],
        "folders": {
            "sub": {"pages": [{"name": "B_b.md", "title": "B b", "size": 10}]},
            "img": {"assets": 2},
        },
    }


def test_further_repositories_are_a_line_each_and_read_and_listed_under_their_name(
    small_docs, further
):
    small_docs({"A.md": "# A\n"})
    further({"install.md": "# Installation\n"})

    tree = call("list_docs_map")
    of_moonraker = call("list_docs_map", path="moonraker/")

    assert [page["name"] for page in tree["pages"]] == ["A.md"]
    assert tree["sources"] == {"moonraker": "1 pages: list_docs_map(path='moonraker')"}
    (page,) = of_moonraker["folders"]["moonraker"]["pages"]
    assert page["name"] == "install.md"
    assert read("moonraker/Install.md")["path"] == "moonraker/install.md"
    assert read("moonraker/../A.md")["code"] == "INVALID_PATH"
    assert read("install.md")["code"] == "NOT_FOUND"


def test_without_documentation_the_way_to_get_it_is_named():
    for answer in (read("Bed_Mesh.md"), call("list_docs_map")):
        assert answer["code"] == "DOCS_MISSING" and "sync_docs" in answer["hint"]
