// Replays the recorded exchanges that the Go and Python tests read, too. It needs nothing but the language, so
// that the same file runs on Node, Deno, Bun, Workers and browsers:
//
//   run({ sdk, exchanges, webhooks }) resolves with { passed, failed: [text] }
//
// sdk is the module under test, exchanges maps names to recorded calls, webhooks is the list of vectors.

const BASE = "http://127.0.0.1:8081";
const KEY = `ace_${"0".repeat(36)}`;

export async function run({ sdk, exchanges, webhooks }) {
  const tests = [];
  for (const [name, recorded] of Object.entries(exchanges)) tests.push([name, () => replay(sdk, recorded)]);
  for (const vector of webhooks) tests.push([`webhook: ${vector.name}`, () => verify(sdk, vector)]);
  tests.push(["what is no call", () => noCall(sdk)]);
  tests.push(["definitions of the six tools", () => metaDefinitions(sdk)]);
  tests.push(["a caller that gives up", () => aborted(sdk)]);
  tests.push(["time limit", () => timeLimit(sdk)]);
  tests.push(["connection that fails", () => unreachable(sdk)]);
  tests.push(["run_all keeps the order", () => order(sdk)]);
  tests.push(["upload", () => upload(sdk)]);

  const failed = [];
  for (const [name, test] of tests) {
    try {
      await test();
    } catch (error) {
      failed.push(`${name}: ${error?.message ?? error}`);
    }
  }
  return { passed: tests.length - failed.length, failed };
}

async function replay(sdk, recorded) {
  const left = [...recorded.exchanges];
  const keys = new Set();
  const waits = [];
  const client = new sdk.ACE(KEY, {
    baseUrl: BASE,
    sleep: async (ms) => void waits.push(ms / 1000),
    fetch: async (url, init) => {
      const exchange = left.shift();
      if (!exchange) throw new Error(`one request too many: ${init.method} ${url}`);
      const want = exchange.request;
      same({ method: want.method, path: want.path }, { method: init.method, path: decoded(url.slice(BASE.length)) });
      same(true, init.headers.Authorization === `Bearer ${KEY}`, "Authorization");
      for (const [name, value] of Object.entries(want.headers ?? {})) {
        if (value !== "*") same(value, init.headers[name], name);
        else if (!init.headers[name]) throw new Error(`no header ${name}`);
        else keys.add(init.headers[name]);
      }
      same(want.body ?? null, init.body === undefined ? null : JSON.parse(init.body), "body");
      const { status, headers, text, body } = exchange.response;
      const content = text ?? (body === undefined ? null : JSON.stringify(body));
      return new Response(status === 204 ? null : content, { status, headers });
    },
  });

  const [part, method] = recorded.call.map((name) => name && camel(name));
  const options = Object.fromEntries(Object.entries(recorded.options).map(([k, v]) => [camel(k), v]));
  let args = [...recorded.args];
  if (part === "customConnectors" && method === "create") args.push(recorded.options);
  else if (Object.keys(options).length) args.push(options);
  if (part === "tools" && method === "run" && typeof args[0] === "object" && args.length === 1) args.push(undefined);

  let target = part ? client[part] : client;
  if (part === "link") {
    const makeLink = new sdk.ACE(KEY, { baseUrl: BASE, fetch: async () => Response.json(recorded.link) });
    target = await makeLink.apps.connect("demo-notes");
    // The link was made by another client; its answers come from this one.
    Object.defineProperty(makeLink, "apps", { value: client.apps });
    Object.defineProperty(makeLink, "connections", { value: client.connections });
  }
  const call = async () => {
    const value = await target[method](...args);
    if (!value?.[Symbol.asyncIterator]) return value;
    const all = [];
    for await (const one of value) all.push(one);
    return all;
  };

  if (recorded.raises) {
    const error = await call().then(() => null, (e) => e);
    if (!(error instanceof sdk.ACEError)) throw new Error(`no ACEError but ${error}`);
    const { name, status, code, nextAction } = error;
    same(recorded.raises, { class: name, status, code, next_action: nextAction });
  } else {
    const value = await call();
    contains(recorded.returns, value ?? null, "result");
    if (recorded.message) same(readable(recorded.message), readable(value.asMessage()), "message");
  }
  same(0, left.length, "requests that were not sent");
  if (keys.size > 1) throw new Error("attempts with different idempotency keys");
  if (recorded.waits) {
    same(recorded.waits.length, waits.length, "waits");
    recorded.waits.forEach(([low, high], i) => {
      if (waits[i] < low || waits[i] > high) throw new Error(`wait ${i} is ${waits[i]} s`);
    });
  }
}

