"""The rules of OnePercent once more, as simply as they can be said: plain dicts, nothing kept that can be
counted."""

from copy import deepcopy
from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import groupby

FOREVER = date.max
# In place of the times of a week: a turn of every n days, in which it is to be done once.
TURN = -1
BY_THE_WEEK = ("weekly", "times_per_week", "every_n_days")
DAY = timedelta(1)
NAMED = {"daily": range(1, 8), "weekdays": range(1, 6), "weekends": (6, 7)}


class Refused(Exception):
    """The code of the error that the action must get."""


class RulesModel:
    """The data of one user, rows by their ids, and the rules by which actions change them.

    Each action is a method of its name; it gets the row that it acts on and its other params, whose ids are
    resolved, and returns XP.
    """

    def __init__(self):
        self.rows = {"goal": {}, "step": {}, "habit": {}, "diary": {}}
        self.spheres = {}
        self.order = {"goal": [], "habit": []}
        self.gains = []

    def copy(self):
        return deepcopy(self)

    def do(self, action, params, today, new):
        """Do an action; `new` is the id of what it creates."""
        self.today = today
        self.new = new
        domain = action.partition(".")[0]
        others = params.copy()
        key = others.pop(f"{domain}_id", None)
        acted_on = [] if key is None else [self._find(domain, key)]
        return getattr(self, action.replace(".", "_"))(*acted_on, **others) or 0

    @property
    def balance(self):
        return sum(self.gains)

    def earn(self, xp):
        xp = max(xp, -self.balance)
        self.gains.append(xp)
        return xp

    def shown(self, today):
        """What the snapshot must say of it: goals, habits, entries of the diary, spheres, XP."""
        goals = [self._goal(goal) for goal in self._seen("goal", today)]
        habits = []
        for habit in self._seen("habit", today):
            streak = self.plain(habit["id"]).streak(today)
            habits.append((habit["id"], habit["name"], *streak))
        entries = self.rows["diary"].values()
        diary = {entry["id"]: entry["what_done"] for entry in entries if not entry["deleted"]}
        lifetime = sum(gain for gain in self.gains if gain > 0)
        return goals, habits, diary, self.spheres, (self.balance, lifetime)

    def _seen(self, domain, today):
        """The rows of a list, in its order."""
        rows = [self.rows[domain][key] for key in self.order[domain]]
        return [
            row
            for row in rows
            if today <= row.get("until", FOREVER) and not (row["deleted"] or row["archived"])
        ]

    def _goal(self, goal):
        steps = self._steps(goal)
        dates = sorted((step["id"], step["dt"]) for step in steps if not step["done"])
        done = len(steps) - len(dates)
        shown = (goal["id"], goal["title"], goal["status"])
        return *shown, len(steps), done, dates, goal["due"], self._sum(goal)

    def _steps(self, goal):
        return [
            step
            for step in self.rows["step"].values()
            if step["goal_id"] == goal["id"] and not step["deleted"]
        ]

    def _sum(self, goal):
        """What was added to a goal, and what its habits brought."""
        if goal["target"] is None:
            return None
        total = goal["added"]
        for habit in self.rows["habit"].values():
            if habit["goal_id"] == goal["id"] and not habit["deleted"]:
                total += sum(mark["amount"] or 0 for mark in habit["marks"].values())
        return total

    def plain(self, key):
        """A habit as it is judged day by day."""
        habit = self.rows["habit"][key]
        signs = {day: mark["sign"] for day, mark in habit["marks"].items()}
        names = ("created", "schedules", "pauses", "until", "is_limit")
        return PlainHabit(marks=signs, **{name: habit[name] for name in names})

    def _make(self, domain, **fields):
        new = {"id": self.new, "deleted": False, "archived": False, "brought": 0}
        self.rows[domain][self.new] = new | fields
        if domain in self.order:
            self.order[domain].append(self.new)

    def _move(self, domain, row, order):
        """Put a row before that of a number in the list that is seen; else last."""
        rows = self._seen(domain, self.today)
        seen = [each["id"] for each in rows if each.get("status") != "complete"]
        others = [key for key in seen if key != row["id"]]
        place = min(order - 1, len(others))
        if [*others[:place], row["id"], *others[place:]] == seen:
            raise Refused("NOTHING_TO_UPDATE")
        keys = self.order[domain]
        keys.remove(row["id"])
        keys.insert(keys.index(others[place]) if place < len(others) else len(keys), row["id"])

    def _find(self, domain, key):
        row = self.rows[domain].get(key)
        if row is None or row["deleted"]:
            raise Refused(f"{domain.upper()}_NOT_FOUND")
        return row

    def _update(self, row, params):
        if all(row[name] == value for name, value in params.items()):
            raise Refused("NOTHING_TO_UPDATE")
        row.update(params)

    def _close(self, row, name, state, worth):
        """Complete or reopen: what it has brought in all is its worth, or nothing."""
        if row[name] == state:
            raise Refused("ALREADY_COMPLETED" if worth else "NOT_COMPLETED")
        row[name] = state
        earned = self.earn(worth - row["brought"])
        row["brought"] += earned
        return earned

    def goal_create(self, title, target=None, due=None):
        self._make("goal", title=title, target=target, due=due, added=0, status="work")

    def goal_update(self, goal, order=0, **texts):
        if order:
            self._move("goal", goal, order)
        else:
            self._update(goal, texts)

    def goal_add(self, goal, amount):
        if goal["target"] is None:
            raise Refused("FIELD_INVALID")
        goal["added"] += amount

    def goal_complete(self, goal):
        return self._close(goal, "status", "complete", 150)

    def goal_reopen(self, goal):
        return self._close(goal, "status", "work", 0)

    def goal_archive(self, goal):
        self._update(goal, {"archived": True})

    def goal_unarchive(self, goal):
        self._update(goal, {"archived": False})

    def goal_delete(self, goal):
        for row in [goal, *self._steps(goal)]:
            row["deleted"] = True

    def step_create(self, goal_id, title, dt=None):
        self._find("goal", goal_id)
        self._make("step", goal_id=goal_id, title=title, dt=dt, done=False)

    def step_update(self, step, **params):
        if "goal_id" in params:
            self._find("goal", params["goal_id"])
        self._update(step, params)

    def step_shift(self, goal_id, days=0, dt=None):
        steps = self._steps(self._find("goal", goal_id))
        dated = [step for step in steps if step["dt"] and not step["done"]]
        if not dated:
            raise Refused("STEP_NOT_FOUND")
        moved = [dt or str(date.fromisoformat(step["dt"]) + timedelta(days)) for step in dated]
        if moved == [step["dt"] for step in dated]:
            raise Refused("NOTHING_TO_UPDATE")
        for step, day in zip(dated, moved, strict=True):
            step["dt"] = day

    def step_complete(self, step):
        return self._close(step, "done", True, 25)

    def step_reopen(self, step):
        return self._close(step, "done", False, 0)

    def step_delete(self, row):
        row["deleted"] = True

    def habit_create(
        self, name, xp_reward=10, xp_penalty=None, target=None, until=None, goal_id=None
    ):
        if goal_id:
            self._find("goal", goal_id)
        target = target or {}
        is_limit = "at_most" in target
        self._make(
            "habit", name=name, goal_id=goal_id, created=self.today, schedule=("daily", None),
            # To stay below a limit costs if it fails, and brings nothing.
            reward=0 if is_limit else xp_reward, penalty=xp_reward if xp_penalty is None else xp_penalty,
            target=target.get("amount", target.get("at_most")), is_limit=is_limit,
            until=date.fromisoformat(until) if until else FOREVER,
            schedules=[(date.min, "daily", [])], pauses=[], marks={},
        )  # fmt: skip

    def habit_update(self, habit, frequency_type="", until=None, order=None, **detail):
        if until:
            return self._update(habit, {"until": date.fromisoformat(until)})
        if order:
            return self._move("habit", habit, order)
        if habit["is_limit"] and frequency_type in BY_THE_WEEK:
            raise Refused("FIELD_INVALID")
        [numbers] = detail.values() or [None]
        self._update(habit, {"schedule": (frequency_type, numbers)})
        numbers = numbers if isinstance(numbers, list) else [numbers or 1]
        frequency = "times_per_week" if frequency_type == "weekly" else frequency_type
        first = habit["schedules"][-1][0]
        if self.today not in (first, habit["created"]):
            habit["schedules"].append((self.today, frequency, numbers))
        else:
            habit["schedules"][-1] = (first, frequency, numbers)

    habit_delete = step_delete

    def _day(self, text):
        return date.fromisoformat(text) if text else self.today

    def _first_day(self, habit):
        return self.today + timedelta(self.today in habit["marks"])

    def _end_pause(self, habit):
        for first, last in sorted(habit["pauses"]):
            if last >= self.today:
                habit["pauses"].remove((first, last))
                if first < self.today:
                    habit["pauses"].append((first, self.today - DAY))
                return True
        return False

    def habit_pause(self, habit, to=None, **more):
        first = self._day(more["from"]) if "from" in more else self._first_day(habit)
        last = date.fromisoformat(to) if to else FOREVER
        if last < first:
            raise Refused("INVALID_DATE")
        if any(begin <= last and first <= end for begin, end in habit["pauses"]):
            raise Refused("FIELD_INVALID")
        habit["pauses"].append((first, last))

    def habit_resume(self, habit):
        if not self._end_pause(habit):
            raise Refused("NOT_COMPLETED")

    def habit_archive(self, habit):
        self._update(habit, {"archived": True})
        first = self._first_day(habit)
        for begin, end in sorted(habit["pauses"]):
            if begin <= first <= end:
                habit["pauses"].remove((begin, end))
                first = begin
                break
        habit["pauses"].append((first, FOREVER))

    def habit_unarchive(self, habit):
        self._update(habit, {"archived": False})
        self._end_pause(habit)

    def habit_mark_completed(self, habit, date=None, amount=None):
        return self._mark(habit, self._day(date), "+", amount)

    def habit_mark_missed(self, habit, date=None, excuse_reason=None):
        return self._mark(habit, self._day(date), "e" if excuse_reason else "-")

    def _mark(self, habit, day, sign, amount=None):
        if habit["archived"]:
            raise Refused("HABIT_ARCHIVED")
        if not self.today - timedelta(30) <= day <= self.today:
            raise Refused("INVALID_DATE")
        before = habit["marks"].get(day, {"sign": " ", "amount": None, "xp": 0})
        present = before["amount"] or 0
        target = habit["target"]
        if amount and target is None:
            raise Refused("FIELD_INVALID")
        # An excuse may follow a miss.
        is_same = before["sign"] == sign or (before["sign"], sign) == ("e", "-")
        if is_same and not amount:
            raise Refused("ALREADY_COMPLETED")
        total = None
        if sign == "+" and habit["is_limit"]:
            total = present + amount if amount else before["amount"]
            sign = "-" if (total or 0) > target else "+"
        elif sign == "+" and target:
            total = present + amount if amount else max(present, target)
            sign = "+" if total >= target else "~"
        worth = {"+": habit["reward"], "-": -habit["penalty"], "e": 0, "~": 0}[sign]
        if sign == "+" and before["xp"] <= 0 and self._is_beyond(habit, day):
            worth = 0
        earned = self.earn(worth - before["xp"])
        habit["marks"][day] = {"sign": sign, "amount": total, "xp": earned + before["xp"]}
        return earned

    def _is_beyond(self, habit, day):
        """The week has as many times as it needs on its other days."""
        _, frequency, numbers = _in_force(habit["schedules"], day)
        monday = day - timedelta(day.weekday())
        week = {monday + number * DAY for number in range(7)} - {day}
        signs = [mark["sign"] for other, mark in habit["marks"].items() if other in week]
        return frequency == "times_per_week" and signs.count("+") >= numbers[0]

    def habit_unmark(self, habit, date=None):
        before = habit["marks"].pop(self._day(date), None)
        if before is None:
            raise Refused("NOT_COMPLETED")
        return self.earn(-before["xp"])

    def diary_create_entry(self, what_done):
        earned = self.earn(10)
        self._make("diary", what_done=what_done, brought=earned)
        return earned

    def diary_update_entry(self, entry, **texts):
        self._update(entry, texts)

    def diary_delete_entry(self, entry):
        entry["deleted"] = True
        return self.earn(-entry["brought"])

    def ssp_rate(self, category, score):
        if self.spheres.get(category) == score:
            raise Refused("NOTHING_TO_UPDATE")
        self.spheres[category] = score


