// Buys over UCP.
//
//   node ucp.mjs https://store.example prompt_handbook
const [store, offer] = process.argv.slice(2);
const sessions = `${store}/agent/commerce/ucp/checkout-sessions`;

async function call(url, options) {
  const response = await fetch(url, options);
  const body = await response.json();
  // What cannot be bought is an outcome of the business, with status 200.
  const [message] = body.messages ?? [];
  if (!response.ok || body.ucp?.status === "error") throw new Error(message?.content ?? body.detail ?? response.status);
  return body;
}

let session = await call(sessions, {
  method: "POST",
  headers: { "Content-Type": "application/json", "Idempotency-Key": crypto.randomUUID() },
  body: JSON.stringify({ line_items: [{ item: { id: offer }, quantity: 1 }] }),
});
console.log(`Pay here: ${session.continue_url}`); // for the buyer: an agent never opens it

while (session.status === "requires_escalation" || session.status === "complete_in_progress") {
  session = await call(`${sessions}/${session.id}`, { headers: { Prefer: "wait=25" } });
}
console.log(`${session.status}: ${session.order?.id ?? "nothing was charged"}`);