async function verify(sdk, vector) {
  const shapes = [vector.headers, new Headers(vector.headers)];
  const bodies = [vector.body, new TextEncoder().encode(vector.body)];
  for (const headers of shapes) {
    for (const body of bodies) {
      const options = { now: vector.now };
      const result = await sdk.verifyWebhook(body, headers, vector.secrets, options).then(
        (event) => event.data.title,
        (error) => (error instanceof sdk.WebhookVerificationError ? error.code : String(error)),
      );
      same(vector.code ?? "Größe", result);
    }
  }
}

async function noCall(sdk) {
  const client = new sdk.ACE(KEY);
  for (const value of [null, 7, {}, { type: "text", text: "hi" }]) {
    const error = await client.tools.run(value).then(() => null, (e) => e);
    if (!(error instanceof TypeError)) throw new Error(`${JSON.stringify(value)}: ${error}`);
  }
  same([], await client.tools.runAll({ role: "assistant", content: "done" }));
}

async function metaDefinitions(sdk) {
  const client = new sdk.ACE(KEY);
  for (const format of ["openai", "openai_responses", "anthropic", "gemini", "mcp"]) {
    same(6, (await client.tools.definitions({ format })).length, format);
  }
  const gemini = JSON.stringify(await client.tools.definitions({ format: "gemini" }));
  same(false, gemini.includes("additionalProperties"));
  const error = await client.tools.definitions({ format: "cohere" }).then(() => null, (e) => e);
  same(true, error instanceof TypeError);
}

/** A fetch that never ends by itself. */
function hanging(url, { signal }) {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason ?? new Error("aborted")));
  });
}

async function aborted(sdk) {
  let calls = 0;
  const controller = new AbortController();
  const client = new sdk.ACE(KEY, {
    fetch: (url, init) => {
      calls++;
      const pending = hanging(url, init);
      controller.abort(new Error("enough"));
      return pending;
    },
  });
  const error = await client.me({ signal: controller.signal }).then(() => null, (e) => e);
  same("enough", error?.message);
  same(1, calls, "calls");
}

async function timeLimit(sdk) {
  const client = new sdk.ACE(KEY, { fetch: hanging, timeout: 5, maxRetries: 1, sleep: async () => {} });
  const error = await client.me().then(() => null, (e) => e);
  same(true, error instanceof sdk.RequestTimeoutError, String(error));
}

async function unreachable(sdk) {
  let calls = 0;
  const client = new sdk.ACE(KEY, {
    sleep: async () => {},
    fetch: async () => {
      calls++;
      throw new TypeError("connection refused");
    },
  });
  const error = await client.me().then(() => null, (e) => e);
  same(true, error instanceof sdk.ConnectionFailedError, String(error));
  same(3, calls, "attempts");
  same(false, String(error).includes(KEY), "the key in the error");
}

async function order(sdk) {
  let running = 0;
  let most = 0;
  const client = new sdk.ACE(KEY, {
    fetch: async (url, init) => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 1));
      running--;
      return Response.json({ ok: true, output: JSON.parse(init.body).arguments.n });
    },
  });
  const content = Array.from({ length: 9 }, (_, n) => ({ type: "tool_use", id: `t${n}`, name: "a__b", input: { n } }));
  const replies = await client.tools.runAll({ role: "assistant", content });
  same(content.map((c) => c.id), replies.map((r) => r.tool_use_id));
  same(content.map((c) => c.input.n), replies.map((r) => JSON.parse(r.content).output));
  same(4, most, "calls at once");
}

async function upload(sdk) {
  let sent;
  const client = new sdk.ACE(KEY, {
    fetch: async (url, init) => {
      sent = init.body;
      return Response.json({ file_id: "file_1" }, { status: 201 });
    },
  });
  same("file_1", (await client.files.upload(new Uint8Array([104, 105]), { name: "a.txt" })).file_id);
  const file = sent.get("file");
  same("a.txt", file.name);
  same("hi", await file.text());
}

// The client sends "/" in a query as %2F and " " as %20, Python as "+"; what arrives is the same.
function decoded(path) {
  return path.replace(/%20/g, "+");
}

function camel(name) {
  return name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
}

function readable(message) {
  const out = { ...message };
  for (const name of ["content", "output"]) if (typeof out[name] === "string") out[name] = JSON.parse(out[name]);
  return out;
}

function canonical(value) {
  if (Array.isArray(value)) return value.map(canonical);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.keys(value).sort().map((key) => [key, canonical(value[key])]));
}

function same(want, got, what = "value") {
  const [a, b] = [JSON.stringify(canonical(want)), JSON.stringify(canonical(got))];
  if (a !== b) throw new Error(`${what}: want ${a}, got ${b}`);
}

/** Everything of want is in got; objects of the client may have further fields in camel case. */
function contains(want, got, path) {
  if (want !== null && typeof want === "object" && !Array.isArray(want) && got !== null && typeof got === "object") {
    for (const key of Object.keys(want)) contains(want[key], got[key], `${path}.${key}`);
    return;
  }
  same(want, got, path);
}
