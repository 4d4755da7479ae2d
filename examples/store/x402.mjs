// Buys a service for websites and pays for it itself, over x402. The wallet holds the token of the network that the
// store asks for; in development the sandbox gives every new wallet test dollars.
//
//   WALLET_KEY=0x… node x402.mjs https://store.example https://website.example
import { x402Client } from "@x402/core/client";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { wrapFetchWithPayment } from "@x402/fetch";
import { privateKeyToAccount } from "viem/accounts";

const [store, website] = process.argv.slice(2);
const { services } = await (await fetch(`${store}/v1/services`)).json();
const service = services.find((one) => one.id === "llms-txt-draft");
const [{ network, asset, amount }] = service.payment_required.accepts;

const client = new x402Client().register(network, new ExactEvmScheme(privateKeyToAccount(process.env.WALLET_KEY)));
client.setSpendControls({ allowedAssets: [{ network, asset, maxAmountPerPayment: amount }] }); // never more than listed
const fetchAndPay = wrapFetchWithPayment(fetch, client);

// The first response is the quote; the payment is signed, and the call repeated with it.
const response = await fetchAndPay(service.http.url, {
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify({ url: website }),
});
let order = await response.json();
while (response.ok && order.status === "running") {
  order = await (await fetch(`${store}/v1/orders/${order.id}`, { headers: { Prefer: "wait=10" } })).json();
}
if (!order.charged) throw new Error(order.detail ?? order.error);
console.log(`Paid ${service.price.display}, order ${order.id}`);
