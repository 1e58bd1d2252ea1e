"""What the Anki tools cost in every conversation."""

from tests import golden


def test_all_anki_tools_together_stay_below_their_share_of_the_context():
    sizes = {tool["name"]: golden.size_bytes(tool) for tool in golden.listing() if tool["name"].startswith("anki_")}

    assert len(sizes) == 20
    assert sum(sizes.values()) <= 12_500, sizes


def test_tools_are_named_as_they_are_listed():
    for tool in golden.listing():
        assert "anki." not in tool["description"]
