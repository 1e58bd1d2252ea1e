"""The rules of OnePercent once more, as simply as they can be said: plain dicts, nothing kept that can be
counted."""

from copy import deepcopy
from dataclasses import dataclass, field
from datetime import date, timedelta

DETAIL = {
    "custom": "schedule_days",
    "times_per_week": "times",
    "every_n_days": "n",
    "monthly": "month_days",
}
FOREVER = date.max
# In place of the times of a week: a turn of every n days, in which it is to be done once.
TURN = -1
SIGNS = {"completed": "+", "missed": "-", "partial": "~"}

BY_THE_WEEK = ("weekly", "times_per_week", "every_n_days")
DAY = timedelta(1)
NEW = {"deleted": False, "archived": False, "brought": 0}
NAMED = {"daily": range(1, 8), "weekdays": range(1, 6), "weekends": (6, 7)}


class Refused(Exception):
    """The code of the error that the action must get."""


class Life:
    """What one user has: rows by id, the marks by habit and day. Each action is a method of its name; it gets its
    params, whose ids are resolved, and returns XP."""

    def __init__(self):
        self.goals = {}
        self.steps = {}
        self.habits = {}
        self.marks = {}
        self.diary = {}
        self.spheres = {}
        self.order = {"goals": [], "habits": []}
        self.gains = []

    def copy(self):
        return deepcopy(self)

    def do(self, action, params, today, new):
        """Do an action; `new` is the id of what it creates."""
        self.today, self.new = today, new
        return getattr(self, action.replace(".", "_"))(**params) or 0

    @property
    def balance(self):
        return sum(self.gains)

    def earn(self, xp):
        xp = max(xp, -self.balance)
        self.gains.append(xp)
        return xp

    def shown(self, today):
        """What the snapshot must say of it: goals, habits, entries of the diary, spheres, XP."""
        goals = [self._goal(key) for key in self.order["goals"] if self._is_seen(self.goals[key])]
        habits = []
        for key in self.order["habits"]:
            habit = self.habits[key]
            if self._is_seen(habit) and today <= habit["until"]:
                habits.append(self._habit(key, today))
        diary = {key: row["what_done"] for key, row in self.diary.items() if not row["deleted"]}
        lifetime = sum(gain for gain in self.gains if gain > 0)
        return goals, habits, diary, self.spheres, (self.balance, lifetime)

    def _is_seen(self, row):
        return not (row["deleted"] or row["archived"])

    def _goal(self, goal):
        steps = self._steps(goal)
        dates = sorted((key, step["dt"]) for key, step in steps.items() if not step["done"])
        row, done = self.goals[goal], len(steps) - len(dates)
        return goal, row["title"], row["status"], len(steps), done, dates, self._sum(goal)

    def _steps(self, goal):
        steps = self.steps.items()
        of_goal = {key: step for key, step in steps if step["goal_id"] == goal}
        return {key: step for key, step in of_goal.items() if not step["deleted"]}

    def _sum(self, goal):
        """What was added to a goal, and what its habits brought."""
        row = self.goals[goal]
        if row["target"] is None:
            return None
        brought = 0
        for (key, _), mark in self.marks.items():
            habit = self.habits[key]
            if habit["goal_id"] == goal and not habit["deleted"]:
                brought += mark["amount"] or 0
        return row["added"] + brought

    def _move(self, table, key, order):
        """Put a thing before that of a number in the list that is seen; else last."""
        rows, before = getattr(self, table), self.order[table]
        deleted = [each for each in before if rows[each]["deleted"]]
        others = [each for each in before if each != key and each not in deleted]
        seen = [each for each in others if not rows[each]["archived"]]
        seen = [each for each in seen if rows[each].get("status", "work") == "work"]
        place = others.index(seen[order - 1]) if order <= len(seen) else len(others)
        moved = [*others[:place], key, *others[place:]]
        if [each for each in moved if each in [*seen, key]] == [
            each for each in before if each in [*seen, key]
        ]:
            raise Refused("NOTHING_TO_UPDATE")
        self.order[table] = moved + deleted

    def _habit(self, key, today):
        habit = self.habits[key]
        marks = {}
        for (owner, day), mark in self.marks.items():
            if owner == key:
                sign = "e" if mark["excuse"] else SIGNS[mark["status"]]
                marks[date.fromisoformat(day)] = sign
        names = ("created", "schedules", "pauses", "until", "is_limit")
        plain = PlainHabit(marks=marks, **{name: habit[name] for name in names})
        return key, habit["name"], *plain.streak(today)

    def _find(self, table, key):
        row = getattr(self, table).get(key)
        if row is None or row["deleted"]:
            raise Refused(f"{table.removesuffix('s').upper()}_NOT_FOUND")
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

    def goal_create(self, title, target=None):
        self.order["goals"].append(self.new)
        self.goals[self.new] = NEW | {
            "title": title,
            "target": target,
            "added": 0,
            "status": "work",
        }

    def goal_update(self, goal_id, title="", order=0):
        goal = self._find("goals", goal_id)
        if title:
            self._update(goal, {"title": title})
        else:
            self._move("goals", goal_id, order)

    def goal_add(self, goal_id, amount):
        goal = self._find("goals", goal_id)
        if goal["target"] is None:
            raise Refused("FIELD_INVALID")
        goal["added"] += amount

    def goal_complete(self, goal_id):
        return self._close(self._find("goals", goal_id), "status", "complete", 150)

    def goal_reopen(self, goal_id):
        return self._close(self._find("goals", goal_id), "status", "work", 0)

    def goal_archive(self, goal_id):
        self._update(self._find("goals", goal_id), {"archived": True})

    def goal_unarchive(self, goal_id):
        self._update(self._find("goals", goal_id), {"archived": False})

    def goal_delete(self, goal_id):
        self._find("goals", goal_id)["deleted"] = True
        for step in self.steps.values():
            step["deleted"] = step["deleted"] or step["goal_id"] == goal_id

    def step_create(self, goal_id, title, dt=None):
        self._find("goals", goal_id)
        step = {"goal_id": goal_id, "title": title, "dt": dt, "done": False}
        self.steps[self.new] = NEW | step

    def step_update(self, step_id, **params):
        step = self._find("steps", step_id)
        if "goal_id" in params:
            self._find("goals", params["goal_id"])
        self._update(step, params)

    def step_shift(self, goal_id, days=0, dt=None):
        self._find("goals", goal_id)
        steps = self._steps(goal_id).values()
        dated = [step for step in steps if step["dt"] and not step["done"]]
        if not dated:
            raise Refused("STEP_NOT_FOUND")
        moved = [dt or str(date.fromisoformat(step["dt"]) + timedelta(days)) for step in dated]
        if moved == [step["dt"] for step in dated]:
            raise Refused("NOTHING_TO_UPDATE")
        for step, day in zip(dated, moved, strict=True):
            step["dt"] = day

    def step_complete(self, step_id):
        return self._close(self._find("steps", step_id), "done", True, 25)

    def step_reopen(self, step_id):
        return self._close(self._find("steps", step_id), "done", False, 0)

    def step_delete(self, step_id):
        self._find("steps", step_id)["deleted"] = True

    def habit_create(
        self, name, xp_reward=10, xp_penalty=None, target=None, until=None, goal_id=None
    ):
        if goal_id:
            self._find("goals", goal_id)
        target = target or {}
        self.order["habits"].append(self.new)
        self.habits[self.new] = NEW | {
            "name": name, "reward": xp_reward, "penalty": xp_reward if xp_penalty is None else xp_penalty,
            "target": target.get("amount", target.get("at_most")), "is_limit": "at_most" in target,
            "until": date.fromisoformat(until) if until else FOREVER, "goal_id": goal_id, "schedule": ("daily", None),
            "created": self.today, "schedules": [(date.min, "daily", [])], "pauses": [],
        }  # fmt: skip

    def habit_update(self, habit_id, frequency_type="", until=None, order=None, **detail):
        habit = self._find("habits", habit_id)
        if until:
            return self._update(habit, {"until": date.fromisoformat(until)})
        if order:
            return self._move("habits", habit_id, order)
        if habit["is_limit"] and frequency_type in BY_THE_WEEK:
            raise Refused("FIELD_INVALID")
        numbers = detail.get(DETAIL.get(frequency_type, ""))
        self._update(habit, {"schedule": (frequency_type, numbers)})
        numbers = numbers if isinstance(numbers, list) else [numbers or 1]
        frequency = "times_per_week" if frequency_type == "weekly" else frequency_type
        first, is_first = habit["schedules"][-1][0], habit["created"] == self.today
        if first != self.today and not is_first:
            habit["schedules"].append((self.today, frequency, numbers))
        else:
            habit["schedules"][-1] = (first, frequency, numbers)

    def habit_delete(self, habit_id):
        self._find("habits", habit_id)["deleted"] = True

    def _first_day(self, habit_id):
        return self.today + timedelta((habit_id, str(self.today)) in self.marks)

    def _end_pause(self, habit):
        for first, last in sorted(habit["pauses"]):
            if last >= self.today:
                habit["pauses"].remove((first, last))
                if first < self.today:
                    habit["pauses"].append((first, self.today - DAY))
                return True
        return False

    def habit_pause(self, habit_id, to=None, **more):
        habit = self._find("habits", habit_id)
        first = date.fromisoformat(more["from"]) if "from" in more else self._first_day(habit_id)
        last = date.fromisoformat(to) if to else FOREVER
        if last < first:
            raise Refused("INVALID_DATE")
        if any(begin <= last and first <= end for begin, end in habit["pauses"]):
            raise Refused("FIELD_INVALID")
        habit["pauses"].append((first, last))

    def habit_resume(self, habit_id):
        if not self._end_pause(self._find("habits", habit_id)):
            raise Refused("NOT_COMPLETED")

    def habit_archive(self, habit_id):
        habit = self._find("habits", habit_id)
        self._update(habit, {"archived": True})
        first = self._first_day(habit_id)
        for begin, end in sorted(habit["pauses"]):
            if begin <= first <= end:
                habit["pauses"].remove((begin, end))
                first = begin
                break
        habit["pauses"].append((first, FOREVER))

    def habit_unarchive(self, habit_id):
        habit = self._find("habits", habit_id)
        self._update(habit, {"archived": False})
        self._end_pause(habit)

    def habit_mark_completed(self, habit_id, date=None, amount=None):
        return self._mark(habit_id, date, "completed", None, amount)

    def habit_mark_missed(self, habit_id, date=None, excuse_reason=None):
        return self._mark(habit_id, date, "missed", excuse_reason, None)

    def _mark(self, habit_id, day, status, excuse, amount):
        habit = self._find("habits", habit_id)
        if habit["archived"]:
            raise Refused("HABIT_ARCHIVED")
        day = day or str(self.today)
        if not str(self.today - timedelta(30)) <= day <= str(self.today):
            raise Refused("INVALID_DATE")
        place = (habit_id, day)
        before = self.marks.get(place, {"status": None, "amount": None, "xp": 0})
        present, target = before["amount"] or 0, habit["target"]
        if amount and target is None:
            raise Refused("FIELD_INVALID")
        is_same = before["status"] == status and excuse in (None, before["excuse"])
        if is_same and not amount:  # an excuse may follow a miss
            raise Refused("ALREADY_COMPLETED")
        total = None
        if status == "completed" and habit["is_limit"]:
            total = present + amount if amount else before["amount"]
            if (total or 0) > target:
                return self._keep(place, "missed", None, -habit["penalty"], total)
            return self._keep(place, "completed", None, 0, total)
        if status == "completed" and target:
            total = present + amount if amount else max(present, target)
            status = "completed" if total >= target else "partial"
        penalty = 0 if excuse else -habit["penalty"]
        worth = {"completed": habit["reward"], "missed": penalty, "partial": 0}[status]
        if status == "completed" and before["xp"] <= 0 and self._is_beyond(habit, place):
            worth = 0
        return self._keep(place, status, excuse, worth, total)

    def _keep(self, place, status, excuse, worth, total):
        brought = self.marks[place]["xp"] if place in self.marks else 0
        earned = self.earn(worth - brought)
        mark = {"status": status, "excuse": excuse, "amount": total}
        self.marks[place] = mark | {"xp": earned + brought}
        return earned

    def _is_beyond(self, habit, place):
        """The week has as many times as it needs on its other days."""
        key, text = place
        day = date.fromisoformat(text)
        _, frequency, numbers = _in_force(habit["schedules"], day)
        monday = day - timedelta(day.weekday())
        week = {str(monday + number * DAY) for number in range(7)} - {text}
        done = [at for at in week if self.marks.get((key, at), {}).get("status") == "completed"]
        return frequency == "times_per_week" and len(done) >= numbers[0]

    def habit_unmark(self, habit_id, date=None):
        self._find("habits", habit_id)
        before = self.marks.pop((habit_id, date or str(self.today)), None)
        if before is None:
            raise Refused("NOT_COMPLETED")
        return self.earn(-before["xp"])

    def diary_create_entry(self, what_done):
        earned = self.earn(10)
        self.diary[self.new] = NEW | {"what_done": what_done, "brought": earned}
        return earned

    def diary_update_entry(self, diary_id, what_done):
        self._update(self._find("diary", diary_id), {"what_done": what_done})

    def diary_delete_entry(self, diary_id):
        self._find("diary", diary_id)["deleted"] = True
        return self.earn(-self.diary[diary_id]["brought"])

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
                is_kept, is_excused = marks == ["+"], marks in ([], ["e"])
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
        """Due days, and weeks with the times that their last rate wants; not whole if the schedule changed in
        them."""
        week = []
        turn = []
        length = 0
        done = None
        held = ()
        rates = []
        for day in _days(first - DAY * first.weekday(), last + DAY * (6 - last.weekday())):
            if day > self.until:
                break
            schedule = _in_force(self.schedules, day)
            _, frequency, numbers = schedule
            if week and (day.weekday() == 0 or frequency != "times_per_week"):
                yield week, held[2][0], len(week) == 7 and rates == [held]
                week, rates = [], []
            is_new = schedule != held
            held = schedule
            if turn and frequency != "every_n_days":
                yield turn, TURN, len(turn) == length
                turn = []
            if frequency == "every_n_days":
                # A turn of n days begins on the first day, on each on which it was done, and after n days.
                done = None if is_new else done
                anchor = done or max(schedule[0], self.created)
                if turn and (
                    is_new or self.marks.get(day) == "+" or (day - anchor).days % numbers[0] == 0
                ):
                    yield turn, TURN, len(turn) == length
                    turn = []
                length = numbers[0]
                turn.append(day)
                done = day if self.marks.get(day) == "+" else done
            elif frequency == "times_per_week":
                week.append(day)
                rates += [schedule] if schedule not in rates else []
            elif is_due(day, frequency, numbers):
                yield [day], 0, True
        if week:
            yield week, held[2][0], len(week) == 7 and rates == [held]
        if turn:
            yield turn, TURN, len(turn) == length


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
