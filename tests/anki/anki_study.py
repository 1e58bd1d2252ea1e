"""The actions of AnkiConnect for studying, over a real Anki collection, with the manners that were recorded."""

import time
from datetime import datetime, timedelta

from anki.errors import NotFoundError

LOG = ("id", "usn", "ease", "ivl", "lastIvl", "factor", "time", "type")
GUARDED = ("did", "id", "ivl", "lapses", "left", "mod", "nid", "odid", "odue", "ord", "queue", "reps", "type", "usn")


class Studying:
    """A part of AnkiConnect."""

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
        return {str(cid): [dict(zip(LOG, row, strict=True)) for row in self._col.db.all(query, cid)] for cid in cards}

    def cardReviews(self, deck, startID):
        did = self._col.decks.id(deck)
        query = (
            "select id, cid, usn, ease, ivl, lastIvl, factor, time, type from revlog where id > ? and cid in "
            "(select id from cards where did = ?)"
        )
        return [list(row) for row in self._col.db.all(query, startID, did)]

    def getLatestReviewID(self, deck):
        did = self._col.decks.id(deck)
        query = "select max(id) from revlog where cid in (select id from cards where did = ?)"
        return self._col.db.scalar(query, did) or 0

    def insertReviews(self, reviews):
        self._col.db.executemany("insert into revlog values (?, ?, ?, ?, ?, ?, ?, ?, ?)", reviews)

    def getCollectionStatsHTML(self, wholeCollection=True):
        return self._col.stats().report()

    def getNumCardsReviewedToday(self):
        return self._col.db.scalar(
            "select count() from revlog where id > ?", (self._col.sched.day_cutoff - 86400) * 1000
        )

    def getNumCardsReviewedByDay(self):
        start = datetime.fromtimestamp(self._col.sched.day_cutoff - 86400)
        days = {}
        for (review,) in self._col.db.all("select id from revlog order by id desc"):
            back = -(-(start.timestamp() - review / 1000) // 86400)
            day = (start - timedelta(days=max(0, back))).strftime("%Y-%m-%d")
            days[day] = days.get(day, 0) + 1
        return [list(day) for day in days.items()]

    def getIntervals(self, cards, complete=False):
        intervals = []
        for cid in cards:
            rows = [row[0] for row in self._col.db.all("select ivl from revlog where cid = ? order by id", cid)]
            if not rows and self._col.db.scalar("select type from cards where id = ?", cid) == 0:
                rows = [0]
            intervals.append(rows if complete else rows[-1])
        return intervals

    def areDue(self, cards):
        return [self._due(cid) for cid in cards]

    def _due(self, cid):
        if self._col.find_cards(f"cid:{cid} is:new"):
            return True
        ivl = self.getIntervals([cid])[0] if self._col.find_cards(f"cid:{cid}") else [][0]
        date = (self._col.db.scalar("select max(id) from revlog where cid = ?", cid) or 0) / 1000
        return bool(self._col.find_cards(f"cid:{cid} is:due")) if ivl >= -1200 else date - ivl <= time.time()

    # Scheduling by hand

    def suspended(self, card):
        return self._suspended(card)

    def setDueDate(self, cards, days):
        self._col.sched.set_due_date(cards, days)
        return True

    def forgetCards(self, cards):
        self._col.sched.schedule_cards_as_new(cards)

    def relearnCards(self, cards):
        listed = ",".join(map(str, map(int, cards)))
        self._col.db.execute(f"update cards set type=3, queue=1 where id in ({listed})")

    def getEaseFactors(self, cards):
        return [self._col.db.scalar("select factor from cards where id = ?", cid) for cid in cards]

    def setEaseFactors(self, cards, easeFactors):
        return [self._set_factor(cid, factor) for cid, factor in zip(cards, easeFactors, strict=True)]

    def _set_factor(self, cid, factor):
        try:
            card = self._col.get_card(cid)
        except NotFoundError:
            return False
        card.factor = factor
        self._col.update_card(card, skip_undo_entry=True)
        return True

    def setSpecificValueOfCard(self, card, keys, newValues, warning_check=False):
        if not warning_check and set(keys) & set(GUARDED):
            return False
        try:
            kept = self._col.get_card(card)
            for name, value in zip(keys, newValues, strict=True):
                setattr(kept, name, value)
            self._col.update_card(kept, skip_undo_entry=True)
        except Exception as error:
            return [[False, str(error) or f"Card was not found: {card}"]]
        return [True]

    # Tags

    def replaceTags(self, notes, tag_to_replace, replace_with_tag):
        for nid in notes:
            try:
                note = self._col.get_note(nid)
            except NotFoundError:
                continue
            if note.has_tag(tag_to_replace):
                note.remove_tag(tag_to_replace)
                note.add_tag(replace_with_tag)
                self._col.update_note(note)

    def replaceTagsInAllNotes(self, tag_to_replace, replace_with_tag):
        self.replaceTags(self._col.find_notes(""), tag_to_replace, replace_with_tag)

    def clearUnusedTags(self):
        self._col.tags.clear_unused_tags()
