// A market of others around the store: a chain (anvil), a token on it, a
// facilitator and a shop made of the libraries of x402, and their client.
//
//   node rig.mjs '{"chainId":84532,"asset":"0x…","name":"USDC","version":"2"}'
//
// It prints one line with its addresses and works until its input ends.
//
//   POST {control}/mint    {to, value}                  money
//   POST {control}/fault   {mode, count}                the next settlements go wrong
//   POST {control}/submit  {payments}                   a stranger puts them on the chain, in one transaction
//   POST {control}/cancel  {privateKey, nonce}          a payer takes an authorization back
//   POST {control}/wallet  {owner}                      a wallet that is a contract
//   POST {control}/shop    {facilitator, network, ...}  a shop that takes payments by a facilitator
//   POST {control}/fetch   {url, method, body, privateKey, spendControls}  the client buys over HTTP
//   POST {control}/mcp     {url, tool, arguments, privateKey, way, sdk}    a client buys over MCP
//
// ACE_NODE_MODULES is the folder that the libraries are installed in.
import { createRequire } from 'node:module';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';

const modules = process.env.ACE_NODE_MODULES;
const require = createRequire(join(modules, 'x.js'));
const load = (name) => import(pathToFileURL(require.resolve(name)));
const express = (await load('express')).default;
const viem = await load('viem');
const accounts = await load('viem/accounts');
const { x402Facilitator } = await load('@x402/core/facilitator');
const { x402Client } = await load('@x402/core/client');
const { HTTPFacilitatorClient } = await load('@x402/core/server');
const { toFacilitatorEvmSigner } = await load('@x402/evm');
const payerScheme = await load('@x402/evm/exact/client');
const shopScheme = await load('@x402/evm/exact/server');
const settlerScheme = await load('@x402/evm/exact/facilitator');
const { wrapFetchWithPayment } = await load('@x402/fetch');
const { paymentMiddleware, x402ResourceServer } = await load('@x402/express');

const config = JSON.parse(process.argv[2]);
const network = `eip155:${config.chainId}`;
const contracts = JSON.parse(readFileSync(join(import.meta.dirname, 'contracts.json'), 'utf8'));
// The accounts of every anvil, known to everybody.
const account = (addressIndex) => accounts.mnemonicToAccount('test test test test test test test test test test test junk', { addressIndex });

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

// The chain.
const rpcPort = await freePort();
const anvil = spawn(join(modules, `@foundry-rs/anvil-${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`, 'bin', 'anvil'),
  ['--host', '127.0.0.1', '--port', String(rpcPort), '--chain-id', String(config.chainId), '--silent'], { stdio: 'ignore' });
const rpc = `http://127.0.0.1:${rpcPort}`;
const chain = viem.defineChain({ id: config.chainId, name: 'test', nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 }, rpcUrls: { default: { http: [rpc] } } });
const options = { chain, transport: viem.http(rpc, { retryCount: 0 }), pollingInterval: 40 };
const wallet = (index) => viem.createWalletClient({ account: account(index), ...options }).extend(viem.publicActions);
const admin = viem.createTestClient({ mode: 'anvil', ...options }).extend(viem.publicActions);
for (let i = 0; ; i++) {
  if (await admin.getBlockNumber().then(() => true, () => false)) break;
  if (i > 200) throw new Error('the chain does not answer');
  await sleep(25);
}

// The token stands at the address of the real one, so that clients with their
// own list of tokens pay with it.
const deployer = wallet(0);
await admin.setCode({ address: config.asset, bytecode: contracts.TestDollar.code });
await admin.setCode({ address: '0xcA11bde05977b3631167028862bE2a173976CA11', bytecode: contracts.TestMulticall.code });
const token = { address: config.asset, abi: contracts.TestDollar.abi };
const done = async (client, hash) => {
  const receipt = await client.waitForTransactionReceipt({ hash });
  if (receipt.status !== 'success') throw new Error(`the transaction ${hash} failed`);
  return receipt;
};
await done(deployer, await deployer.writeContract({ ...token, functionName: 'setUp', args: [config.name, config.version] }));

