"""The agent of mcp-agent.mjs with the official Python client of MCP, or with fastmcp.

    python mcp-agent.py mcp-auto|mcp-legacy|fastmcp ADDRESS KEY
"""

import asyncio
import json
import sys

kind, address, key = sys.argv[1:]
headers = {"Authorization": f"Bearer {key}"}
out = {"asked": 0}


async def open_url(url):
    out["asked"] += 1
    print(json.dumps({"open": url}), flush=True)
    await asyncio.to_thread(sys.stdin.readline)


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


async def official():
    from mcp import Client
    from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client
    from mcp.types import ElicitResult

    async def asked(context, params):
        await open_url(params.url)
        return ElicitResult(action="accept")

    async with create_mcp_http_client(headers=headers) as http:
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
    from fastmcp.client.transports import StreamableHttpTransport

    async with Client(StreamableHttpTransport(address, headers=headers)) as client:

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
