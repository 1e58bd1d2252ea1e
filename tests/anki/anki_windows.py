"""The actions of AnkiConnect for Anki's windows: a review and a selection, as far as tools and recordings reach them."""


class Windows:
    """A part of AnkiConnect. `_showing` is the card in the review window, `_answer_shown` whether its answer is."""

    _showing: int | None = None
    _answer_shown = False
    _reps_shown = 0
    """How often the card had been answered when it was shown: one that was answered since is refused in an error box."""
    _selected: tuple[int, ...] = ()

    # The review

    def guiDeckBrowser(self):
        self._show(None)

    def guiDeckOverview(self, name):
        self._show(None)
        deck = self._col.decks.by_name(name)
        if deck:
            self._col.decks.select(deck["id"])
        return deck is not None

    def guiDeckReview(self, name):
        """Shows the first card that the scheduler has; true also if it has none."""
        if not self.guiDeckOverview(name):
            return False
        self._show_next()
        return True

    def guiReviewActive(self):
        return self._showing is not None

    def guiCurrentCard(self):
        if self._showing is None:
            raise Exception("Gui review is not currently active.")
        info = self._card(self._showing)
        names = ("cardId", "fields", "fieldOrder", "question", "answer", "modelName", "deckName", "css")
        states = self._col._backend.get_scheduling_states(self._showing)
        next_reviews = list(self._col._backend.describe_next_states(states))
        buttons = {"buttons": [1, 2, 3, 4], "nextReviews": next_reviews, "template": "Card 1"}
        return {**{name: info[name] for name in names}, **buttons}

    def guiStartCardTimer(self):
        return self.guiReviewActive()

    def guiPlayAudio(self):
        return self.guiReviewActive()

    def guiShowQuestion(self):
        self._answer_shown = False
        return self.guiReviewActive()

    def guiShowAnswer(self):
        self._answer_shown = self.guiReviewActive()
        return self._answer_shown

    def guiAnswerCard(self, ease):
        if not self._answer_shown or ease not in (1, 2, 3, 4):
            return False
        if self._col.get_card(self._showing).reps == self._reps_shown:
            self.answerCards([{"cardId": self._showing, "ease": ease}])
        self._show_next()
        return True

    def guiUndo(self):
        """Also true if there is nothing to undo. After an answer the window shows its card again."""
        undone = self._col.undo_status().undo
        if undone:
            self._col.undo()
        if undone == "Answer Card":
            self._show_next()
        return True

    def _show_next(self):
        card = self._col.sched.getCard()
        self._show(card.id if card else None)

    def _show(self, card):
        self._showing, self._answer_shown = card, False
        self._reps_shown = self._col.get_card(card).reps if card else 0

    # The Browser and the window for new notes

    _browsing = False

    def guiBrowse(self, query=None, reorderCards=None):
        self._browsing = True
        return self.findCards(query)

    def guiSelectCard(self, card):
        """False without the Browser."""
        self._selected = (self._col.get_card(card).nid,) if self._browsing else ()
        return self._browsing

    def guiSelectedNotes(self):
        return list(self._selected)

    def guiAddCards(self, note=None):
        """Opens the window with a draft."""
        if note and self._col.decks.by_name(note["deckName"]) is None:
            raise Exception(f"deck was not found: {note['deckName']}")
        return 0
