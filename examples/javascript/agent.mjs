// A chat with a model that can use every app of your account. It needs no model SDK: any server that speaks OpenAI's
// chat completions will do (OPENAI_BASE_URL).
//
//   ACE_API_KEY=… OPENAI_API_KEY=… node agent.mjs
import { createInterface } from "node:readline";
import { ACE } from "ace";

const ace = new ACE();
const tools = await ace.tools.definitions({ format: "openai" });
const messages = [
  {
    role: "system",
    content: "You work in the apps of your user. If an app is not connected, show the user the link to connect it.",
  },
];

async function complete() {
  const response = await fetch(`${process.env.OPENAI_BASE_URL ?? "https://api.openai.com/v1"}/chat/completions`, {
    method: "POST",
    headers: { Authorization: `Bearer ${process.env.OPENAI_API_KEY}`, "Content-Type": "application/json" },
    body: JSON.stringify({ model: process.env.MODEL ?? "gpt-5", messages, tools }),
  });
  if (!response.ok) throw new Error(`The model responded with ${response.status}: ${await response.text()}`);
  return (await response.json()).choices[0].message;
}

for await (const line of createInterface({ input: process.stdin })) {
  messages.push({ role: "user", content: line });
  let message = await complete();
  while (message.tool_calls?.length) {
    messages.push(message, ...(await ace.tools.runAll(message)));
    message = await complete();
  }
  messages.push(message);
  console.log(message.content);
}
