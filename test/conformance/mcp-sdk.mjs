// Drives a store through the official TypeScript SDK of MCP: connects, lists,
// calls, and goes on until the store refuses for the rate limit, then waits as
// the refusal says and calls again. It prints one JSON object.
//
//   node mcp-sdk.mjs 1|2-legacy|2-auto ADDRESS
const [kind, address] = process.argv.slice(2)

async function connected() {
  const info = { name: 'peer', version: '1.0.0' }
  if (kind === '1') {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js')
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js')
    const client = new Client(info)
    await client.connect(new StreamableHTTPClientTransport(new URL(address)))
    return client
  }
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
  const client = new Client(info, { versionNegotiation: { mode: kind.slice(2) } })
  await client.connect(new StreamableHTTPClientTransport(new URL(address)))
  return client
}

const client = await connected()
const out = { server: client.getServerVersion(), instructions: client.getInstructions(), capabilities: client.getServerCapabilities(), calls: {} }
out.tools = (await client.listTools()).tools.map((tool) => tool.name)

const call = (name, args) => client.callTool({ name, arguments: args })
out.calls.site_info = (await call('site_info', {})).structuredContent
out.calls.read_page = (await call('read_page', { path: '/refunds' })).structuredContent
out.calls.none = (await call('read_page', { path: '/refund-policy' })).content[0].text
out.calls.list_products = (await call('list_products', { query: 'handbook download' })).structuredContent

// The burst is spent now, or as good as.
for (let i = 0; i < 40 && !out.refusal; i++) {
  try {
    await call('list_services', {})
  } catch (error) {
    out.refusal = String(error.message)
  }
}
await new Promise((done) => setTimeout(done, 1500))
const opened = await call('create_checkout', { offer_id: out.calls.list_products.offers[0].id })
out.calls.create_checkout = opened.structuredContent
await new Promise((done) => setTimeout(done, 1500))
out.calls.get_checkout = (await call('get_checkout', { id: opened.structuredContent.id })).structuredContent
await new Promise((done) => setTimeout(done, 1500))
const asked = await call('run_llms_txt_draft', { url: 'https://a.example' })
out.calls.run = { isError: asked.isError, content: asked.content }
await client.close()
console.log(JSON.stringify(out))
