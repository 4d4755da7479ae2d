// Buys over ACP.
//
//   node acp.mjs https://store.example prompt_handbook
const [store, offer] = process.argv.slice(2);
const sessions = `${store}/agent/commerce/acp/checkout_sessions`;

async function call(url, options = {}) {
  const headers = { "API-Version": "2026-04-17", "Content-Type": "application/json", ...options.headers };
  const response = await fetch(url, { ...options, headers });
  const body = await response.json();
  if (!response.ok) throw new Error(`${body.code}: ${body.message}`);
  return body;
}

let session = await call(sessions, {
  method: "POST",
  headers: { "Idempotency-Key": crypto.randomUUID() },
  body: JSON.stringify({ line_items: [{ id: offer, quantity: 1 }], currency: "usd", capabilities: {} }),
});
console.log(`Pay here: ${session.continue_url}`); // for the buyer: an agent never opens it

while (session.status === "requires_escalation" || session.status === "complete_in_progress") {
  session = await call(`${sessions}/${session.id}`, { headers: { Prefer: "wait=25" } });
}
console.log(`${session.status}: ${session.order?.id ?? "nothing was charged"}`);