// The facilitator. Its own settlements stand in line, because they share the
// wallet's counter; parallel lets them race, as they do elsewhere.
const settler = wallet(1);
const facilitator = new x402Facilitator().register(network, new settlerScheme.ExactEvmScheme(
  toFacilitatorEvmSigner({ address: settler.account.address, ...settler }, { confirmationTimeoutMs: config.confirmationTimeoutMs ?? 2000 })));
let faults = [];
let line = Promise.resolve();
const settle = (body) => {
  const work = () => facilitator.settle(body.paymentPayload, body.paymentRequirements);
  if (config.parallel) return work();
  const turn = line.then(work, work);
  line = turn.catch(() => {});
  return turn;
};

const app = express().use(express.json({ limit: '1mb' }));
app.post('/verify', async (req, res) => res.json(await facilitator.verify(req.body.paymentPayload, req.body.paymentRequirements)));
app.get('/supported', (_req, res) => res.json(facilitator.getSupported()));
app.post('/settle', async (req, res) => {
  const fault = faults.shift();
  if (fault === '500_before') return res.status(500).type('html').send('<html>internal error</html>');
  if (fault === '429') return res.status(429).json({ error: 'too many requests' });
  const answer = await settle(req.body);
  if (fault === '500_after') return res.status(502).type('html').send('<html>bad gateway</html>');
  if (fault === 'no_answer_after') return req.socket.destroy();
  if (fault === 'pending_after') return res.json({ success: false, errorReason: 'settlement_pending', transaction: answer.transaction, network: answer.network, payer: answer.payer });
  return res.json(answer);
});

// What the tests ask for.
const control = express().use(express.json({ limit: '1mb' }));
const command = (name, work) => control.post(`/${name}`, async (req, res) => {
  try {
    res.json((await work(req.body)) ?? {});
  } catch (error) {
    res.status(500).json({ error: error.shortMessage ?? error.message ?? String(error) });
  }
});
command('mint', async ({ to, value }) => void await done(deployer, await deployer.writeContract({ ...token, functionName: 'mint', args: [to, BigInt(value)] })));
command('fault', ({ mode, count }) => { faults = mode ? Array(count ?? 1).fill(mode) : []; });
const stranger = wallet(5);
const calldata = ({ payload: { authorization: a, signature } }) => viem.encodeFunctionData({
  abi: contracts.TestDollar.abi.filter((f) => f.name === 'transferWithAuthorization' && f.inputs.length === 7), functionName: 'transferWithAuthorization',
  args: [a.from, a.to, BigInt(a.value), BigInt(a.validAfter), BigInt(a.validBefore), a.nonce, signature],
});
command('submit', async ({ payments }) => {
  const calls = payments.map((p) => ({ target: config.asset, callData: calldata(p) }));
  const receipt = await done(stranger, await stranger.writeContract({
    address: '0xcA11bde05977b3631167028862bE2a173976CA11', abi: contracts.TestMulticall.abi, functionName: 'tryAggregate', args: [true, calls],
  }));
  return { transaction: receipt.transactionHash };
});
command('cancel', async ({ privateKey, nonce }) => {
  const payer = accounts.privateKeyToAccount(privateKey);
  const signature = viem.parseSignature(await payer.signTypedData({
    domain: { name: config.name, version: config.version, chainId: config.chainId, verifyingContract: config.asset },
    types: { CancelAuthorization: [{ name: 'authorizer', type: 'address' }, { name: 'nonce', type: 'bytes32' }] },
    primaryType: 'CancelAuthorization', message: { authorizer: payer.address, nonce },
  }));
  await done(stranger, await stranger.writeContract({
    ...token, functionName: 'cancelAuthorization', args: [payer.address, nonce, Number(signature.v ?? 27n + BigInt(signature.yParity)), signature.r, signature.s],
  }));
});
command('wallet', async ({ owner }) => {
  const receipt = await done(deployer, await deployer.deployContract({ abi: contracts.TestWallet.abi, bytecode: contracts.TestWallet.bytecode, args: [owner] }));
  return { address: receipt.contractAddress };
});
command('balance', async ({ address }) => ({ balance: String(await admin.readContract({ ...token, functionName: 'balanceOf', args: [address] })) }));

