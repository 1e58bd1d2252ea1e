"""What anki.invoke asks Anki besides what it was told to: nothing where no deck is named."""


def test_a_reading_action_without_decks_is_one_request(anki, call, env):
    env(MCP_READ_ONLY=1)
    call("anki.invoke", action="version")
    before = len(anki.requests)
    call("anki.invoke", action="deckNames")
    assert len(anki.requests) == before + 1
