// Buys over MCP, with the official client.
//
//   node mcp.mjs https://store.example prompt_handbook
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [store, offer] = process.argv.slice(2);
const client = new Client({ name: "buyer", version: "1.0.0" });
await client.connect(new StreamableHTTPClientTransport(new URL(`${store}/mcp`)));

async function call(name, args) {
  const result = await client.callTool({ name, arguments: args });
  if (result.isError) throw new Error(result.content[0].text);
  return result.structuredContent;
}

let checkout = await call("create_checkout", { offer_id: offer });
console.log(`Pay here: ${checkout.continue_url}`); // for the buyer: an agent never opens it

while (checkout.status === "requires_escalation" || checkout.status === "complete_in_progress") {
  checkout = await call("get_checkout", { id: checkout.id, wait_seconds: 25 });
}
console.log(`${checkout.status}: ${checkout.order?.id ?? "nothing was charged"}`);
await client.close();
