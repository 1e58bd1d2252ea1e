"use strict";
// What all pages share: words, elements, the host's protocol. The person's texts become text nodes, never markup.
const root = document.documentElement;
let locale = "en", host, key, meta = {}, input = {};
// A line of words: name | Russian | English; without English the name itself serves, as it does without both. A $ is a
// value, and the braces behind it have the forms that its number takes: $ {день/дня/дней}.
const words = {};
const learn = lines => lines.trim().split("\n").forEach(line => {
  const [name, ...texts] = line.split("|");
  words[name] = texts;
});
const t = (name, ...values) => {
  const [russian, english] = words[name] || [], text = (/^ru/.test(locale) ? russian : english) || name;
  let [value] = values;
  return text.replace(/\$|\{(.+?)\}/g, (_, forms) => {
    if (!forms) return number((value = values.shift()));
    const all = forms.split("/"), place = { one: 0, few: 1 }[new Intl.PluralRules(locale).select(value)];
    return all[place] ?? all.at(-1);
  });
};
const number = (value, options) => value.toLocaleString(locale, options);
const unit = (count, unit, unitDisplay) => number(count, { style: "unit", unit, unitDisplay });
const dots = (...parts) => parts.filter(Boolean).join(" · ");

const at = id => document.getElementById(id);
// An element: h("p.row.quiet", { title }, text, [elements]). Its properties are those of the DOM; of a child that is
// false nothing is drawn.
const h = (name, ...parts) => {
  const [tag, ...classes] = name.split("."), element = document.createElement(tag);
  element.className = classes.join(" ");
  for (const part of parts.flat(2))
    if (part?.constructor === Object) Object.assign(element, part);
    else if (part) element.append(part);
  return element;
};
// Only what a person presses counts: the click of a script goes nowhere.
addEventListener("click", event => event.isTrusted || (event.preventDefault(), event.stopImmediatePropagation()), true);
const button = (label, onclick, main) => h(main ? "button.main" : "button", { onclick }, t(label));
const section = (title, items, note) =>
  items?.length ? h("section", h("h2", h("span", t(title)), note), h("ul", items)) : "";
const state = text => { at("state").textContent = text; };
// What went wrong, in the person's language, and what to do; the server's own words are folded.
const fail = ({ code, error }, again) => {
  // After an error of what was asked the same call cannot succeed.
  const isHopeful = again && host.serverTools && !/NOT_FOUND$|^(INVALID|FIELD|NO_[PS]|NOT_A)/.test(code);
  at("head").textContent = t(words[code] ? code : "failed");
  state("");
  at("body").replaceChildren(h("div.card", words[code + "+"] && h("p", t(code + "+")), isHopeful && button("retry", again, true),
    error && h("details", h("summary.quiet", t("details")), h("p", error))));
};

const waiting = [];
const send = message => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
const request = (method, params) => new Promise((resolve, reject) => {
  const id = waiting.push(({ error, result = {} }) => (error ? reject(error) : resolve(result)));
  send({ id, method, params });
});
const answerOf = result => {
  meta = result._meta || {};
  key = meta["pi-mcp/press"] || key;
  return result.structuredContent || { error: result.content?.[0]?.text };
};
// An answer without a code is none: the call may have been refused, or its reply lost.
const call = (name, args) =>
  request("tools/call", { name, arguments: args }).then(answerOf).catch(error => ({ error: error.message }));
const tellModel = text => request("ui/update-model-context", { content: [{ type: "text", text }] }).catch(() => {});
// Words of the person's for the chat; of a host that takes none they are the person's to write.
const sayInChat = text => {
  const refused = () => state(t("write", text));
  request("ui/message", { role: "user", content: [{ type: "text", text }] }).catch(refused);
  if (!host.message) refused();
};

// Hosts spell a locale en-US, en_US, ru-RU@calendar=x; Intl throws for what it does not know.
const dress = ({ theme, styles, locale: given }) => {
  if (theme) root.style.colorScheme = theme;
  for (const [name, value] of Object.entries(styles?.variables || {})) root.style.setProperty(name, value);
  if (given) root.lang = locale = (/^(ru|en)([-_][A-Z]{2})?/.exec(given)?.[0] || "en").replace("_", "-");
};

// `show` is the page's own: it hears of tool-input, tool-result, tool-cancelled and, for a new theme or language, of
// host-context-changed.
const start = async show => {
  addEventListener("message", ({ source, data }) => {
    if (source !== parent || data?.jsonrpc !== "2.0") return;
    const { id, method, params = {} } = data;
    if (!method) waiting[id - 1]?.(data);
    else if (id !== undefined)
      send({ id, ...(/ping$|teardown$/.test(method) ? { result: {} } : { error: { code: -32601, message: method } }) });
    else {
      if (/changed$/.test(method)) dress(params);
      if (/input$/.test(method)) input = params.arguments || {};
      show(method.split("/").pop(), /result$/.test(method) ? answerOf(params) : params);
    }
  });
  const { hostContext, hostCapabilities = {} } = await request("ui/initialize", {
    protocolVersion: "2026-01-26", appInfo: { name: "pi-mcp", version: "1" }, appCapabilities: {} });
  dress({ locale: navigator.language, ...hostContext });
  host = hostCapabilities;
  show();
  send({ method: "ui/notifications/initialized", params: {} });
  new ResizeObserver(() => send({ method: "ui/notifications/size-changed",
    params: { height: Math.ceil(root.getBoundingClientRect().height) } })).observe(root);
};
learn(`
waiting|Загрузка…|Loading…
failed|Не получилось|That did not work
No answer|Ответа нет
retry|Попробовать снова|Try again
details|Подробности|Details
write|Напишите это в чате: $|Write this in the chat: $
`);
