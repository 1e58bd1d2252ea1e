// A host as the specification of 2026-01-26 wants one: what it shows and how is in the address, the server behind it answers /ask.
// `slow`: ms before each call; `deny`, `lose`: a call is refused, or runs and its reply is lost; `mute`: pages may call nothing; `nomessage`.
const given = Object.fromEntries(new URLSearchParams(location.search));
const seen = [];
const calls = [];
const model = [];
const post = async (path, body) => (await fetch(path, { method: "POST", body: JSON.stringify(body) })).json();
const policy = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; connect-src 'none'">`;
const frame = document.createElement("iframe");
const send = (message) => frame.contentWindow.postMessage({ jsonrpc: "2.0", ...message }, "*");
const context = () => ({ theme: given.theme || "light", locale: given.locale || "en-GB", displayMode: "inline",
  styles: { variables: JSON.parse(given.variables || "{}") }, containerDimensions: { maxHeight: 5000, width: innerWidth } });
document.documentElement.className = given.theme || "";

const show = async (tool, args) => {
  const { result, uri } = await post("/ask", { name: tool, arguments: args, as: "model" });
  if (!frame.isConnected) await new Promise(async (ready) => {
    frame.title = "Page";
    frame.sandbox = "allow-scripts";
    frame.srcdoc = policy + (await post("/page", { uri }));
    window.initialized = ready;
    document.body.append(frame);
  });
  send({ method: "ui/notifications/tool-input", params: { arguments: args } });
  send({ method: "ui/notifications/tool-result", params: result });
  return result;
};
const answers = {
  "ui/initialize": () => ({ protocolVersion: "2026-01-26", hostInfo: { name: "test", version: "1" },
    hostCapabilities: { ...(given.mute ? {} : { serverTools: {} }), ...(given.nomessage ? {} : { message: {} }) }, hostContext: context() }),
  "tools/call": async (params) => {
    calls.push(params.name);
    if (given.slow) await new Promise((done) => setTimeout(done, given.slow));
    if (given.deny) {
      if (given.deny === "once") given.deny = "";
      throw new Error("Tool call denied");
    }
    const { result } = await post("/ask", { ...params, as: "page" });
    if (given.lose) {
      if (given.lose === "once") given.lose = "";
      throw new Error("Request timed out");
    }
    return result;
  },
  "ui/update-model-context": (params) => (model.push(params.content[0].text), {}),
  "ui/message": (params) => {
    if (given.nomessage) throw new Error("Message refused");
    model.push(params.content[0].text);
    return {};
  },
};
addEventListener("message", async ({ source, data }) => {
  if (source !== frame.contentWindow || data.jsonrpc !== "2.0") return;
  seen.push(data);
  if (data.method === "ui/notifications/initialized") window.initialized();
  if (data.method === "ui/notifications/size-changed") frame.style.height = `${data.params.height}px`;
  if (data.id === undefined || !data.method) return;
  let answer, refusal = "Method not found";
  try { answer = await answers[data.method]?.(data.params); } catch (error) { refusal = error.message; }
  send(answer ? { id: data.id, result: answer } : { id: data.id, error: { code: -32601, message: refusal } });
});
