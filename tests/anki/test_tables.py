"""Pasted tables arrive as they were meant, cell by cell; where Anki reads the same text, as Anki reads it."""

import html

import pytest

from tests.anki.anki_helpers import add_rows, add_text, both_versions, call, fronts
from tests.support.client import json_lines
from tools.anki import tables
from tools.core.errors import ToolError

NAMES = ["Front", "Back", "tags"]


def cells(text, names=("Front", "Back")):
    """The fields of each note, and the remarks."""
    table = tables.from_text(text, list(names))
    return [list(note.fields.values()) for note in table.notes("", "")], table.remarks


# A table, and its cells.
CELLS = json_lines(r"""
["cat\t\"кот\nкошка\"\nbird\tптица", [["cat", "кот<br>кошка"], ["bird", "птица"]]]
["dog\t\"the \"\"big\"\" one\"", [["dog", "the \"big\" one"]]]
["say \"hi\"\t5\" disk", [["say \"hi\"", "5\" disk"]]]
["\"a, b\",c\n\"d \"\"e\"\"\",\"f\ng\"", [["a, b", "c"], ["d \"e\"", "f<br>g"]]]
["\ufefffront\tBACK\r\ncat\tкот\r\n\r\n", [["cat", "кот"]]]
["cat\tкот\rdog\tпёс", [["cat", "кот"], ["dog", "пёс"]]]
["Back;Front\nкот;cat", [["кот", "cat"]]]
["cat\tкот\t\ndog\tпёс\t\t", [["cat", "кот"], ["dog", "пёс"]]]
["one\u2028line\tx", [["one\u2028line", "x"]]]
["a < b\tvector<int>", [["a &lt; b", "vector&lt;int&gt;"]]]
["if a<b and b>c:\tx & y", [["if a&lt;b and b&gt;c:", "x &amp; y"]]]
["a<br>b\tsee <img src=\"a.png\">", [["a<br>b", "see <img src=\"a.png\">"]]]
["a <b>b</b>\t\\( x \\) [sound:a.mp3]", [["a <b>b</b>", "\\( x \\) [sound:a.mp3]"]]]
["Tom &amp; Jerry\tcat&nbsp;and", [["Tom &amp; Jerry", "cat&nbsp;and"]]]
["#html:true\nTom &amp; Jerry\ta < b\nx\t<i>y</i>", [["Tom &amp; Jerry", "a < b"], ["x", "<i>y</i>"]]]
["#html:false\n<b>x</b>\ty", [["&lt;b&gt;x&lt;/b&gt;", "y"]]]
["#separator:Semicolon\na;b\nc;d, e", [["a", "b"], ["c", "d, e"]]]
["#html:true\n#notetype column: 3\n#made_by:x\n\na\tb\tBasic", [["a", "b"]]]
["#html:true\na,b\nc,d", [["a", "b"], ["c", "d"]]]
["#include <x>\ta C header", [["#include &lt;x&gt;", "a C header"]]]
["it's \"unclosed\tx\n\"Tis\ty", [["it's \"unclosed", "x"], ["\"Tis", "y"]]]
["a,\"b\tc\"\nd,e\nf,g", [["a", "b\tc"], ["d", "e"], ["f", "g"]]]
["cat\u0000\tкот", [["cat", "кот"]]]
""")


@pytest.mark.parametrize("text, rows", CELLS)
def test_cells_are_read_as_they_were_meant(text, rows):
    assert cells(text)[0] == rows


REMARKS = json_lines(r"""
["a;b\nc;d", "the cells were separated by ';'"]
["\"a, x\",b\nc,d", "the cells were separated by ','"]
["a\tb;c", null]
["\"Tis\ty", "a quotation mark is not closed: quotation marks were taken as text"]
["front\tback\na\tb", "the first row has the names of the fields: it was left out"]
["front,note,back\na,x,b", "it was left out, and so were the columns note"]
""")


@pytest.mark.parametrize("text, remark", REMARKS)
def test_what_was_taken_for_granted_is_said(text, remark):
    remarks = cells(text)[1]

    assert remarks[-1].endswith(remark) if remark else remarks == []


@pytest.mark.parametrize(
    "text", ["cat - кот, кошка\ndog - пёс, собака", "one\ntwo", "a,b\nc,d\ne,f\ng"]
)
def test_a_text_that_is_no_table_is_refused_whole(text):
    with pytest.raises(ToolError) as refusal:
        cells(text)
    assert "Nothing was sent" in refusal.value.message


def test_a_column_of_tags_beyond_the_table_names_none_of_its_columns():
    table = tables.from_text("#tags column:9\na\tb\tc", ["Front", "Back"])

    assert table.names == ["Front", "Back", ""]


