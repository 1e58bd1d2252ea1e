"""The rules of OnePercent once more, as simply as they can be said: plain dicts, nothing kept that can be
counted."""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

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

Params = dict[str, Any]
BY_THE_WEEK = ("weekly", "times_per_week", "every_n_days")
DAY = timedelta(1)
NEW = {"deleted": False, "archived": False, "brought": 0}
NAMED = {"daily": range(1, 8), "weekdays": range(1, 6), "weekends": (6, 7)}


class Refused(Exception):
    """The code of the error that the action must get."""


@dataclass
class Life:
    """What one user has. Each action is a method of its name; it gets its params, whose ids are resolved, and
    returns XP."""

    goals: dict[int, dict] = field(default_factory=dict)
    steps: dict[int, dict] = field(default_factory=dict)
    habits: dict[int, dict] = field(default_factory=dict)
    marks: dict[tuple[int, str], dict] = field(default_factory=dict)
    diary: dict[int, dict] = field(default_factory=dict)
    spheres: dict[str, int] = field(default_factory=dict)
    order: dict[str, list[int]] = field(default_factory=lambda: {"goals": [], "habits": []})
    gains: list[int] = field(default_factory=list)
    today: date = date.min
    new: int | None = 0

    def copy(self) -> "Life":
        return deepcopy(self)

    def do(self, action: str, params: Params, today: date, new: int | None) -> int:
        """Do an action; `new` is the id of what it creates."""
        self.today, self.new = today, new
        return getattr(self, action.replace(".", "_"))(**params) or 0

    @property
    def balance(self) -> int:
        return sum(self.gains)

    def earn(self, xp: int) -> int:
        xp = max(xp, -self.balance)
        self.gains.append(xp)
        return xp

    def shown(self, today: date) -> tuple:
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

    def _is_seen(self, row: dict) -> bool:
        return not (row["deleted"] or row["archived"])

    def _goal(self, goal: int) -> tuple:
        steps = {
            key: step
            for key, step in self.steps.items()
            if step["goal_id"] == goal and not step["deleted"]
        }
        dates = sorted((key, step["dt"]) for key, step in steps.items() if not step["done"])
        done = sum(step["done"] for step in steps.values())
        row = self.goals[goal]
        return goal, row["title"], row["status"], len(steps), done, dates, self._sum(goal)

    def _sum(self, goal: int) -> float | None:
        """What was added to a goal, and what its habits brought."""
        row = self.goals[goal]
        if row["target"] is None:
            return None
        feeding = [
            key
            for key, habit in self.habits.items()
            if habit["goal_id"] == goal and not habit["deleted"]
        ]
        brought = sum(
            mark["amount"] or 0 for (habit, _), mark in self.marks.items() if habit in feeding
        )
        return row["added"] + brought

    def _move(self, table: str, key: int, order: int | None, before: int | None) -> None:
        """Put a thing before another one, or before that of a number in the list that is seen; else last."""
        rows = getattr(self, table)
        others = [
            other for other in self.order[table] if other != key and not rows[other]["deleted"]
        ]
        seen = [other for other in others if not rows[other]["archived"]]
        seen = [other for other in seen if rows[other].get("status", "work") == "work"]
        if order:
            before = seen[order - 1] if order <= len(seen) else None
        elif before == key:
            raise Refused("FIELD_INVALID")
        place = others.index(before) if before else len(others)
        moved = [*others[:place], key, *others[place:]]
        if [each for each in moved if each in [*seen, key]] == [
            each for each in self.order[table] if each in [*seen, key]
        ]:
            raise Refused("NOTHING_TO_UPDATE")
        self.order[table] = moved + [each for each in self.order[table] if rows[each]["deleted"]]

    def _habit(self, key: int, today: date) -> tuple:
        habit = self.habits[key]
        marks = {}
        for (owner, day), mark in self.marks.items():
            if owner == key:
                sign = "e" if mark["excuse"] else SIGNS[mark["status"]]
                marks[date.fromisoformat(day)] = sign
        names = ("created", "schedules", "pauses", "until", "is_limit")
        plain = PlainHabit(marks=marks, **{name: habit[name] for name in names})
        return key, habit["name"], *plain.streak(today)

    def _find(self, table: str, key: int) -> dict:
        row = getattr(self, table).get(key)
        if row is None or row["deleted"]:
            raise Refused(f"{table.removesuffix('s').upper()}_NOT_FOUND")
        return row

    def _update(self, row: dict, params: Params) -> None:
        if all(row[name] == value for name, value in params.items()):
            raise Refused("NOTHING_TO_UPDATE")
        row.update(params)

    def _close(self, row: dict, name: str, state: Any, worth: int) -> int:
        """Complete or reopen: what it has brought in all is its worth, or nothing."""
        if row[name] == state:
            raise Refused("ALREADY_COMPLETED" if worth else "NOT_COMPLETED")
        row[name] = state
        earned = self.earn(worth - row["brought"])
        row["brought"] += earned
        return earned

    def goal_create(self, title: str, target: Params | None = None) -> None:
        self.order["goals"].append(self.new)
        self.goals[self.new] = NEW | {
            "title": title,
            "target": target,
            "added": 0,
            "status": "work",
        }

    def goal_update(
        self, goal_id: int, title: str = "", order: int | None = None, before: int | None = None
    ) -> None:
        goal = self._find("goals", goal_id)
        if title:
            self._update(goal, {"title": title})
        else:
            self._move("goals", goal_id, order, before and self._key("goals", before))

    def _key(self, table: str, key: int) -> int:
        self._find(table, key)
        return key

    def goal_add(self, goal_id: int, amount: float) -> None:
        goal = self._find("goals", goal_id)
        if goal["target"] is None:
            raise Refused("FIELD_INVALID")
        goal["added"] += amount

    def goal_complete(self, goal_id: int) -> int:
        return self._close(self._find("goals", goal_id), "status", "complete", 150)

    def goal_reopen(self, goal_id: int) -> int:
        return self._close(self._find("goals", goal_id), "status", "work", 0)

    def goal_archive(self, goal_id: int) -> None:
        self._update(self._find("goals", goal_id), {"archived": True})

    def goal_unarchive(self, goal_id: int) -> None:
        self._update(self._find("goals", goal_id), {"archived": False})

    def goal_delete(self, goal_id: int) -> None:
        self._find("goals", goal_id)["deleted"] = True
        for step in self.steps.values():
            step["deleted"] = step["deleted"] or step["goal_id"] == goal_id

    def step_create(self, goal_id: int, title: str, dt: str | None = None) -> None:
        self._find("goals", goal_id)
        step = {"goal_id": goal_id, "title": title, "dt": dt, "done": False}
        self.steps[self.new] = NEW | step

    def step_update(self, step_id: int, **params: Any) -> None:
        step = self._find("steps", step_id)
        if "goal_id" in params:
            self._find("goals", params["goal_id"])
        self._update(step, params)

    def step_shift(self, goal_id: int, days: int = 0, dt: str | None = None) -> None:
        self._find("goals", goal_id)
        steps = [
            step
            for step in self.steps.values()
            if step["goal_id"] == goal_id and not step["deleted"]
        ]
        dated = [step for step in steps if step["dt"] and not step["done"]]
        if not dated:
            raise Refused("STEP_NOT_FOUND")
        moved = [dt or str(date.fromisoformat(step["dt"]) + timedelta(days)) for step in dated]
        if moved == [step["dt"] for step in dated]:
            raise Refused("NOTHING_TO_UPDATE")
        for step, day in zip(dated, moved, strict=True):
            step["dt"] = day

    def step_complete(self, step_id: int) -> int:
        return self._close(self._find("steps", step_id), "done", True, 25)

    def step_reopen(self, step_id: int) -> int:
        return self._close(self._find("steps", step_id), "done", False, 0)

    def step_delete(self, step_id: int) -> None:
        self._find("steps", step_id)["deleted"] = True

    def habit_create(
        self,
        name: str,
        xp_reward: int = 10,
        xp_penalty: int | None = None,
        target: Params | None = None,
        until: str | None = None,
        goal_id: int | None = None,
    ) -> None:
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

    def habit_update(
        self,
        habit_id: int,
        frequency_type: str = "",
        until: str | None = None,
        order: int | None = None,
        **detail: Any,
    ) -> None:
        habit = self._find("habits", habit_id)
        if until:
            return self._update(habit, {"until": date.fromisoformat(until)})
        if order:
            return self._move("habits", habit_id, order, None)
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

    def habit_delete(self, habit_id: int) -> None:
        self._find("habits", habit_id)["deleted"] = True

    def _first_day(self, habit_id: int) -> date:
        return self.today + timedelta((habit_id, str(self.today)) in self.marks)

    def _end_pause(self, habit: dict) -> bool:
        for first, last in sorted(habit["pauses"]):
            if last >= self.today:
                habit["pauses"].remove((first, last))
                habit["pauses"] += (
                    [(first, self.today - timedelta(1))] if first < self.today else []
                )
                return True
        return False

    def habit_pause(self, habit_id: int, to: str | None = None, **more: str) -> None:
        habit = self._find("habits", habit_id)
        first = date.fromisoformat(more["from"]) if "from" in more else self._first_day(habit_id)
        last = date.fromisoformat(to) if to else FOREVER
        if last < first:
            raise Refused("INVALID_DATE")
        if any(begin <= last and first <= end for begin, end in habit["pauses"]):
            raise Refused("FIELD_INVALID")
        habit["pauses"].append((first, last))

    def habit_resume(self, habit_id: int) -> None:
        if not self._end_pause(self._find("habits", habit_id)):
            raise Refused("NOT_COMPLETED")

    def habit_archive(self, habit_id: int) -> None:
        habit = self._find("habits", habit_id)
        self._update(habit, {"archived": True})
        first = self._first_day(habit_id)
        present = [(begin, end) for begin, end in sorted(habit["pauses"]) if begin <= first <= end][
            :1
        ]
        habit["pauses"] = [pause for pause in habit["pauses"] if pause not in present]
        habit["pauses"].append((present[0][0] if present else first, FOREVER))

    def habit_unarchive(self, habit_id: int) -> None:
        habit = self._find("habits", habit_id)
        self._update(habit, {"archived": False})
        self._end_pause(habit)

    def _mark_place(self, habit_id: int, day: str | None) -> tuple[tuple[int, str], dict | None]:
        day = day or str(self.today)
        if not str(self.today - timedelta(30)) <= day <= str(self.today):
            raise Refused("INVALID_DATE")
        return (habit_id, day), self.marks.get((habit_id, day))

    def habit_mark_completed(
        self, habit_id: int, date: str | None = None, amount: float | None = None
    ) -> int:
        return self._mark(habit_id, date, "completed", None, amount)

    def habit_mark_missed(
        self, habit_id: int, date: str | None = None, excuse_reason: str | None = None
    ) -> int:
        return self._mark(habit_id, date, "missed", excuse_reason, None)

    def _mark(
        self, habit_id: int, day: str | None, status: str, excuse: str | None, amount: float | None
    ) -> int:
        habit = self._find("habits", habit_id)
        if habit["archived"]:
            raise Refused("HABIT_ARCHIVED")
        place, before = self._mark_place(habit_id, day)
        present, target = (before or {}).get("amount") or 0, habit["target"]
        if amount and target is None:
            raise Refused("FIELD_INVALID")
        is_same = before and before["status"] == status and excuse in (None, before["excuse"])
        if is_same and not amount:  # an excuse may follow a miss
            raise Refused("ALREADY_COMPLETED")
        total = None
        if status == "completed" and habit["is_limit"]:
            total = present + amount if amount else (before or {}).get("amount")
            if (total or 0) > target:
                return self._keep(place, "missed", None, -habit["penalty"], total)
            return self._keep(place, "completed", None, 0, total)
        if status == "completed" and target:
            total = present + amount if amount else max(present, target)
            status = "completed" if total >= target else "partial"
        penalty = 0 if excuse else -habit["penalty"]
        worth = {"completed": habit["reward"], "missed": penalty, "partial": 0}[status]
        brought = before["xp"] if before else 0
        if status == "completed" and brought <= 0 and self._is_beyond(habit, place):
            worth = 0
        return self._keep(place, status, excuse, worth, total)

    def _keep(
        self,
        place: tuple[int, str],
        status: str,
        excuse: str | None,
        worth: int,
        total: float | None,
    ) -> int:
        brought = self.marks[place]["xp"] if place in self.marks else 0
        earned = self.earn(worth - brought)
        self.marks[place] = {
            "status": status,
            "excuse": excuse,
            "xp": earned + brought,
            "amount": total,
        }
        return earned

    def _is_beyond(self, habit: dict, place: tuple[int, str]) -> bool:
        """The week has as many times as it needs on its other days."""
        key, text = place
        day = date.fromisoformat(text)
        _, frequency, numbers = max(
            (one for one in habit["schedules"] if one[0] <= day), key=lambda one: one[0]
        )
        monday = day - timedelta(day.weekday())
        week = [str(monday + number * DAY) for number in range(7)]
        done = [
            at
            for at in week
            if at != text and self.marks.get((key, at), {}).get("status") == "completed"
        ]
        return frequency == "times_per_week" and len(done) >= numbers[0]

    def habit_unmark(self, habit_id: int, date: str | None = None) -> int:
        self._find("habits", habit_id)
        before = self.marks.pop((habit_id, date or str(self.today)), None)
        if before is None:
            raise Refused("NOT_COMPLETED")
        return self.earn(-before["xp"])

    def diary_create_entry(self, what_done: str) -> int:
        earned = self.earn(10)
        self.diary[self.new] = NEW | {"what_done": what_done, "brought": earned}
        return earned

    def diary_update_entry(self, diary_id: int, what_done: str) -> None:
        self._update(self._find("diary", diary_id), {"what_done": what_done})

    def diary_delete_entry(self, diary_id: int) -> int:
        self._find("diary", diary_id)["deleted"] = True
        return self.earn(-self.diary[diary_id]["brought"])

    def ssp_rate(self, category: str, score: int) -> None:
        if self.spheres.get(category) == score:
            raise Refused("NOTHING_TO_UPDATE")
        self.spheres[category] = score


