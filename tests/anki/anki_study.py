"""The actions of AnkiConnect for studying, also in its windows, with the manners that were recorded."""

import time
from datetime import datetime, timedelta

from anki.errors import NotFoundError

LOG = ("id", "usn", "ease", "ivl", "lastIvl", "factor", "time", "type")
SHOWN = "cardId fields fieldOrder question answer modelName deckName css".split()
GUARDED = set("did id ivl lapses left mod nid odid odue ord queue reps type usn".split())


class Studying:
    """A part of AnkiConnect: answers, the review log, scheduling by hand."""

    # Answers and the review log

    def answerCards(self, answers):
        done = []
        for answer in answers:
            try:
                card = self._col.get_card(answer["cardId"])
            except NotFoundError:
                done.append(False)
                continue
            card.start_timer()
            self._col.sched.answerCard(card, answer["ease"])
            time.sleep(0.002)  # two rows of the log need two ids
            done.append(True)
        return done

    def getReviewsOfCards(self, cards):
        query = f"select {', '.join(LOG)} from revlog where cid = ? order by id"
        return {
            str(cid): [dict(zip(LOG, row, strict=True)) for row in self._col.db.all(query, cid)]
            for cid in cards
        }

    def getNumCardsReviewedToday(self):
        return self._col.db.scalar(
            "select count() from revlog where id>?", (self._col.sched.day_cutoff - 86400) * 1000
        )

    def getNumCardsReviewedByDay(self):
        start = datetime.fromtimestamp(self._col.sched.day_cutoff - 86400)
        days = {}
        for (review,) in self._col.db.all("select id from revlog order by id desc"):
            back = -(-(start.timestamp() - review / 1000) // 86400)
            day = (start - timedelta(days=max(0, back))).strftime("%Y-%m-%d")
            days[day] = days.get(day, 0) + 1
        return [list(day) for day in days.items()]

    # Scheduling by hand

    def setDueDate(self, cards, days):
        self._col.sched.set_due_date(cards, days)
        return True

    def forgetCards(self, cards):
        self._col.sched.schedule_cards_as_new(cards)

    def setSpecificValueOfCard(self, card, keys, newValues, warning_check=False):
        if not warning_check and GUARDED & set(keys):
            return False
        kept = self._col.get_card(card)
        for name, value in zip(keys, newValues, strict=True):
            setattr(kept, name, value)
        self._col.update_card(kept, skip_undo_entry=True)
        return [True]

    # Tags

    def replaceTags(self, notes, tag_to_replace, replace_with_tag):
        for nid in notes:
            note = self._col.get_note(nid)
            if note.has_tag(tag_to_replace):
                note.remove_tag(tag_to_replace)
                note.add_tag(replace_with_tag)
                self._col.update_note(note)


class Windows:
    """A part of AnkiConnect: a review. `_showing` is the card in the review window,
    `_answer_shown` whether its answer is."""

    _showing: int | None = None
    _answer_shown = False
    # How often the card had been answered when it was shown: one that was answered since is refused in an
    # error box.
    _reps_shown = 0

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
        buttons = {"buttons": [1, 2, 3, 4], "nextReviews": self._next_reviews(self._showing)}
        return {**{name: info[name] for name in SHOWN}, **buttons, "template": "Card 1"}

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

    # The Browser, in which nothing is selected

    def guiSelectedNotes(self):
        return []
