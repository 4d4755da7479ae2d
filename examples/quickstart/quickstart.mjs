// Connects an app and runs a tool in it.
import { ACE } from "ace";

const ace = new ACE(); // reads ACE_API_KEY
const link = await ace.apps.connect("demo-notes", { verify: "link" });
console.log(`Open ${link.url}`);
await link.wait();

const { tools } = await ace.tools.find("write a note", { apps: ["demo-notes"] });
const run = await ace.tools.run(tools[0].tool, { title: "Milk" });
console.log(`Written: ${run.output.title}`);
