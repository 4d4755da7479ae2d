// An agent with the official TypeScript clients of MCP: it searches, connects the
// demo app, finds, reads and runs a tool. Where a user is needed it prints
// {"open": URL} and goes on when a line comes back. It prints one JSON object at
// the end. In place of a key, oauth has it sign in (mcp-oauth.mjs).
//
//   node mcp-agent.mjs 1|2-legacy|2-auto ADDRESS KEY|oauth
import readline from 'node:readline'
import { letIn, load, signIn } from './mcp-oauth.mjs'

const [kind, address, key] = process.argv.slice(2)
const lines = readline.createInterface({ input: process.stdin })[Symbol.asyncIterator]()
const out = { asked: 0 }

async function open(url) {
  out.asked++
  console.log(JSON.stringify({ open: url }))
  await lines.next()
}

const sdk = await load(kind === '1')

function newClient() {
  const info = { name: 'peer', version: '1.0.0' }
  if (kind === '1') return new sdk.Client(info)
  const capabilities = kind === '2-auto' ? { elicitation: { url: {} } } : {}
  const client = new sdk.Client(info, { capabilities, versionNegotiation: { mode: kind.slice(2) } })
  if (kind === '2-auto') {
    client.setRequestHandler('elicitation/create', async (request) => {
      await open(request.params.url)
      return { action: 'accept' }
    })
  }
  return client
}

async function connected() {
  let options = { requestInit: { headers: { Authorization: `Bearer ${key}` } } }
  const transport = () => new sdk.StreamableHTTPClientTransport(new URL(address), options)
  if (key === 'oauth') {
    const { provider, returned } = await signIn()
    options = { authProvider: provider }
    await letIn(sdk, newClient(), transport(), returned)
  }
  const client = newClient()
  await client.connect(transport())
  return client
}

const client = await connected()
const call = async (name, args) => {
  const got = await client.callTool({ name, arguments: args })
  if (got.isError) throw new Error(`${name}: ${got.content[0].text}`)
  return got.structuredContent
}

out.version = client.getNegotiatedProtocolVersion?.() ?? client.transport?.protocolVersion ?? ''
out.tools = (await client.listTools()).tools.map((tool) => tool.name)
out.app = (await call('search_apps', { query: 'demo notes' })).apps[0].app
const link = await call('connect_app', { app: out.app })
if (link.status !== 'connected') {
  await open(link.url)
  out.session = await call('connect_app', { app: out.app, session_id: link.session_id, wait_seconds: 25 })
} else {
  out.session = link
}
out.found = (await call('find_tools', { task: 'write a note' })).tools[0].tool
out.required = (await call('get_tool', { tool: out.found })).input_schema.required
out.run = await call('run_tool', { tool: out.found, arguments: { title: 'Tea' } })
out.connections = (await call('list_connections', {})).connections
const wrong = await client.callTool({ name: 'run_tool', arguments: { tool: out.found, arguments: {} } })
out.wrong = { isError: wrong.isError, ...JSON.parse(wrong.content[0].text).error }
await client.close()
console.log(JSON.stringify(out))
process.exit(0)
