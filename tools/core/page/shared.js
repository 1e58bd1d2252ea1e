"use strict";
// What all pages share: words, elements, the host's protocol. The person's texts become text nodes, never markup.
let root = document.documentElement;
let locale = "en", host, key, meta = {}, input = {};
// A line of words: name | Russian | English; without English the name itself serves, as it does without both. A $ is a
// value, and the braces behind it have the forms that its number takes: $ {день/дня/дней}.
let words = {};
let learn = lines => lines.trim().split("\n").forEach(line => {
  let [name, ...texts] = line.split("|");
  words[name] = texts;
});
let t = (name, ...values) => {
  let [russian, english] = words[name] || [], text = (/^ru/.test(locale) ? russian : english) || name;
  let [value] = values;
  return text.replace(/\$|\{(.+?)\}/g, (_, forms) => {
    if (!forms) return number((value = values.shift()));
    let all = forms.split("/"), place = { one: 0, few: 1 }[new Intl.PluralRules(locale).select(value)];
    return all[place] ?? all.at(-1);
  });
};
let number = (value, options) => value.toLocaleString(locale, options);
let unit = (count, unit, unitDisplay) => number(count, { style: "unit", unit, unitDisplay });
let dots = (...parts) => parts.filter(Boolean).join(" · ");

let at = id => document.getElementById(id);
// An element: h("p.row.quiet", { title }, text, [elements]). Its properties are those of the DOM; of a child that is
// false nothing is drawn.
let h = (name, ...parts) => {
  let [tag, ...classes] = name.split("."), element = document.createElement(tag);
  element.className = classes.join(" ");
  for (let part of parts.flat(2))
    if (part?.constructor === Object) Object.assign(element, part);
    else if (part) element.append(part);
  return element;
};
// Only what a person presses counts: the click of a script goes nowhere.
addEventListener("click", event => event.isTrusted || (event.preventDefault(), event.stopImmediatePropagation()), true);
let button = (label, onclick, main) => h(main ? "button.main" : "button", { onclick }, t(label));
let section = (title, items, note) =>
  items?.length ? h("section", h("h2", h("span", t(title)), note), h("ul", items)) : "";
let state = text => { at("state").textContent = text; };
// What went wrong, in the person's language, and what to do; the server's own words are folded.
let fail = ({ code, error }, again) => {
  // After an error of what was asked the same call cannot succeed.
  let isHopeful = again && host.serverTools && !/NOT_FOUND$|^(INVALID|FIELD|NO_[PS]|NOT_A)/.test(code);
  at("head").textContent = t(words[code] ? code : "failed");
  state("");
  at("body").replaceChildren(h("div.card", words[code + "+"] && h("p", t(code + "+")), isHopeful && button("retry", again, true),
    error && h("details", h("summary.quiet", t("details")), h("p", error))));
};

let waiting = [];
let send = message => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
let request = (method, params) => new Promise((resolve, reject) => {
  let id = waiting.push(({ error, result = {} }) => (error ? reject(error) : resolve(result)));
  send({ id, method, params });
});
let answerOf = result => {
  meta = result._meta || {};
  key = meta["pi-mcp/press"] || key;
  return result.structuredContent || { error: result.content?.[0]?.text };
};
// An answer without a code is none: the call may have been refused, or its reply lost.
let call = (name, args) =>
  request("tools/call", { name, arguments: args }).then(answerOf).catch(error => ({ error: error.message }));
let tellModel = text => request("ui/update-model-context", { content: [{ type: "text", text }] }).catch(() => {});
// Words of the person's for the chat; of a host that takes none they are the person's to write.
let sayInChat = text => {
  let refused = () => state(t("write", text));
  request("ui/message", { role: "user", content: [{ type: "text", text }] }).catch(refused);
  if (!host.message) refused();
};

// Hosts spell a locale en-US, en_US, ru-RU@calendar=x; Intl throws for what it does not know.
let dress = ({ theme, styles, locale: given }) => {
  if (theme) root.style.colorScheme = theme;
  for (let [name, value] of Object.entries(styles?.variables || {})) root.style.setProperty(name, value);
  if (given) root.lang = locale = (/^(ru|en)([-_][A-Z]{2})?/.exec(given)?.[0] || "en").replace("_", "-");
};

// `show` is the page's own: it hears of tool-input, tool-result, tool-cancelled and, for a new theme or language, of
// host-context-changed.
let start = async show => {
  addEventListener("message", ({ source, data }) => {
    if (source !== parent || data?.jsonrpc !== "2.0") return;
    let { id, method, params = {} } = data;
    if (!method) waiting[id - 1]?.(data);
    else if (id !== undefined)
      send({ id, ...(/ping$|teardown$/.test(method) ? { result: {} } : { error: { code: -32601, message: method } }) });
    else {
      if (/changed$/.test(method)) dress(params);
      if (/input$/.test(method)) input = params.arguments || {};
      show(method.split("/").pop(), /result$/.test(method) ? answerOf(params) : params);
    }
  });
  let { hostContext, hostCapabilities = {} } = await request("ui/initialize", {
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
