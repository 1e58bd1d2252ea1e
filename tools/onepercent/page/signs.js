// What the page of the days and the report share: the signs of a habit's days, and dates.
learn(`
.|Не нужно|Not due
+|Сделано|Done
-|Пропущено|Missed
e|По причине|Excused
~|Начато|Begun
?|Не отмечено|Not marked
p|Пауза|Paused
about|$: привычки $ из $, $ XP, шаги: $|$: habits $ of $, $ XP, steps: $
`);
const SIGNS = ".+-e~?p";
const dated = (text, options) => new Date(text).toLocaleDateString(locale, { timeZone: "UTC", ...options });
const day = (text, weekday = "short", month = "short") =>
  dated(text, { weekday, month, day: "numeric", year: +text.slice(0, 4) === new Date().getFullYear() ? undefined : "numeric" });
const percent = (part) => number(part, { style: "percent" });
const plus = (text, days) => new Date(Date.parse(text) + days * 864e5).toISOString().slice(0, 10);
