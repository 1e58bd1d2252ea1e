// For pages with long lists.
learn("more|ещё $|$ more");
let percent = part => number(part, { style: "percent" });
// The first items of a list; the others are folded under "16 more" with a note, and stay open once they are.
let folded = (name, items, most, note) => {
  if (items.length < most + 2) return items;
  let id = "more" + name;
  return [...items.slice(0, most), h("li", h("details", { open: at(id)?.parentNode.open },
    h("summary.quiet", { id }, dots(t("more", items.length - most), note)), h("ul", items.slice(most))))];
};
