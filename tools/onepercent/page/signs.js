// What the page of the days and the report share: the signs of a habit's days, the calendar, and dates.
learn(`
.|Не по расписанию|Not due
-|Пропущено|Missed
e|Уважительная причина|Excused
p|Пауза|Paused
`);
let SIGNS = { "+": "●", "-": "×", e: "◇", "~": "◐", "?": "○", ".": "·", p: "‖" };
let dated = (text, options) => new Date(text).toLocaleDateString(locale, { timeZone: "UTC", ...options });
let day = (text, weekday = "short", month = "short") =>
  dated(text, { weekday: weekday || undefined, month, day: "numeric",
    year: text.startsWith(new Date().getFullYear()) ? undefined : "numeric" });
let weekday = text => h("small", dated(text, { weekday: "short" }).slice(0, 2));
let plus = (text, days) => new Date(Date.parse(text) + days * 864e5).toISOString().slice(0, 10);
let glyph = sign => h(sign === "-" ? "i.bad" : "i", SIGNS[sign]);
// A calendar of the days from `first` on: `draw` makes an element of each day and what `cells` has of it.
let calendar = (first, cells, draw) => {
  let days = cells.map((cell, place) => draw(plus(first, place), cell));
  days[0].style.gridColumn = new Date(first).getUTCDay() || 7;
  return h("div.cal", [..."1234567"].map(monday => weekday("2024-01-0" + monday)), days);
};
// Five shades of a day: nothing, up to a third, up to two, less than all, all. A share may be rounded a little above.
let shade = share =>
  share < 1 ? { className: "l", style: `--l: ${Math.ceil(share * 3 - 0.01) * 16}%` } : { className: "l full" };
let signed = value => number(value, { signDisplay: "exceptZero" }).replace("-", "−");
