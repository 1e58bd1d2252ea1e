// The host page once more, with the AppBridge of @modelcontextprotocol/ext-apps in place of host.js's own protocol.
import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";
import { asked, given, post } from "./asked.js";

const policy = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:">`;
const frame = document.createElement("iframe");
let bridge = null;

window.show = async (tool, args) => {
  const { result, uri } = await post("/ask", { name: tool, arguments: args, as: "model" });
  if (!bridge) {
    frame.title = "Page";
    frame.sandbox = "allow-scripts";
    document.body.append(frame);
    bridge = new AppBridge(null, { name: "ext-apps", version: "1" }, { serverTools: {}, updateModelContext: { text: {} } }, {
      hostContext: { theme: given.get("theme") || "light", locale: given.get("locale") || "en-GB" } });
    bridge.oncalltool = asked;
    bridge.onupdatemodelcontext = async ({ content }) => (window.model.push(content[0].text), {});
    bridge.onsizechange = ({ height }) => (frame.style.height = `${height}px`);
    const ready = new Promise((done) => (bridge.oninitialized = () => done()));
    await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
    frame.srcdoc = policy + (await post("/page", { uri }));
    await ready;
  }
  await bridge.sendToolInput({ arguments: args });
  await bridge.sendToolResult(result);
  return result;
};
