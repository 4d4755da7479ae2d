"""Runs a set-up snippet that asks a model, without a model.

    python agents_snippet.py FILE

The OpenAI SDKs are real; a run of an agent lists the tools of its MCP servers.
"""

import sys

import agents


class Outcome:
    def __init__(self, text):
        self.final_output = text


async def run(agent, question):
    return Outcome([tool.name for server in agent.mcp_servers for tool in await server.list_tools()])


agents.Runner.run = run
exec(compile(open(sys.argv[1], encoding="utf-8").read(), sys.argv[1], "exec"))
