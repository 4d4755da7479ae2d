// An agent that signs in at the platform with the official TypeScript clients of MCP,
// by OAuth 2.1 and without a key. It prints {"open": URL} where the user has to agree,
// takes the code at a loopback address, calls a tool, has its tokens replaced, gives
// them back, and prints one JSON object at the end.
//
//   node mcp-sign-in.mjs 1|2 ADDRESS
import http from 'node:http'
import { once } from 'node:events'

const [kind, address] = process.argv.slice(2)
const sdk = kind === '1'
  ? {
      ...await import('@modelcontextprotocol/sdk/client/index.js'),
      ...await import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
      ...await import('@modelcontextprotocol/sdk/client/auth.js'),
    }
  : await import('@modelcontextprotocol/client')
const { Client, StreamableHTTPClientTransport, UnauthorizedError, auth } = sdk

const loopback = http.createServer()
loopback.listen(0, '127.0.0.1')
await once(loopback, 'listening')
const redirectUrl = `http://127.0.0.1:${loopback.address().port}/callback`
const returned = new Promise((resolve) => {
  loopback.on('request', (req, res) => {
    const url = new URL(req.url, redirectUrl)
    res.setHeader('Content-Type', 'text/html')
    res.end('<title>Signed in</title><p>The agent is signed in.')
    if (url.pathname === '/callback') resolve(url.searchParams)
  })
})

const saved = {}
const provider = {
  redirectUrl,
  clientMetadata: {
    client_name: 'Peer Agent', redirect_uris: [redirectUrl], token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'],
  },
  state: () => 'a state',
  clientInformation: () => saved.client,
  saveClientInformation: (client) => { saved.client = client },
  tokens: () => saved.tokens,
  saveTokens: (tokens) => { saved.tokens = tokens },
  saveCodeVerifier: (verifier) => { saved.verifier = verifier },
  codeVerifier: () => saved.verifier,
  redirectToAuthorization: (url) => console.log(JSON.stringify({ open: url.href })),
}

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

const first = transport()
try {
  await client().connect(first)
  throw new Error('the server let a client in without a token')
} catch (error) {
  if (!(error instanceof UnauthorizedError)) throw error
}
const got = await returned
const out = { state: got.get('state'), iss: got.get('iss') }
await (kind === '1' ? first.finishAuth(got.get('code')) : first.finishAuth(got))

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
