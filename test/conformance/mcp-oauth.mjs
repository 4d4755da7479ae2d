// What an agent keeps that signs in by OAuth 2.1 with the official TypeScript clients of
// MCP. It prints {"sign_in": URL} where the user has to agree, and receives the code at a
// loopback address.
import http from 'node:http'
import { once } from 'node:events'

// load returns the first or the second line of the client.
export async function load(first) {
  if (!first) return import('@modelcontextprotocol/client')
  return {
    first,
    ...await import('@modelcontextprotocol/sdk/client/index.js'),
    ...await import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
    ...await import('@modelcontextprotocol/sdk/client/auth.js'),
  }
}

// signIn returns the provider of a client, what it has saved, and a promise of the
// parameters that the authorization server sends back.
export async function signIn() {
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
    redirectToAuthorization: (url) => console.log(JSON.stringify({ sign_in: url.href })),
  }
  return { provider, saved, returned }
}

// letIn connects a client that has no token, which the server must refuse, and gets the
// token. Returns what came back from the authorization server.
export async function letIn(sdk, client, transport, returned) {
  try {
    await client.connect(transport)
  } catch (error) {
    if (!(error instanceof sdk.UnauthorizedError)) throw error
    const got = await returned
    // The first line of the client takes the code, the second all parameters.
    await transport.finishAuth(sdk.first ? got.get('code') : got)
    return got
  }
  throw new Error('the server let a client in without a token')
}
