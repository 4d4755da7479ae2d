// Receives the events of triggers, with Express.
//
//   ACE_WEBHOOK_SECRET=whsec_… PORT=3000 node webhook-express.mjs
import express from "express";
import { verifyWebhook, WebhookVerificationError } from "ace";

const app = express();
const seen = new Set(); // of a real receiver: a table, in the transaction that handles the event

// The signature is over the bytes of the body: they must not be parsed before.
app.post("/webhook", express.raw({ type: "application/json" }), async (request, response) => {
  let event;
  try {
    event = await verifyWebhook(request.body, request.headers, process.env.ACE_WEBHOOK_SECRET);
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    response.status(400).json({ error: error.code });
    return;
  }
  if (!seen.has(event.event_id)) {
    seen.add(event.event_id); // an event may arrive twice
    console.log(`${event.type}: ${event.data.title}`);
  }
  response.sendStatus(204);
});

app.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => console.log("listening"));
