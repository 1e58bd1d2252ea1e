// Tabs and calendars: one of several buttons side by side: the chosen one is the tab stop, arrows go to the others.
let choice = (id, chosen, title, onclick, ...parts) =>
  h("button", { id, ariaCurrent: chosen, tabIndex: chosen ? 0 : -1, title, onclick }, ...parts);
addEventListener("keydown", ({ key, target }) => {
  let by = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 7, ArrowUp: -7 }[key];
  let all = [...target.parentNode.querySelectorAll(":scope > button")];
  if (by && target.onclick) all[all.indexOf(target) + by]?.focus();
});
