// An agent that signs in at the platform with the official TypeScript clients of MCP,
// by OAuth 2.1 and without a key (mcp-oauth.mjs). It calls a tool, has its tokens replaced,
// gives them back, and prints one JSON object at the end.
//
//   node mcp-sign-in.mjs 1|2 ADDRESS
import { letIn, load, signIn } from './mcp-oauth.mjs'

const [kind, address] = process.argv.slice(2)
const sdk = await load(kind === '1')
const { Client, StreamableHTTPClientTransport, auth } = sdk
const { provider, saved, returned } = await signIn()

const transport = () => new StreamableHTTPClientTransport(new URL(address), { authProvider: provider })
const client = () => new Client({ name: 'peer', version: '1.0.0' })
const status = async (token) => (await fetch(address, {
  method: 'POST',
  headers: {
    Authorization: `Bearer ${token}`, 'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
  },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
})).status

const got = await letIn(sdk, client(), transport(), returned)
const out = { state: got.get('state'), iss: got.get('iss') }

const signedIn = client()
await signedIn.connect(transport())
out.tools = (await signedIn.listTools()).tools.map((tool) => tool.name)
out.app = (await signedIn.callTool({ name: 'search_apps', arguments: { query: 'demo notes' } }))
  .structuredContent.apps[0].app
await signedIn.close()

const before = saved.tokens
out.scope = before.scope
out.expires = before.expires_in
out.refreshed = await auth(provider, { serverUrl: address })
out.replaced = saved.tokens.access_token !== before.access_token &&
  saved.tokens.refresh_token !== before.refresh_token
out.old = await status(before.access_token)
out.current = await status(saved.tokens.access_token)
const rest = await fetch(new URL('/api/v1/apps', address),
  { headers: { Authorization: `Bearer ${saved.tokens.access_token}` } })
out.rest = (await rest.json()).code
const revoked = await fetch(new URL('/oauth/revoke', address), {
  method: 'POST',
  body: new URLSearchParams({ client_id: saved.client.client_id, token: saved.tokens.refresh_token }),
})
out.revoked = revoked.status
out.after = await status(saved.tokens.access_token)
console.log(JSON.stringify(out))
process.exit(0)
