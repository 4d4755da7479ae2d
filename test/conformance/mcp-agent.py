"""The agent of mcp-agent.mjs with the official Python client of MCP, or with fastmcp.

    python mcp-agent.py mcp-auto|mcp-legacy|fastmcp ADDRESS KEY|oauth
"""

import asyncio
import json
import sys
from urllib.parse import parse_qs, urlsplit

kind, address, key = sys.argv[1:]
headers = {} if key == "oauth" else {"Authorization": f"Bearer {key}"}
out = {"asked": 0}


async def open_url(url):
    out["asked"] += 1
    print(json.dumps({"open": url}), flush=True)
    await asyncio.to_thread(sys.stdin.readline)


async def sign_in(url):
    print(json.dumps({"sign_in": url}), flush=True)


async def work(client, call):
    out["app"] = (await call("search_apps", {"query": "demo notes"}))["apps"][0]["app"]
    link = await call("connect_app", {"app": out["app"]})
    if link["status"] != "connected":
        await open_url(link["url"])
        wait = {"app": out["app"], "session_id": link["session_id"], "wait_seconds": 25}
        link = await call("connect_app", wait)
    out["session"] = link
    found = await call("find_tools", {"task": "write a note"})
    out["found"] = found["tools"][0]["tool"]
    out["required"] = (await call("get_tool", {"tool": out["found"]}))["input_schema"]["required"]
    out["run"] = await call("run_tool", {"tool": out["found"], "arguments": {"title": "Tea"}})
    out["connections"] = (await call("list_connections", {}))["connections"]


class Saved:
    """What a client has to keep between two starts."""

    tokens = client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client_info):
        self.client = client_info


async def provider():
    """Sign-in of the official client, which leaves the loopback address to the program."""
    from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
    from mcp.shared.auth import OAuthClientMetadata

    returned = asyncio.get_running_loop().create_future()

    async def loopback(reader, writer):
        query = parse_qs(urlsplit((await reader.readline()).split()[1].decode()).query)
        page = b"<title>Signed in</title>"
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n")
        writer.write(b"Content-Length: %d\r\n\r\n%s" % (len(page), page))
        await writer.drain()
        writer.close()
        if "code" in query and not returned.done():
            fields = {name: query[name][0] for name in ("code", "state", "iss")}
            returned.set_result(AuthorizationCodeResult(**fields))

    server = await asyncio.start_server(loopback, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    metadata = OAuthClientMetadata(
        client_name="Peer Agent",
        redirect_uris=[f"http://127.0.0.1:{port}/callback"],
        token_endpoint_auth_method="none",
    )
    return OAuthClientProvider(
        address, metadata, Saved(), redirect_handler=sign_in, callback_handler=lambda: returned
    )


async def official():
    from mcp import Client
    from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client
    from mcp.types import ElicitResult

    async def asked(context, params):
        await open_url(params.url)
        return ElicitResult(action="accept")

    auth = await provider() if key == "oauth" else None
    async with create_mcp_http_client(headers=headers, auth=auth) as http:
        client = Client(
            streamable_http_client(address, http_client=http),
            mode=kind.removeprefix("mcp-"),
            elicitation_callback=asked if kind == "mcp-auto" else None,
        )
        async with client:

            async def call(name, arguments):
                got = await client.call_tool(name, arguments)
                assert not got.is_error, got
                return got.structured_content

            out["version"] = client.protocol_version
            out["tools"] = [tool.name for tool in (await client.list_tools()).tools]
            await work(client, call)
            wrong = await client.call_tool("run_tool", {"tool": out["found"], "arguments": {}})
            out["wrong"] = {"isError": wrong.is_error, **json.loads(wrong.content[0].text)["error"]}


async def fast():
    from fastmcp import Client
    from fastmcp.client.auth import OAuth
    from fastmcp.client.transports import StreamableHttpTransport

    class Printed(OAuth):
        async def redirect_handler(self, authorization_url):
            await sign_in(authorization_url)  # in place of the user's own browser

    auth = Printed(client_name="Peer Agent") if key == "oauth" else None
    async with Client(StreamableHttpTransport(address, headers=headers, auth=auth)) as client:

        async def call(name, arguments):
            return (await client.call_tool(name, arguments)).structured_content

        out["tools"] = [tool.name for tool in await client.list_tools()]
        await work(client, call)
        wrong = await client.call_tool(
            "run_tool", {"tool": out["found"], "arguments": {}}, raise_on_error=False
        )
        out["wrong"] = {"isError": wrong.is_error, **json.loads(wrong.content[0].text)["error"]}


asyncio.run(fast() if kind == "fastmcp" else official())
print(json.dumps(out))