def test_a_header_need_not_have_the_tags():
    assert cells("Front\tBack\ncat\tкот", NAMES)[0] == [["cat", "кот"]]
    assert cells("Tags\tBack\tFront\nx y\tкот\tcat")[0] == [["кот", "cat"]]


def test_anki_s_own_export_comes_with_its_tags_decks_and_types(anki, collection):
    text = (
        "#separator:tab\n#html:true\n#guid column:1\n#notetype column:2\n#deck column:3\n#tags column:6\n"
        "g1\tBasic\tGeo::Cities\tBerlin?\t<b>Germany</b>\tgeo capital\n"
        'g2\tBasic\tGeo\t"Rome ""the eternal""?"\tItaly\t\n'
    )

    answer = add_text(text)

    assert answer["added"] == 2 and "details" not in answer
    assert fronts(collection, "Geo::Cities") == ["Berlin?"]
    assert fronts(collection, "Geo") == ["Berlin?", 'Rome "the eternal"?']
    note = collection.get_note(*collection.find_notes("Berlin"))
    assert (note["Back"], sorted(note.tags)) == ("<b>Germany</b>", ["capital", "geo"])


@both_versions
def test_the_deck_of_the_call_goes_before_those_of_the_file(anki, collection):
    text = "#deck column:3\n#tags:all\na\tb\tOther\nc\td\tGeo"

    add_text(text, deck="Words")
    add_text(text.replace("a\t", "e\t").replace("c\t", "f\t"))

    assert fronts(collection, "Words") == ["a", "c"]
    assert (fronts(collection, "Other"), fronts(collection, "Geo")) == (["e"], ["f"])
    assert len(collection.find_notes("tag:all")) == 4


def test_the_labels_of_an_export_are_the_names_of_its_fields(anki):
    text = "#separator:comma\n#columns:Back,Front\n#deck:Words\n#notetype:Basic\nкот,cat"

    assert call("anki.add_from_model", tsv=text)["added"] == 1
    assert fronts(anki.collection, "Words") == ["cat"]
    assert call("anki.add_from_model", tsv="a,b")["code"] == "INVALID_ARGUMENTS"


def test_of_ninety_notes_that_are_there_the_answer_names_a_range(anki):
    rows = [[f"word {number}", "x"] for number in range(90)]
    add_rows(rows)

    few = add_rows(rows[:5])
    again = add_rows([["new", "x"], *rows, ["", "x"]])

    assert (again["added"], again["skipped"], again["duplicates"]) == (1, 91, "90 of the rows 1-90")
    assert [detail["index"] for detail in again["details"]] == [91]
    assert len(few["details"]) == 5


# Beside Anki's own importer

TEXTS = {
    "a spreadsheet's tabs": (
        'cat\t"кот\nкошка"\tanimals\ndog\t"the ""big"" one"\t\nbird\tптица\tanimals wild\n'
    ),
    "a spreadsheet's csv": 'cat,"кот, кошка",animals\r\ndog,пёс,\r\n"bird, small",птица,wild\r\n',
    "a german csv": 'Hund;"der ""Hund"";die Hunde";tier\nKatze;die Katze;tier\n',
    "Anki's export": (
        '#separator:tab\n#html:true\n#tags column:3\nx &lt; y\t"<b>a</b>\nb"\tt1 t2\n"#c"\td\t\n'
    ),
    "Anki's export as text": "#separator:tab\n#html:false\n#tags column:3\na < b\tc & d\tt1\n",
    "html without a head": "<b>cat</b>\tкот<br>кошка\tt\ndog\t<i>пёс</i>\t\n",
    "formulas": "\\(x^2\\)\t\\[\\frac{a}{b}\\]\tmath\nE = mc^2\t$E$\tmath\n",
}


@pytest.mark.parametrize("kind", TEXTS)
def test_cells_arrive_as_by_anki_s_own_import(collection_in, tmp_path, kind):
    from anki.collection import ImportCsvRequest

    collection = collection_in(tmp_path / "judge")
    path = tmp_path / "table.txt"
    path.write_text(TEXTS[kind], encoding="utf-8", newline="")
    metadata = collection.get_csv_metadata(path=str(path), delimiter=None)
    if not metadata.tags_column:
        metadata.tags_column = 3
    collection.import_csv(ImportCsvRequest(path=str(path), metadata=metadata))
    theirs = map(collection.get_note, collection.find_notes(""))

    ours = tables.from_text(TEXTS[kind], NAMES).notes("", "")

    assert sorted(unescaped(note.fields.values(), note.tags) for note in ours) == sorted(
        unescaped(note.fields[:2], note.tags) for note in theirs
    )


def unescaped(fields, tags):
    return list(map(html.unescape, fields)), sorted(tags)
