// Runs test.mjs on Node, Deno or Bun: node node.test.mjs [module [fixtures]].
import { readdirSync, readFileSync } from "node:fs";
import { run } from "./test.mjs";

const [module = new URL("./ace.mjs", import.meta.url).href, fixtures = new URL("..", import.meta.url).pathname] =
  process.argv.slice(2);
const read = (path) => JSON.parse(readFileSync(path, "utf8"));
const names = readdirSync(`${fixtures}/exchanges`).filter((name) => name.endsWith(".json"));
const exchanges = Object.fromEntries(names.map((name) => [name.slice(0, -5), read(`${fixtures}/exchanges/${name}`)]));
const webhooks = read(`${fixtures}/webhooks/vectors.json`);
const { passed, failed } = await run({ sdk: await import(module), exchanges, webhooks });
for (const text of failed) console.error(text);
console.log(`${passed} passed, ${failed.length} failed`);
process.exitCode = failed.length ? 1 : 0;
