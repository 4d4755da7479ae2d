import { ACE } from "ace";

const ace = new ACE();
const link = await ace.apps.connect("demo-notes", { auth: "key", verify: "link", label: "JavaScript" });
console.log(JSON.stringify({ url: link.url }));
const connection = await link.wait();
const on = { connectionId: connection.id };

const { tools } = await ace.tools.find("write a note", { apps: ["demo-notes"] });
const run = await ace.tools.run(tools[0].tool, { title: "Milk" }, on);
const refused = await ace.tools.run("demo_notes__update_note", { note_id: "note_none", title: "x" }, on);

const definitions = await ace.tools.definitions({ format: "anthropic" });
const message = {
  role: "assistant",
  content: [
    { type: "text", text: "I write the note." },
    {
      type: "tool_use",
      id: "toolu_1",
      name: "run_tool",
      input: { tool: "demo_notes__create_note", arguments: { title: "Eggs" }, connection_id: connection.id },
    },
    { type: "tool_use", id: "toolu_2", name: "demo_notes__create_note", input: { titel: "Eggs" } },
  ],
};
const replies = await ace.tools.runAll(message, on);
console.log(
  JSON.stringify({
    found: tools[0].tool,
    title: run.output.title,
    refusal: refused.error.code,
    definitions: definitions.length,
    replies: replies.length,
    modelTitle: JSON.parse(replies[0].content).output.title,
    hint: JSON.parse(replies[1].content).error.code,
  }),
);
