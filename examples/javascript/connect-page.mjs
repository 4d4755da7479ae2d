// A product of your own whose users connect their apps. A user never sees an API key: your server holds one key, and
// names its user in each call (endUser). A link that reaches somebody else connects nothing, because the platform asks
// this server who opened it (verify: "callback"). Its address has to be on the account's list, which the account page
// shows, too:
//
//   ace account redirects ACCOUNT --add http://127.0.0.1:3000/
//   ACE_API_KEY=… PORT=3000 node connect-page.mjs
import express from "express";
import { ACE } from "ace";

const APP = "demo-notes";
const port = Number(process.env.PORT ?? 3000);
const origin = process.env.ORIGIN ?? `http://127.0.0.1:${port}`;
const ace = new ACE();
const app = express();
app.use(express.urlencoded({ extended: false }));

// Stands for the sign-in that your product has: the user's name is in a cookie.
app.get("/sign-in/:user", (request, response) => {
  response.cookie("user", request.params.user, { httpOnly: true, sameSite: "lax" }).redirect(303, "/");
});
app.use((request, response, next) => {
  const user = /(?:^|; )user=(\w+)/.exec(request.headers.cookie ?? "")?.[1];
  if (!user) return response.status(401).send(page("Sign in", '<a class="button" href="/sign-in/ann">As Ann</a>'));
  request.user = user;
  next();
});

app.get("/", async (request, response) => {
  const { connections } = await ace.connections.list({ app: APP, endUser: request.user });
  const [connection] = connections;
  const content = connection
    ? `<p>Demo Notes is connected as ${escape(connection.account.label ?? connection.account.id)}.</p>
       <form method="post" action="/notes"><label>Title <input name="title" required></label>
       <button class="button">Write a note</button></form>`
    : `<p>Connect Demo Notes, so that we can write notes for you.</p>
       <form method="post" action="/connect"><button class="button">Connect Demo Notes</button></form>`;
  response.send(page(`Hello ${escape(request.user)}`, content));
});

app.post("/connect", async (request, response) => {
  const link = await ace.apps.connect(APP, {
    endUser: request.user,
    verify: "callback",
    verifyUrl: `${origin}/connect/verify`,
    redirectUrl: `${origin}/`,
  });
  response.redirect(303, link.url);
});

// The platform sends the browser here to learn who is there. Who is signed in has to be whom the link was created for.
app.get("/connect/verify", async (request, response) => {
  const { session_id: sessionId, flow_id: flowId } = request.query;
  const { url } = await ace.apps.confirm(sessionId, flowId, request.user);
  response.redirect(303, url);
});

app.post("/notes", async (request, response) => {
  const run = await ace.tools.run("demo_notes__create_note", { title: request.body.title }, { endUser: request.user });
  const said = run.ok ? `Written: ${escape(run.output.title)}` : escape(run.error.detail);
  response.send(page(said, '<a class="button" href="/">Back</a>'));
});

app.use((error, request, response, next) => {
  console.error(error.code ?? error);
  response.status(error.status || 502).send(page("That did not work", `<p>${escape(error.detail ?? "Try again.")}</p>`));
});

app.listen(port, "127.0.0.1", () => console.log(`listening at ${origin}`));

function escape(text) {
  return String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}

function page(title, content) {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title>
<style>
  :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
  main { max-width: 32rem; margin: 12vh auto; padding: 0 1.25rem; }
  form { display: grid; gap: 1rem; justify-items: start; }
  input { font: inherit; display: block; padding: .5rem; width: min(24rem, 80vw); }
  .button { font: inherit; padding: .6rem 1.1rem; border: 0; border-radius: .5rem; background: #2557d6; color: #fff;
    text-decoration: none; cursor: pointer; }
</style>
<main><h1>${title}</h1>${content}</main></html>`;
}
