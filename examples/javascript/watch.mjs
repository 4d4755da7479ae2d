// Has each new note posted to a webhook, and prints the secret that its deliveries are signed with.
//
//   ACE_API_KEY=… node watch.mjs https://your.example/webhook
import { ACE } from "ace";

const ace = new ACE();
const trigger = await ace.triggers.create("demo-notes", "new_note", { webhookUrl: process.argv[2] });
console.log(`ACE_WEBHOOK_SECRET=${trigger.signing_secret}`);
