"""The actions of AnkiConnect that our tools need, in two of its versions, over a real Anki collection.

They have the manners that were recorded of the real add-on: what is silently ignored there is silently
ignored here, and its errors have its words. Method and parameter names are part of that: Python's own error
texts contain them.
"""

import base64
import glob
import os
import re
import unicodedata
from pathlib import Path

from anki.consts import MODEL_CLOZE
from anki.errors import NotFoundError
from anki.utils import ids2str

from tests.anki.anki_study import Studying, Windows

DEFAULT = 1
SCHEDULE = ("type", "queue", "due", "reps", "lapses", "left", "mod")
ILLEGAL = re.compile(r'[][><:"/?*^\\|\0\r\n]')


class AnkiConnect(Studying, Windows):
    """The add-on of November 2025."""

    GREETING = b'{"apiVersion": "AnkiConnect v.6"}'

    def __init__(self, collection):
        self._collection = collection
        self._profile_open = True
        self._open_in_browser: set[int] = set()

    @property
    def _col(self):
        if not self._profile_open:
            raise Exception("collection is not available")
        return self._collection

    def version(self):
        return 6

    def multi(self, actions):
        return [self._handler(entry) for entry in actions]

    def getActiveProfile(self):
        return "User 1"

    # Decks

    def deckNames(self):
        return list(self.deckNamesAndIds())

    def deckNamesAndIds(self):
        return {deck.name: deck.id for deck in self._col.decks.all_names_and_ids()}

    def getDecks(self, cards):
        by_deck = {}
        for card in cards:
            did = self._col.db.scalar("select did from cards where id=?", card)
            by_deck.setdefault(self._col.decks.name(did), []).append(card)
        return by_deck

    def createDeck(self, deck):
        return self._col.decks.id(deck)

    def changeDeck(self, cards, deck):
        did = self._col.decks.id(deck)
        self._col.set_deck(cards, did)
        self._col.db.execute(
            "update cards set did = did where id = 0"
        )  # by SQL in the add-on: that ends undoing

    def deleteDecks(self, decks, cardsToo=False):
        if not cardsToo:
            raise Exception(
                "Since Anki 2.1.28 it's not possible to delete decks without deleting cards as well"
            )
        for deck in decks:
            if deck in self.deckNames():
                self._col.decks.remove([self._col.decks.id(deck)])

    def getDeckConfig(self, deck):
        return self._col.decks.config_dict_for_deck_id(self._col.decks.id(deck))

    def setDeckConfigId(self, decks, configId):
        for deck in decks:
            chosen = self._col.decks.get(self._col.decks.id(deck))
            chosen["conf"] = int(configId)
            self._col.decks.save(chosen)
        return True

    def getDeckStats(self, decks):
        names = ("deck_id", "name", "new_count", "learn_count", "review_count", "total_in_deck")
        tree = self._col.sched.deck_due_tree()
        stats = {}
        for deck in map(self._col.decks.id, decks):
            if node := self._col.decks.find_deck_in_tree(tree, deck):
                stats[str(deck)] = {name: getattr(node, name) for name in names}
        return stats

    # Note types

    def modelNames(self):
        return list(self.modelNamesAndIds())

    def modelNamesAndIds(self):
        return {model.name: model.id for model in self._col.models.all_names_and_ids()}

    def modelFieldNames(self, modelName):
        return [field["name"] for field in self._model(modelName)["flds"]]

    def modelTemplates(self, modelName):
        templates = self._model(modelName)["tmpls"]
        return {
            template["name"]: {"Front": template["qfmt"], "Back": template["afmt"]}
            for template in templates
        }

    def modelStyling(self, modelName):
        return {"css": self._model(modelName)["css"]}

    def createModel(self, modelName, inOrderFields, cardTemplates, css=None, isCloze=False):
        if len(inOrderFields) == 0:
            raise Exception("Must provide at least one field for inOrderFields")
        if len(cardTemplates) == 0:
            raise Exception("Must provide at least one card for cardTemplates")
        if modelName in self.modelNames():
            raise Exception("Model name already exists")
        models = self._col.models
        model = models.new(modelName)
        if isCloze:
            model["type"] = MODEL_CLOZE
        for name in inOrderFields:
            models.add_field(model, models.new_field(name))
        if css is not None:
            model["css"] = css
        for number, card in enumerate(cardTemplates, 1):
            template = models.new_template(card.get("Name", f"Card {number}"))
            template["qfmt"] = card["Front"]
            template["afmt"] = card["Back"]
            models.add_template(model, template)
        models.add(model)
        return model

    def _model(self, name):
        model = self._col.models.by_name(name)
        if model is None:
            raise Exception(f"model was not found: {name}")
        return model

    # Notes

    def addNote(self, note):
        new_note = self._new_note(note)
        self._col.add_note(new_note, self._deck_for_new(note))
        return new_note.id

    def _deck_for_new(self, note):
        return self._col.decks.id_for_name(note["deckName"])

    def addNotes(self, notes):
        added = []
        errors = []
        for note in notes:
            try:
                added.append(self.addNote(note))
            except Exception as error:
                errors.append(str(error))
        if errors:
            self._col.remove_notes(added)
            raise Exception(str(errors))
        return added

    def _new_note(self, note):
        model = self._model(note["modelName"])
        deck = self._col.decks.by_name(note["deckName"])
        if deck is None:
            raise Exception(f"deck was not found: {note['deckName']}")
        new_note = self._col.new_note(model)
        tags = note.get("tags") or []
        new_note.tags = self._col.tags.split(tags) if isinstance(tags, str) else list(tags)
        field_names = {name.lower(): name for name in reversed(new_note.keys())}
        for name, value in note["fields"].items():
            if name.lower() in field_names:
                new_note[field_names[name.lower()]] = value
        self._check(new_note, deck, note.get("options", {}))
        return new_note

    def _check(self, note, deck, options):
        state = note.fields_check()
        if options.get("duplicateScope") == "deck":  # then it looks by itself, and not for clozes
            same = "select 1 from notes n, cards c where c.nid=n.id and mid=? and sfld=? and did=?"
            is_there = self._col.db.scalar(same, note.mid, note.fields[0], deck["id"])
            state = 2 * bool(is_there) if note.fields[0].strip() else 1
        if state == 1:
            raise Exception("cannot create note because it is empty")
        if state == 2 and not options.get("allowDuplicate"):
            raise Exception("cannot create note because it is a duplicate")
        if state not in (0, 2):
            raise Exception("cannot create note for unknown reason")

    def notesInfo(self, notes=None, query=None):
        if notes is None and query is None:
            raise Exception('Must provide either "notes" or a "query"')
        return [
            self._info(nid) for nid in (self._col.find_notes(query) if notes is None else notes)
        ]

    def _info(self, nid):
        try:
            note = self._col.get_note(nid)
        except NotFoundError:
            return {}
        return {
            "noteId": note.id,
            "profile": "User 1",
            "tags": note.tags,
            "fields": self._fields(note),
            "modelName": note.note_type()["name"],
            "mod": note.mod,
            "cards": self._col.db.list("select id from cards where nid=? order by ord", nid),
        }

    def _fields(self, note):
        return {
            name: {"value": value, "order": at} for at, (name, value) in enumerate(note.items())
        }

    def notesModTime(self, notes):
        return [
            {"noteId": info["noteId"], "mod": info["mod"]} if info else {}
            for info in map(self._info, notes)
        ]

    def findNotes(self, query=None):
        return [] if query is None else list(map(int, self._col.find_notes(query)))

    def updateNoteFields(self, note):
        kept = self._note(note["id"])
        for name, value in note["fields"].items():
            if name in kept:
                kept[name] = value
        if kept.id not in self._open_in_browser:
            self._col.update_note(kept)

    def updateNote(self, note):
        if "fields" not in note and "tags" not in note:
            raise Exception('Must provide a "fields" or "tags" property.')
        if "fields" in note:
            self.updateNoteFields(note)
        if "tags" in note:
            self.updateNoteTags(note["id"], note["tags"])

    def updateNoteTags(self, note, tags):
        kept = self._note(note)
        kept.tags = [tags] if isinstance(tags, str) else tags
        self._col.update_note(kept)

    def _note(self, nid):
        try:
            return self._col.get_note(nid)
        except NotFoundError:
            raise Exception(f"Note was not found: {nid}") from None

    def deleteNotes(self, notes):
        self._col.remove_notes(notes)

    def addTags(self, notes, tags):
        self._col.tags.bulk_add(notes, tags)

    def removeTags(self, notes, tags):
        self._col.tags.bulk_remove(notes, tags)

    def getTags(self):
        return self._col.tags.all()

    # Cards

    def findCards(self, query=None):
        return [] if query is None else list(map(int, self._col.find_cards(query)))

    def cardsToNotes(self, cards):
        return self._col.db.list(f"select distinct nid from cards where id in {ids2str(cards)}")

    def cardsInfo(self, cards):
        return [self._card(cid) for cid in cards]

    def _card(self, cid):
        try:
            card = self._col.get_card(cid)
        except NotFoundError:
            return {}
        note = card.note()
        model = card.note_type()
        return {
            "cardId": card.id,
            "fields": self._fields(note),
            "fieldOrder": card.ord,
            "question": card.question(),
            "answer": card.answer(),
            "modelName": model["name"],
            "ord": card.ord,
            "deckName": self._col.decks.name(card.did),
            "css": model["css"],
            "factor": card.factor,
            "interval": card.ivl,
            "note": card.nid,
            **{name: getattr(card, name) for name in SCHEDULE},
            **self._more(card),
        }

    def _more(self, card):
        return {"nextReviews": self._next_reviews(card.id), "flags": card.flags}

    def _next_reviews(self, cid):
        states = self._col._backend.get_scheduling_states(cid)
        return list(self._col._backend.describe_next_states(states))

    def suspend(self, cards):
        return self._set_suspended(cards, True)

    def unsuspend(self, cards):
        self._set_suspended(cards, False)

    def _set_suspended(self, cards, wanted):
        changing = list(cards)
        # The add-on changes the list it walks over, and so passes every second one by.
        for card in changing:
            try:
                is_suspended = self._col.get_card(card).queue == -1
            except NotFoundError:
                raise Exception(f"Card was not found: {card}") from None
            if is_suspended == wanted:
                changing.remove(card)
        if not changing:
            return False
        sched = self._col.sched
        (sched.suspend_cards if wanted else sched.unsuspend_cards)(changing)
        return True

    # Media

    def storeMediaFile(
        self, filename, data=None, path=None, url=None, skipHash=None, deleteExisting=True
    ):
        if not (data or path or url):
            raise Exception('You must provide a "data", "path", or "url" field.')
        content = base64.b64decode(data) if data else Path(path).read_bytes()
        if deleteExisting:
            self.deleteMediaFile(filename)
        return self._col.media.write_data(os.path.basename(filename), content)

    def retrieveMediaFile(self, filename):
        name = ILLEGAL.sub("", unicodedata.normalize("NFC", os.path.basename(filename)))
        path = os.path.join(self._col.media.dir(), name)
        if not os.path.exists(path):
            return False
        with open(path, "rb") as file:
            return base64.b64encode(file.read()).decode("ascii")

    def getMediaFilesNames(self, pattern="*"):
        paths = glob.glob(os.path.join(self._col.media.dir(), pattern))
        return list(map(os.path.basename, paths))

    def deleteMediaFile(self, filename):
        self._col.media.trash_files([filename])


class _Older(AnkiConnect):
    """The add-on of October 2023: no details, no roll-back, and new cards go to the default deck."""

    GREETING = b"AnkiConnect v.6"
    ABSENT = ("getActiveProfile", "notesModTime", "setDueDate")

    def _deck_for_new(self, note):
        return DEFAULT

    def addNotes(self, notes):
        added = []
        for note in notes:
            try:
                added.append(self.addNote(note))
            except Exception:
                added.append(None)
        return added

    def notesInfo(self, notes):
        infos = [self._info(note) for note in notes]
        for info in infos:
            info.pop("profile", None)
            info.pop("mod", None)
        return infos

    def _more(self, card):
        return {}


for _class in (_Older, Studying, Windows):
    for _name, _value in vars(_class).items():
        if callable(_value):
            _value.__qualname__ = f"AnkiConnect.{_name}"

VERSIONS = {"2025-11": AnkiConnect, "2023-10": _Older}
