"""anki.invoke: what reaches files of Anki's host is refused, everything else is sent as it is."""

import pytest

BASIC = {"deckName": "Default", "modelName": "Basic", "fields": {"Front": "q"}}
PUBLIC = "http://93.184.215.14/pic.png"


def with_media(**media):
    return {"note": {**BASIC, **media}}


@pytest.mark.parametrize(
    ("action", "params"),
    [
        ("exportPackage", {"deck": "Default", "path": "x.apkg"}),
        ("importPackage", {"path": "x.apkg"}),
        ("guiImportFile", {}),
        ("removeEmptyNotes", {}),
        ("storeMediaFile", {"filename": "n.txt", "path": "/etc/hostname"}),
        ("storeMediaFile", {"filename": "n.txt", "url": "http://127.0.0.1:9/pic.png"}),
        ("storeMediaFile", {"filename": "n.txt", "url": "http://[::1]/pic.png"}),
        ("storeMediaFile", {"filename": "n.txt", "url": "http://2130706433/pic.png"}),
        ("storeMediaFile", {"filename": "n.txt", "url": "http://no-such-host.invalid/pic.png"}),
        ("storeMediaFile", {"filename": "n.txt", "url": "file:///etc/hostname"}),
        ("addNote", with_media(picture={"path": "/etc/hostname", "filename": "n.txt", "fields": ["Front"]})),
        ("addNote", with_media(audio=[{"url": "http://192.168.1.1/a", "filename": "n.txt", "fields": []}])),
        (
            "updateNoteFields",
            {"note": {"id": 1, "fields": {}, "video": [{"path": "/x", "filename": "n", "fields": []}]}},
        ),
    ],
)
def test_what_reaches_files_of_anki_s_host_is_refused_before_it_is_sent(anki, call, env, action, params):
    for sent in (
        {"action": action, "params": params},
        {"action": "multi", "params": {"actions": [{"action": action, "params": params}]}},
    ):
        answer = call("anki.invoke", **sent)
        assert answer["code"] == "ANKI_INVOKE"
        assert "ANKI_INVOKE=all" in answer["hint"]
    assert anki.requests == []


def test_the_owner_can_allow_everything(anki, call, env, tmp_path):
    env(ANKI_INVOKE="all")
    (tmp_path / "n.txt").write_text("mine")

    assert call("anki.invoke", action="storeMediaFile", params={"filename": "n.txt", "path": str(tmp_path / "n.txt")})
    assert call("anki.get_media", filename="n.txt")["sizeBytes"] == 4


def test_media_from_the_public_web_and_as_data_are_sent_as_they_are(anki, call):
    assert call("anki.invoke", action="storeMediaFile", params={"filename": "a.png", "url": PUBLIC}) == "a.png"
    assert call("anki.invoke", action="storeMediaFile", params={"filename": "b.png", "data": "eA=="}) == "b.png"


def test_fields_may_be_called_as_media_parameters_are(anki, call):
    call(
        "anki.create_model",
        modelName="Files",
        inOrderFields=["path", "url"],
        cardTemplates=[{"name": "c", "front": "{{path}}", "back": "{{url}}"}],
    )
    note = {"deckName": "Default", "modelName": "Files", "fields": {"path": "/etc", "url": "http://127.0.0.1"}}

    assert call("anki.invoke", action="addNote", params={"note": note})


@pytest.mark.parametrize("pattern", ["/etc/host*", "../*", "a/../../*", "..\\*"])
@pytest.mark.parametrize("read_only", ["0", "1"])
def test_a_pattern_that_leads_out_of_the_media_folder_is_refused(anki, call, env, pattern, read_only):
    env(MCP_READ_ONLY=read_only)

    assert call("anki.invoke", action="getMediaFilesNames", params={"pattern": pattern})["code"] == "INVALID_PATTERN"
    assert anki.requests == []
