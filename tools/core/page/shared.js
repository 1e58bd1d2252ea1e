"use strict";
// What all pages share: words, elements, the host's protocol. The person's texts become text nodes, never markup.
const root = document.documentElement;
let locale = "en", host = null, key = null, meta = {};
// A line of words: name | Russian | English, with a $ for each value; without English the name itself serves.
const words = {};
const learn = (lines) => lines.trim().split("\n").forEach((line) => { const [name, ...texts] = line.split("|"); words[name] = texts; });
const t = (name, ...values) => {
  const [russian, english] = words[name] || [], text = (/^ru/.test(locale) ? russian : english) || name.replace(/_/g, " ");
  return text.replace(/\$/g, () => values.shift().toLocaleString(locale));
};
const number = (value, options) => value.toLocaleString(locale, options);
const signed = (value) => number(value, { signDisplay: "exceptZero" }).replace("-", "−");
const unit = (count, unit, unitDisplay) => number(count, { style: "unit", unit, unitDisplay });

const at = (id) => document.getElementById(id);
// An element: h("p.row.quiet", { title }, text, [elements]). Its properties are those of the DOM; of a child that is false nothing is drawn.
const h = (name, ...parts) => {
  const [tag, ...classes] = name.split("."), element = document.createElement(tag);
  element.className = classes.join(" ");
  for (const part of parts.flat(2))
    if (part?.constructor === Object) Object.assign(element, part);
    else if (part) element.append(part);
  return element;
};
// Only what a person presses counts: the click of a script goes nowhere.
addEventListener("click", (event) => event.isTrusted || (event.preventDefault(), event.stopImmediatePropagation()), true);
const button = (label, onclick, main) => h(main ? "button.main" : "button", { onclick }, t(label));
const section = (title, items, note) => items?.length ? h("section", h("h2", h("span", t(title)), note), h("ul", items)) : "";
const state = (text) => { at("state").textContent = text; };

const waiting = [];
const send = (message) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
const request = (method, params) => new Promise((resolve, reject) => {
  const id = waiting.push(({ error, result = {} }) => (error ? reject(error) : resolve(result)));
  send({ id, method, params });
});
const answerOf = (result) => {
  meta = result._meta || {};
  key = meta["pi-mcp/press"] || key;
  return result.structuredContent || { error: result.content?.[0]?.text };
};
const call = (name, args) => request("tools/call", { name, arguments: args }).then(answerOf).catch((error) => ({ error: error.message }));
const tellModel = (text) => request("ui/update-model-context", { content: [{ type: "text", text }] }).catch(() => {});

// Hosts spell a locale en-US, en_US, ru-RU@calendar=x; Intl throws for what it does not know.
const dress = ({ theme, styles, locale: given }) => {
  if (theme) root.style.colorScheme = theme;
  for (const [name, value] of Object.entries(styles?.variables || {})) root.style.setProperty(name, value);
  if (given) root.lang = locale = (/^(ru|en)([-_][A-Z]{2})?/.exec(given)?.[0] || "en").replace("_", "-");
};

// `show` is the page's own: it hears of tool-input, tool-result, tool-cancelled and, for a new theme or language, of host-context-changed.
const start = async (show) => {
  addEventListener("message", ({ source, data }) => {
    if (source !== parent || data?.jsonrpc !== "2.0") return;
    const { id, method, params = {} } = data;
    if (!method) waiting[id - 1]?.(data);
    else if (id !== undefined)
      send(/^(ping|ui\/resource-teardown)$/.test(method) ? { id, result: {} } : { id, error: { code: -32601, message: method } });
    else {
      if (/changed$/.test(method)) dress(params);
      show(method.split("/").pop(), /result$/.test(method) ? answerOf(params) : params);
    }
  });
  const { hostContext, hostCapabilities = {} } = await request("ui/initialize", {
    protocolVersion: "2026-01-26", appInfo: { name: "pi-mcp", version: "1" }, appCapabilities: {} });
  dress({ locale: navigator.language, ...hostContext });
  host = hostCapabilities;
  show();
  send({ method: "ui/notifications/initialized", params: {} });
  new ResizeObserver(() => send({ method: "ui/notifications/size-changed", params: { height: Math.ceil(root.getBoundingClientRect().height) } })).observe(root);
};
learn("waiting|Загрузка…|Loading…");