def whole(section: Params) -> list[Params]:
    """The items of a section, each with what most of them share."""
    return [{**section.get("usual", {}), **item} for item in section["items"]]


@dataclass
class PlainHabit:
    """`schedules`: first day, frequency and its numbers, in order; `marks`: `+`, `-`, `e` or `~` by day."""

    created: date
    schedules: list[tuple[date, str, list[int]]]
    pauses: list[tuple[date, date]] = field(default_factory=list)
    marks: dict[date, str] = field(default_factory=dict)
    until: date = FOREVER
    is_limit: bool = False

    def streak(self, today: date) -> tuple[int, int]:
        """(run, best)."""
        run = best = 0
        first = (
            min([self.created, *self.marks]) if self.is_limit else min(self.marks, default=today)
        )
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

    def signs(self, first: date, last: date, today: date) -> str:
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

    def is_paused(self, day: date) -> bool:
        return any(first <= day <= last for first, last in self.pauses)

    def _periods(self, first: date, last: date) -> Iterator[tuple[list[date], int, bool]]:
        """Due days, and weeks with the times that their last rate wants; not whole if the schedule changed in
        them."""
        week: list[date] = []
        turn: list[date] = []
        length = 0
        done: date | None = None
        held: tuple = ()
        rates: list[tuple] = []
        for day in _days(first - DAY * first.weekday(), last + DAY * (6 - last.weekday())):
            if day > self.until:
                break
            schedule = max((one for one in self.schedules if one[0] <= day), key=lambda one: one[0])
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
            elif _is_due(day, frequency, numbers):
                yield [day], 0, True
        if week:
            yield week, held[2][0], len(week) == 7 and rates == [held]
        if turn:
            yield turn, TURN, len(turn) == length


def _is_due(day: date, frequency: str, numbers: list[int]) -> bool:
    if frequency == "monthly":
        is_last = (day + DAY).day == 1
        return day.day in numbers or (is_last and max(numbers) > day.day)
    return day.isoweekday() in (numbers if frequency == "custom" else NAMED[frequency])


def _days(first: date, last: date) -> Iterator[date]:
    while first <= last:
        yield first
        first += DAY
