"""What a person edited or committed in the checkout survives sync_docs."""

import os
from pathlib import Path

import pytest

from tests.klipper.test_sync import assert_at_tip, done
from tests.klipper.upstreams import contents, git, page, serving, smart_http


def test_a_page_edited_here_and_changed_upstream_is_put_aside_and_named(docs, upstream):
    done()
    (docs / "docs/Bed_Mesh.md").write_text("my notes\n")
    upstream.commit({"docs/Bed_Mesh.md": page("Bed Mesh, 2")})

    edits = done()["local_edits"]

    assert edits["pages"] == ["docs/Bed_Mesh.md"]
    assert contents(Path(edits["moved_to"])) == {"docs/Bed_Mesh.md": b"my notes\n"}
    assert not Path(edits["moved_to"]).is_relative_to(docs / "docs")
    assert_at_tip(docs, upstream)


def test_a_page_edited_here_only_is_put_aside_too_and_the_upstreams_is_there_again(docs, upstream):
    done()
    (docs / "docs/Bed_Mesh.md").write_text("my notes\n")
    upstream.commit({"docs/BLTouch.md": page("BLTouch, 2")})

    answer = done()

    assert answer["restored"] == ["Bed_Mesh.md"] and list(answer["changed"]) == ["BLTouch.md"]
    assert contents(Path(answer["local_edits"]["moved_to"])) == {"docs/Bed_Mesh.md": b"my notes\n"}
    assert_at_tip(docs, upstream)


def test_an_edit_without_news_from_the_upstream_is_put_aside_once(docs, upstream):
    done()
    (docs / "docs/Bed_Mesh.md").write_text("my notes\n")

    answer = done()

    assert answer["status"] == "restored" and answer["local_edits"]["pages"] == ["docs/Bed_Mesh.md"]
    assert_at_tip(docs, upstream)
    assert "local_edits" not in done()


def test_a_page_edited_here_and_removed_upstream_is_put_aside(docs, upstream):
    done()
    (docs / "docs/BLTouch.md").write_text("my notes\n")
    upstream.commit({"docs/BLTouch.md": None})

    edits = done()["local_edits"]

    assert contents(Path(edits["moved_to"])) == {"docs/BLTouch.md": b"my notes\n"}
    assert_at_tip(docs, upstream)


def test_a_page_written_here_that_the_upstream_adds_too_is_put_aside(docs, upstream):
    done()
    (docs / "docs/New.md").write_text("mine\n")
    upstream.commit({"docs/New.md": page("New")})

    edits = done()["local_edits"]

    assert contents(Path(edits["moved_to"])) == {"docs/New.md": b"mine\n"}
    assert_at_tip(docs, upstream)


def test_a_page_written_here_that_the_upstream_has_not_is_put_aside(docs, upstream):
    done()
    (docs / "docs/sub").mkdir()
    (docs / "docs/sub/Mine.md").write_text("mine\n")
    upstream.commit({"docs/New.md": page("New")})

    answer = done()

    assert answer["local_edits"]["pages"] == ["docs/sub/Mine.md"] and list(answer["added"]) == ["New.md"]
    assert contents(Path(answer["local_edits"]["moved_to"])) == {"docs/sub/Mine.md": b"mine\n"}
    assert_at_tip(docs, upstream)


def test_an_edit_that_is_what_the_upstream_has_now_is_no_edit(docs, upstream):
    done()
    (docs / "docs/Bed_Mesh.md").write_text(page("Bed Mesh, 2"))
    upstream.commit({"docs/Bed_Mesh.md": page("Bed Mesh, 2")})

    answer = done()

    assert "local_edits" not in answer and list(answer["changed"]) == ["Bed_Mesh.md"]
    assert_at_tip(docs, upstream)


def test_a_folder_made_here_where_a_page_comes_is_put_aside(docs, upstream):
    done()
    (docs / "docs/New.md").mkdir()
    (docs / "docs/New.md/inside.txt").write_text("mine\n")
    upstream.commit({"docs/New.md": page("New")})

    edits = done()["local_edits"]

    assert contents(Path(edits["moved_to"])) == {"docs/New.md/inside.txt": b"mine\n"}
    assert_at_tip(docs, upstream)


