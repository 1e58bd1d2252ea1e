// The host page a third time, with the AppRenderer of @mcp-ui/client: React, and the frame in a frame of the specification.
import { AppRenderer } from "@mcp-ui/client";
import { createElement } from "react";
import { createRoot } from "react-dom/client";
import { asked, given, post } from "./asked.js";

const root = createRoot(document.body.appendChild(document.createElement("div")));

window.show = async (tool, args) => {
  const { result, uri } = await post("/ask", { name: tool, arguments: args, as: "model" });
  const html = await post("/page", { uri });
  await new Promise((ready) => root.render(createElement(AppRenderer, {
    toolName: tool, html, toolInput: args, toolResult: result,
    sandbox: { url: new URL("/sandbox.html", location.href) },
    hostCapabilities: { serverTools: {}, message: {}, updateModelContext: { text: {} } },
    hostContext: { theme: given.get("theme") || "light", locale: given.get("locale") || "en-GB" },
    onCallTool: asked,
    onMessage: async ({ content }) => (window.model.push(content[0].text), {}),
    onFallbackRequest: async ({ method, params }) => (/context$/.test(method) && window.model.push(params.content[0].text), {}),
    onSizeChanged: ready,
  })));
  return result;
};
