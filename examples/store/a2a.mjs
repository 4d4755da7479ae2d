// Buys over A2A 1.0, with the official client.
//
//   node a2a.mjs https://store.example prompt_handbook
import { Role, TaskState } from "@a2a-js/sdk";
import { ClientFactory } from "@a2a-js/sdk/client";

const [store, offer] = process.argv.slice(2);
const client = await new ClientFactory().createFromUrl(store);

const request = { skill: "checkout", action: "create_checkout", input: { offer_id: offer } };
let task = await client.sendMessage({
  tenant: "",
  message: {
    messageId: crypto.randomUUID(),
    role: Role.ROLE_USER,
    parts: [{ content: { $case: "data", value: request }, mediaType: "application/json", filename: "" }],
    contextId: "",
    taskId: "",
    extensions: [],
    referenceTaskIds: [],
  },
});
const parts = task.status?.message?.parts ?? [];
const link = parts.find((part) => part.content?.$case === "url")?.content.value;
if (!link) throw new Error(parts.find((part) => part.content?.$case === "text")?.content.value);
console.log(`Pay here: ${link}`); // for the buyer: an agent never opens it

const open = [TaskState.TASK_STATE_INPUT_REQUIRED, TaskState.TASK_STATE_WORKING];
while (open.includes(task.status.state)) {
  await new Promise((resolve) => setTimeout(resolve, 2000));
  task = await client.getTask({ id: task.id, tenant: "" });
}
const session = task.artifacts[0]?.parts[0].content.value;
console.log(`${session?.status ?? "canceled"}: ${session?.order?.id ?? "nothing was charged"}`);