def whole(section):
    """The items of a section, each with what most of them share."""
    return [{**section.get("usual", {}), **item} for item in section["items"]]


@dataclass
class PlainHabit:
    """`schedules`: first day, frequency and its numbers, in order; `pauses`: first and last day; `marks`: `+`,
    `-`, `e` or `~` by day."""

    created: date
    schedules: list
    pauses: list = field(default_factory=list)
    marks: dict = field(default_factory=dict)
    until: date = FOREVER
    is_limit: bool = False

    def streak(self, today):
        """(run, best)."""
        run = best = 0
        first = min(self.marks, default=today)
        if self.is_limit:
            first = min(first, self.created)
        for period, wanted, is_whole in self._periods(first, today):
            times = 1 if wanted == TURN else wanted
            marks = [
                self.marks.get(day) for day in period if day <= today and not self.is_paused(day)
            ]
            if self.is_limit and marks == [None] and first <= period[0] < today:
                marks = ["+"]
            if times:
                is_kept = marks.count("+") >= times
                is_excused = (
                    not is_whole or "e" in marks or any(self.is_paused(day) for day in period)
                )
                is_over = period[-1] < today
            else:
                is_kept = marks == ["+"]
                is_excused = marks in ([], ["e"])
                is_over = period[0] < today or marks == ["-"]
            if is_kept:
                run += 1
            elif is_over and not is_excused:
                run = 0
            best = max(best, run)
        return run, best

    def signs(self, first, last, today):
        """A sign for each day."""
        started = min([self.created, *self.marks])
        due = set()
        for period, times, is_whole in self._periods(min(first, started), max(last, today)):
            if not times:
                due.update(period)
                continue
            if times == TURN:
                day = today if period[0] <= today <= period[-1] else period[0]
                is_paused = any(self.is_paused(each) for each in period)
                is_done = "+" in [self.marks.get(each) for each in period]
                if not is_done and (period[-1] >= today or (is_whole and not is_paused)):
                    due.add(day)
                continue
            missing = times - sum(day in self.marks for day in period)
            if is_whole and not any(self.is_paused(day) for day in period):
                due.update(
                    [day for day in reversed(period) if day not in self.marks][: max(missing, 0)]
                )
        signs = ""
        for day in _days(first, last):
            if day in self.marks:
                signs += self.marks[day]
            elif not started <= day <= today:
                signs += "."
            elif self.is_paused(day):
                signs += "p"
            else:
                signs += "?" if day in due else "."
        return signs

    def is_paused(self, day):
        return any(first <= day <= last for first, last in self.pauses)

    def _periods(self, first, last):
        """Due days, weeks with the times that their last rate wants, and turns; not whole if the schedule
        changed in them."""
        end = min(last + DAY * (6 - last.weekday()), self.until)
        days = _days(first - DAY * first.weekday(), end)
        for (frequency, _), group in groupby(days, self._period_of):
            period = list(group)
            schedules = [_in_force(self.schedules, day) for day in period]
            _, _, numbers = schedules[-1]
            if frequency == "times_per_week":
                yield period, numbers[0], len(period) == 7 and schedules[0] == schedules[-1]
            elif frequency == "every_n_days":
                yield period, TURN, len(period) == numbers[0]
            elif is_due(period[0], frequency, numbers):
                yield period, 0, True

    def _period_of(self, day):
        """The frequency on a day, and the day with which its week or turn began."""
        since, frequency, numbers = _in_force(self.schedules, day)
        if frequency == "times_per_week":
            return frequency, day - DAY * day.weekday()
        if frequency != "every_n_days" or self.marks.get(day) == "+":
            return frequency, day
        # A turn of n days begins on the first day, on each on which it was done, and after n days.
        done = [each for each, sign in self.marks.items() if sign == "+" and since <= each < day]
        anchor = max(done, default=max(since, self.created))
        return frequency, max(since, day - DAY * ((day - anchor).days % numbers[0]))


def _in_force(schedules, day):
    return [schedule for schedule in schedules if schedule[0] <= day][-1]


def is_due(day, frequency, numbers):
    if frequency == "monthly":
        is_last = (day + DAY).day == 1
        return day.day in numbers or (is_last and max(numbers) > day.day)
    return day.isoweekday() in (numbers if frequency == "custom" else NAMED[frequency])


def _days(first, last):
    while first <= last:
        yield first
        first += DAY
