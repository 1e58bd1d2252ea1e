"use strict";
// What both pages share: words, elements, the host's protocol. The person's texts become text nodes, never markup.
let locale = "en", host = null, key = null, meta = {};
// A line of words: name | Russian | English; without English the name itself serves. {day/days} follows the value before it.
const words = {};
const learn = (lines) => lines.trim().split("\n").forEach((line) => { const [name, ...texts] = line.split("|"); words[name] = texts; });
const t = (name, ...values) => {
  const [russian, english] = words[name] || [];
  const plural = new Intl.PluralRules(locale).select(Math.abs(values[0]) || 0);
  return ((/^ru/.test(locale) ? russian : english) || name.replace(/_/g, " "))
    .replace(/\{(.+?)\}/g, (_, forms) => (forms = forms.split("/"))[{ one: 0, few: 1 }[plural] ?? forms.length - 1])
    .replace(/\$/g, () => ((value) => (typeof value === "number" ? number(value) : value))(values.shift()));
};
const number = (value, options) => value.toLocaleString(locale, options);
const signed = (value) => number(value, { signDisplay: "exceptZero" }).replace("-", "−");
const duration = (minutes) =>
  [[Math.floor(minutes / 60), "hour"], [minutes % 60, "minute"]].map(([count, unit]) => (count ? number(count, { style: "unit", unit }) : "")).join(" ").trim();
const day = (text, weekday = "short", month = "short") => {
  const date = new Date(text + "T00:00Z"), year = date.getFullYear() === new Date().getFullYear() ? undefined : "numeric";
  return isNaN(date) ? text : date.toLocaleDateString(locale, { weekday, month, year, day: "numeric", timeZone: "UTC" });
};

const at = (id) => document.getElementById(id);
const h = (name, attributes, ...children) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {}))
    if (typeof value === "function") element.addEventListener(key, (event) => event.isTrusted && value(event));
    else if (value || value === 0) element.setAttribute(key, value);
  if (name === "button") element.type = name;
  element.append(...children.flat(2).filter((child) => child || child === 0));
  return element;
};
const button = (label, click, main) => h("button", { class: main && "main", click }, t(label));
const section = (name, children) => children?.length ? h("section", {}, h("h2", {}, t(name)), h("ul", {}, children)) : "";
const state = (text) => { at("state").textContent = text; };
const disable = () => document.querySelectorAll("button, input").forEach((element) => { element.disabled = true; });

const waiting = new Map();
let requests = 0;
const send = (message) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
const request = (method, params) =>
  new Promise((resolve, reject) => {
    waiting.set(++requests, { resolve, reject });
    send({ id: requests, method, params });
  });
const answerOf = (result) => {
  meta = result._meta || {};
  key = meta["pi-mcp/press"];
  return result.structuredContent || { error: result.content?.[0]?.text };
};
const call = (name, args) => request("tools/call", { name, arguments: args }).then(answerOf).catch((error) => ({ error: error.message }));
const tellModel = (text) => request("ui/update-model-context", { content: [{ type: "text", text }] }).catch(() => {});

// Hosts spell a locale en-US, en_US, ru-RU@calendar=x; Intl throws for what it does not know.
const dress = ({ theme, styles, locale: given }) => {
  const root = document.documentElement;
  if (theme) root.style.colorScheme = theme;
  for (const [name, value] of Object.entries(styles?.variables || {})) root.style.setProperty(name, value);
  if (given) root.lang = locale = (/^(ru|en)([-_][A-Z]{2})?/.exec(given)?.[0] || "en").replace("_", "-");
};

// `show` is the page's own: it hears of tool-input, tool-result, tool-cancelled and, for a new theme or language, of host-context-changed.
const start = async (show) => {
  addEventListener("message", ({ source, data }) => {
    if (source !== parent || data?.jsonrpc !== "2.0") return;
    const { id, method, params = {} } = data, asked = waiting.get(id);
    if (!method) {
      waiting.delete(id);
      if (asked) data.error ? asked.reject(data.error) : asked.resolve(data.result || {});
    } else if (id !== undefined)
      send(/^(ping|ui\/resource-teardown)$/.test(method) ? { id, result: {} } : { id, error: { code: -32601, message: method } });
    else {
      if (/changed$/.test(method)) dress(params);
      show(method.split("/").pop(), /result$/.test(method) ? answerOf(params) : params);
    }
  });
  const { hostContext, hostCapabilities } = await request("ui/initialize", {
    protocolVersion: "2026-01-26", appInfo: { name: "pi-mcp", version: "1" }, appCapabilities: {} });
  dress({ locale: navigator.language, ...hostContext });
  host = hostCapabilities || {};
  show();
  send({ method: "ui/notifications/initialized", params: {} });
  let last;
  new ResizeObserver(() => {
    const height = Math.ceil(document.documentElement.getBoundingClientRect().height);
    if (height !== last) send({ method: "ui/notifications/size-changed", params: { height: (last = height) } });
  }).observe(document.documentElement);
};
learn(`
waiting|Загрузка…|Loading…
working|Выполняю…|Working…
failed|Не получилось: $|That did not work: $
`);
