// Calls an agent with the JavaScript SDK of A2A and prints what it answers as
// JSON.
//
//   node a2a.mjs BASE card                  fetches the card and verifies it
//   node a2a.mjs BASE send DATA [CONTEXT]   sends one data part, or one text
//   node a2a.mjs BASE get TASK
//   node a2a.mjs BASE list CONTEXT
//   node a2a.mjs BASE cancel TASK
//
// ACE_NODE_MODULES is the folder that the SDK is installed in.
import { createRequire } from 'node:module';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const require = createRequire(join(process.env.ACE_NODE_MODULES, 'x.js'));
const load = (name) => import(pathToFileURL(require.resolve(name)));
const sdk = await load('@a2a-js/sdk');
const { ClientFactory, DefaultAgentCardResolver } = await load('@a2a-js/sdk/client');
const jose = await load('jose');
const { verifyAgentCardSignature } = sdk;

const [base, command, ...args] = process.argv.slice(2);

// keyAt trusts key sets of the agent's own origin alone.
async function keyAt(kid, jku) {
  if (new URL(jku).origin !== new URL(base).origin) throw new Error(`foreign key set ${jku}`);
  const { keys } = await (await fetch(jku)).json();
  const jwk = keys.find((k) => k.kid === kid);
  return jose.importJWK(jwk, jwk.alg);
}

const commands = {
  async card() {
    const card = await new DefaultAgentCardResolver().resolve(base);
    const verify = verifyAgentCardSignature(keyAt);
    await verify(card);
    const forged = structuredClone(card);
    forged.supportedInterfaces[0].url = 'https://evil.example/agent/a2a';
    const refused = await verify(forged).then(() => false, () => true);
    return { verified: true, forgedRefused: refused, name: card.name, skills: card.skills.map((s) => s.id), url: card.supportedInterfaces[0].url };
  },
  async send(text, contextId = '') {
    let content = { $case: 'text', value: text };
    if (text.startsWith('{')) content = { $case: 'data', value: JSON.parse(text) };
    const client = await new ClientFactory().createFromUrl(base);
    return client.sendMessage({
      tenant: '', metadata: undefined,
      configuration: { acceptedOutputModes: ['application/json'], returnImmediately: false, taskPushNotificationConfig: undefined },
      message: {
        messageId: randomUUID(), contextId, taskId: '', role: sdk.Role.ROLE_USER, extensions: [], referenceTaskIds: [], metadata: undefined,
        parts: [{ content, mediaType: content.$case === 'data' ? 'application/json' : 'text/plain', filename: '', metadata: undefined }],
      },
    });
  },
  async get(id) {
    const client = await new ClientFactory().createFromUrl(base);
    return client.getTask({ id, tenant: '' });
  },
  async list(contextId) {
    const client = await new ClientFactory().createFromUrl(base);
    return client.listTasks({ contextId, tenant: '', status: 0, pageToken: '', includeArtifacts: true });
  },
  async cancel(id) {
    const client = await new ClientFactory().createFromUrl(base);
    return client.cancelTask({ id, tenant: '', metadata: undefined });
  },
};

let answer;
try {
  answer = { ok: await commands[command](...args) };
} catch (error) {
  answer = { error: error.name, message: error.message, code: error.code };
}
console.log(JSON.stringify(answer));
