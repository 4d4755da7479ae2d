// Runs the authorization server of the package oidc-provider, and beside it what
// it protects: an API and an MCP server that knows nothing but its 401.
//
//   node oidc-provider.mjs  < {"access": seconds, "refresh": seconds, "document": …}
//
// It prints its address as one JSON line and ends with its standard input.
//
//   /api/me   whose access token it is, and for which resource
//   /mcp      401 with the address of its metadata, or 200; with "tools": true a
//             whole MCP server, of the official TypeScript SDK
//
// ACE_NODE_MODULES is the folder that the package is installed in.
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const { default: Provider } = await import(pathToFileURL(join(process.env.ACE_NODE_MODULES, 'oidc-provider', 'lib', 'index.js')));

const wish = await new Promise((done) => createInterface({ input: process.stdin }).once('line', (line) => done(JSON.parse(line))));
process.stdin.on('end', () => process.exit(0)).resume();

const server = createServer();
await new Promise((done) => server.listen(0, '127.0.0.1', done));
const origin = `http://127.0.0.1:${server.address().port}`;
const callback = 'https://platform.example/oauth/callback/app';

const client = (id, more) => ({
  client_id: id, client_secret: `secret of ${id}: +/&%`, redirect_uris: [callback], grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'], ...more,
});

const provider = new Provider(origin, {
  clients: [
    client('basic', { token_endpoint_auth_method: 'client_secret_basic' }),
    client('post', { token_endpoint_auth_method: 'client_secret_post' }),
    client('public', { token_endpoint_auth_method: 'none', client_secret: undefined }),
    client('signed', { token_endpoint_auth_method: 'private_key_jwt', client_secret: undefined, jwks: wish.jwks }),
    client('machine', { redirect_uris: [], response_types: [], grant_types: ['client_credentials'], token_endpoint_auth_method: 'client_secret_basic' }),
  ],
  claims: { openid: ['sub'], profile: ['name'], email: ['email'] },
  conformIdTokenClaims: false,
  findAccount: (ctx, id) => ({ accountId: id, claims: () => ({ sub: id, name: id.toUpperCase(), email: `${id}@people.example` }) }),
  scopes: ['openid', 'offline_access', 'profile', 'email', 'files:read'],
  features: {
    introspection: { enabled: true }, revocation: { enabled: true }, registration: { enabled: true }, clientCredentials: { enabled: true },
    clientIdMetadataDocument: { enabled: true, ack: wish.ack },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (ctx, resource) => ({ scope: 'files:read files:write', audience: resource, accessTokenTTL: wish.access, accessTokenFormat: 'opaque' }),
      defaultResource: () => undefined,
      useGrantedResource: () => false,
    },
  },
  // The document of a client stands at an address that nobody serves here.
  fetch: async (address, options) => (wish.document && String(address) === wish.document.client_id
    ? new Response(JSON.stringify(wish.document), { headers: { 'content-type': 'application/json' } })
    : fetch(address, options)),
  pkce: { required: () => true },
  rotateRefreshToken: true,
  issueRefreshToken: async (ctx, known, code) => known.grantTypeAllowed('refresh_token') && code.scopes.has('offline_access'),
  ttl: { AccessToken: wish.access, RefreshToken: wish.refresh, AuthorizationCode: 60, Session: 600, Interaction: 600, Grant: 600, IdToken: 60, ClientCredentials: wish.access },
  cookies: { keys: ['a key of a test'] },
});

const answer = (response, status, body, header = {}) => response.writeHead(status, { 'content-type': 'application/json', ...header }).end(JSON.stringify(body));

// bearer is the access token of a request, if it is good for a resource.
async function bearer(request, resource) {
  const [, presented] = /^Bearer (.+)$/.exec(request.headers.authorization ?? '') ?? [];
  const token = presented && ((await provider.AccessToken.find(presented)) ?? (await provider.ClientCredentials.find(presented)));
  return token && !token.isExpired && token.aud === resource ? token : undefined;
}

// serve answers one message of MCP, on behalf of who the token is of.
async function serve(request, response, token) {
  const part = (name) => import(pathToFileURL(join(process.env.ACE_NODE_MODULES, '@modelcontextprotocol', 'sdk', 'dist', 'esm', name)));
  const [{ Server }, { StreamableHTTPServerTransport }, { CallToolRequestSchema, ListToolsRequestSchema }] = await Promise.all(['server/index.js', 'server/streamableHttp.js', 'types.js'].map(part));
  const mcp = new Server({ name: 'shelf', version: '1.0.0' }, { capabilities: { tools: {} } });
  mcp.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [
    { name: 'lend_book', description: 'Lends a book of the library to whoever asks.', inputSchema: { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] } },
    { name: 'list_loans', description: 'Lists which books are lent.', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } },
  ] }));
  mcp.setRequestHandler(CallToolRequestSchema, ({ params }) => ({ content: [{ type: 'text', text: `${token.accountId}: ${params.name} ${params.arguments?.title ?? ''}`.trim() }] }));
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
  response.on('close', () => { transport.close(); mcp.close(); });
  await mcp.connect(transport);
  await transport.handleRequest(request, response);
}

const application = provider.callback();
server.on('request', async (request, response) => {
  switch (request.url) {
    case '/api/me': {
      const token = await bearer(request, undefined);
      return token ? answer(response, 200, { id: token.accountId ?? token.clientId }) : answer(response, 401, {});
    }
    case '/mcp': {
      const token = await bearer(request, `${origin}/mcp`);
      if (token && wish.tools) return serve(request, response, token);
      return token ? answer(response, 200, { id: token.accountId }) : answer(response, 401, {}, {
        'www-authenticate': `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp", scope="files:read"`,
      });
    }
    case '/.well-known/oauth-protected-resource/mcp':
      return answer(response, 200, { resource: `${origin}/mcp`, authorization_servers: [origin], scopes_supported: ['files:read'] });
    default:
      return application(request, response);
  }
});
console.log(JSON.stringify({ origin }));
