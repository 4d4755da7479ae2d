// An OpenID provider that nobody here wrote: npm oidc-provider with its own
// sign-in pages. Whoever types a name is that person. It prints its address.
//
//   node openid-provider.mjs MODULES REDIRECT_URI
import { createServer } from "node:http";
import { pathToFileURL } from "node:url";

const [modules, redirect] = process.argv.slice(2);
const { default: Provider } = await import(pathToFileURL(modules + "/oidc-provider/lib/index.js"));

const server = createServer();
server.listen(0, "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients: [{ client_id: "ace", client_secret: "a-secret-of-the-client", redirect_uris: [redirect], response_types: ["code"], grant_types: ["authorization_code"] }],
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
    cookies: { keys: ["one", "two"] },
    pkce: { required: () => true },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, name: id, email: `${id}@acme.example`, email_verified: !id.startsWith("unverified") }) }),
  });
  server.on("request", provider.callback());
  console.log(issuer);
});
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
