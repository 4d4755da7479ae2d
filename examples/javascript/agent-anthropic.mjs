// A chat with a model of Anthropic that can use every app of your account, with the official SDK.
//
//   ACE_API_KEY=… ANTHROPIC_API_KEY=… node agent-anthropic.mjs
import { createInterface } from "node:readline";
import Anthropic from "@anthropic-ai/sdk";
import { ACE } from "ace";

const ace = new ACE();
const anthropic = new Anthropic();
const model = process.env.MODEL ?? "claude-sonnet-5";
const tools = await ace.tools.definitions({ format: "anthropic" });
const system = "You work in the apps of your user. If an app is not connected, show the user the link to connect it.";
const messages = [];

for await (const line of createInterface({ input: process.stdin })) {
  messages.push({ role: "user", content: line });
  for (;;) {
    const message = await anthropic.messages.create({ model, max_tokens: 4096, system, messages, tools });
    messages.push({ role: "assistant", content: message.content });
    if (message.stop_reason === "tool_use") {
      messages.push({ role: "user", content: await ace.tools.runAll(message) });
      continue;
    }
    console.log(message.content.map((part) => part.text ?? "").join(""));
    break;
  }
}
