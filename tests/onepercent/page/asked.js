// What the host pages of other makers share: the server behind them, and replies that are slow, refused or lost.
export const given = new URLSearchParams(location.search);
export const post = async (path, body) => (await fetch(path, { method: "POST", body: JSON.stringify(body) })).json();
window.calls = [];
window.model = [];
window.faults = Object.fromEntries(given);

export const asked = async (params) => {
  window.calls.push(params.name);
  const { slow, deny, lose } = window.faults;
  if (slow) await new Promise((done) => setTimeout(done, slow));
  if (deny) throw new Error("Tool call denied");
  const { result } = await post("/ask", { name: params.name, arguments: params.arguments, as: "page" });
  if (lose) throw new Error("Request timed out");
  return result;
};
