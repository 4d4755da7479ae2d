// A chat with a model of OpenAI that can use every app of your account, with the official SDK and its Responses API.
//
//   ACE_API_KEY=… OPENAI_API_KEY=… node agent-openai.mjs
import { createInterface } from "node:readline";
import OpenAI from "openai";
import { ACE } from "ace";

const ace = new ACE();
const openai = new OpenAI();
const tools = await ace.tools.definitions({ format: "openai_responses" });
const instructions =
  "You work in the apps of your user. If an app is not connected, show the user the link to connect it.";
const input = [];

for await (const line of createInterface({ input: process.stdin })) {
  input.push({ role: "user", content: line });
  for (;;) {
    const response = await openai.responses.create({ model: process.env.MODEL ?? "gpt-5", instructions, input, tools });
    const results = await ace.tools.runAll(response);
    input.push(...response.output, ...results);
    if (results.length) continue;
    console.log(response.output_text);
    break;
  }
}