def test_a_link_made_here_leads_no_page_out_of_the_checkout(env, docs, upstream):
    upstream.commit({"docs/sub/Page.md": page("Page")})
    done()
    outside = env() / "outside"
    outside.mkdir()
    (docs / "docs/sub/Page.md").unlink()
    (docs / "docs/sub").rmdir()
    (docs / "docs/sub").symlink_to(outside)
    upstream.commit({"docs/sub/Page.md": page("Page, 2")})

    done()

    assert not list(outside.iterdir())
    assert_at_tip(docs, upstream)


@pytest.mark.parametrize("checkout", [(), ("-b", "mine"), ("--detach",)], ids=["branch", "own branch", "detached"])
def test_a_commit_made_here_is_put_aside_with_its_repository(docs, upstream, checkout):
    done()
    if checkout:
        git(docs, "checkout", "-q", *checkout)
    (docs / "docs/Bed_Mesh.md").write_text("my notes\n")
    git(docs, "commit", "-q", "-am", "mine")
    mine = git(docs, "rev-parse", "HEAD")
    upstream.commit({"docs/Bed_Mesh.md": page("Bed Mesh, 2")})

    edits = done()["local_edits"]

    assert edits["pages"] == ["docs/Bed_Mesh.md", ".git"]
    assert git(Path(edits["moved_to"]), "show", f"{mine}:docs/Bed_Mesh.md") == "my notes"
    assert_at_tip(docs, upstream)
    assert "local_edits" not in done()


def test_a_page_edited_while_the_network_is_waited_for_is_put_aside(env, docs, upstream):
    done()
    upstream.commit({"docs/Bed_Mesh.md": page("Bed Mesh, 2")})
    handler = smart_http(upstream.folder.parent, lambda: (docs / "docs/Bed_Mesh.md").write_text("my notes\n"))
    with serving(handler) as url:
        env(KLIPPER_DOCS_URL=f"{url}/upstream/.git")
        edits = done()["local_edits"]

    assert contents(Path(edits["moved_to"])) == {"docs/Bed_Mesh.md": b"my notes\n"}
    assert_at_tip(docs, upstream)


def test_two_edits_of_a_page_within_a_second_are_both_kept(docs, upstream):
    done()
    for turn in range(2):
        (docs / "docs/Bed_Mesh.md").write_text(f"my notes {turn}\n")
        upstream.commit({"docs/Bed_Mesh.md": page(f"Bed Mesh, {turn + 2}")})
        done()

    assert set(contents(docs / "local-edits").values()) == {b"my notes 0\n", b"my notes 1\n"}


def test_a_docs_folder_put_in_place_of_our_link_is_put_aside(docs, upstream):
    done()
    (docs / "docs").unlink()
    (docs / "docs").mkdir()
    (docs / "docs/Bed_Mesh.md").write_text("my notes\n")

    edits = done()["local_edits"]

    assert edits["pages"] == ["docs"]
    assert contents(Path(edits["moved_to"])) == {"docs/Bed_Mesh.md": b"my notes\n"}
    assert_at_tip(docs, upstream)


def test_what_is_no_file_or_cannot_be_read_is_put_aside_too(docs, upstream):
    done()
    os.mkfifo(docs / "docs/pipe")
    upstream.commit({"docs/New.md": page("New")})

    edits = done()["local_edits"]

    assert edits["pages"] == ["docs/pipe"] and (Path(edits["moved_to"]) / "docs/pipe").is_fifo()
    assert_at_tip(docs, upstream)


def test_an_edit_is_kept_even_if_the_record_of_its_generation_was_lost(docs, upstream):
    done()
    (docs / "docs/Bed_Mesh.md").write_text("my notes\n")
    (docs / ".git/pi-mcp.json").write_bytes(b"")
    upstream.commit({"docs/New.md": page("New")})

    edits = done()["local_edits"]

    assert edits["pages"] == ["docs/Bed_Mesh.md", ".git"]
    assert (Path(edits["moved_to"]) / "docs/Bed_Mesh.md").read_text() == "my notes\n"
    assert_at_tip(docs, upstream)


def test_an_editor_that_is_still_open_writes_to_no_page_of_the_next_generation(docs, upstream):
    done()
    with (docs / "docs/Bed_Mesh.md").open("r+") as editor:
        upstream.commit({"docs/BLTouch.md": page("BLTouch, 2")})
        done()
        editor.write("my notes\n")

    assert_at_tip(docs, upstream)
