// A program that uses the whole client; only its types matter.
import {
  ACE,
  ACEError,
  NotConnectedError,
  verifyWebhook,
  type Connection,
  type FoundTool,
  type Run,
  type Trigger,
} from "./ace.mjs";

export async function use(request: Request): Promise<string> {
  const ace = new ACE(process_key(), { baseUrl: "https://apps.example", timeout: 1000, maxRetries: 1 });
  const link = await ace.apps.connect("gmail", { label: "Work", verify: "link" });
  const connection: Connection = await link.wait({ timeout: 1000 });
  const found = await ace.tools.find("send an email", { apps: ["gmail"], include: ["input_schema"] });
  const first: FoundTool | undefined = found.tools[0];
  const run: Run = await ace.tools.run(first?.tool ?? "", { to: ["a@b.c"] }, { connectionId: connection.id });
  const reply = (await ace.tools.run({ type: "tool_use", id: "1", name: "x", input: {} })).asMessage();
  const tools: unknown[] = await ace.tools.definitions({ format: "anthropic", apps: ["gmail"] });
  for await (const app of ace.catalog.all({ category: "email" })) void app.name.length;
  const event = await verifyWebhook(await request.text(), request.headers, ["whsec_a", "whsec_b"]);
  try {
    await ace.connections.delete(connection.id, { revoke: false });
  } catch (error) {
    if (error instanceof NotConnectedError) return error.connectUrl ?? "";
    if (error instanceof ACEError) return error.code + error.problem.errors?.map((e) => e.pointer).join();
  }
  const trigger: Trigger = await ace.triggers.create("github", "new_issue", { webhookUrl: "https://hooks.example" });
  const statuses: string[] = (await ace.triggers.events(trigger.id)).map((one) => one.status);
  const secret: string | undefined = (await ace.triggers.rotateSecret(trigger.id, { overlapSeconds: 60 })).signing_secret;
  // @ts-expect-error: an event without a place to post it to
  await ace.triggers.create("github", "new_issue");
  // @ts-expect-error: a dialect that does not exist
  await ace.tools.definitions({ format: "cohere" });
  // @ts-expect-error: an option that does not exist
  await ace.tools.find("x", { conected_only: true });
  return `${run.ok} ${String(event.type)} ${JSON.stringify(reply)} ${tools.length} ${statuses} ${secret}`;
}

function process_key(): string | undefined {
  return undefined;
}