const listen = async (application) => {
  const server = application.listen(0, '127.0.0.1');
  server.keepAliveTimeout = 600_000; // a connection that ends as a test writes to it is none of its business
  await once(server, 'listening');
  return `http://127.0.0.1:${server.address().port}`;
};
command('shop', async ({ facilitator: url, network, asset, name, version, payTo, amount }) => {
  const shop = express().use(express.json());
  const server = new x402ResourceServer(new HTTPFacilitatorClient({ url })).register(network, new shopScheme.ExactEvmScheme());
  const price = { asset, amount, extra: { name, version } };
  shop.use(paymentMiddleware({ 'POST /work': { accepts: { scheme: 'exact', network, payTo, price }, description: 'Work', mimeType: 'application/json' } }, server));
  shop.post('/work', (_req, res) => res.json({ done: true }));
  return { url: await listen(shop) };
});
command('fetch', async ({ url, method, body, privateKey, network: on, spendControls }) => {
  const client = new x402Client().register(on ?? network, new payerScheme.ExactEvmScheme(accounts.privateKeyToAccount(privateKey)));
  if (spendControls !== undefined) client.setSpendControls(spendControls);
  const sent = [];
  const pay = wrapFetchWithPayment(async (input, init) => {
    const request = new Request(input, init);
    sent.push(request.headers.get('payment-signature') ?? '');
    return fetch(request);
  }, client);
  const res = await pay(url, { method: method ?? 'POST', headers: { 'content-type': 'application/json' }, body: body === undefined ? undefined : JSON.stringify(body) });
  return { status: res.status, headers: Object.fromEntries(res.headers), body: await res.text(), sent };
});

// Over MCP there are four ways to hand a payment in. agents is the client of
// Cloudflare; the others pay as the specification and models do.
async function mcpClient(sdk, url) {
  const info = { name: 'payer', version: '1.0.0' };
  if (sdk === 2) {
    const { Client, StreamableHTTPClientTransport } = await load('@modelcontextprotocol/client');
    const client = new Client(info, { versionNegotiation: { mode: 'legacy' } });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    return client;
  }
  const { Client } = await load('@modelcontextprotocol/sdk/client/index.js');
  const { StreamableHTTPClientTransport } = await load('@modelcontextprotocol/sdk/client/streamableHttp.js');
  const client = new Client(info);
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return client;
}
command('mcp', async ({ url, tool, arguments: args, privateKey, way, sdk }) => {
  const payer = accounts.privateKeyToAccount(privateKey);
  const client = await mcpClient(sdk ?? 1, url);
  try {
    if (way === 'agents') {
      const { withX402Client } = await load('agents/x402');
      const paying = withX402Client(client, { account: payer, network });
      return await paying.callTool(null, { name: tool, arguments: args });
    }
    const quote = await client.callTool({ name: tool, arguments: args });
    if (way === 'quote') return quote;
    const payload = await new x402Client().register(network, new payerScheme.ExactEvmScheme(payer)).createPaymentPayload(quote.structuredContent);
    const header = Buffer.from(JSON.stringify(payload)).toString('base64');
    const paid = { name: tool, arguments: args };
    if (way === 'argument') paid.arguments = { ...args, payment_signature: header };
    else if (way === 'text') paid.arguments = { ...args, payment_signature: JSON.stringify(payload) };
    else paid._meta = { 'x402/payment': way === 'meta' ? payload : header };
    return { ...await client.callTool(paid, undefined, { timeout: 100_000 }), payment: header };
  } finally {
    await client.close();
  }
});

const where = { rpc, network, facilitator: await listen(app), control: await listen(control), settler: settler.account.address };
process.stdin.resume();
process.stdin.on('end', () => {
  anvil.kill('SIGKILL');
  process.exit(0);
});
console.log(JSON.stringify(where));
