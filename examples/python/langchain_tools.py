"""The tools of connected apps as tools of LangChain, and an agent that has them.

    ACE_API_KEY=… OPENAI_API_KEY=… python langchain_tools.py
"""

import json
import os
import sys

from ace import ACE
from langchain.agents import create_agent
from langchain_core.tools import StructuredTool
from langchain_openai import ChatOpenAI


def ace_tools(ace, **chosen):
    """Returns tools of LangChain: those of ``apps``, the named ``tools``, or without either the six that find others."""

    def wrapped(definition):
        function = definition["function"]

        def run(**arguments):
            # As a model's call: what the model got wrong comes back as text that says how to correct it.
            return json.dumps(ace.tools.run({"name": function["name"], "args": arguments}))

        return StructuredTool.from_function(
            run, name=function["name"], description=function["description"], args_schema=function["parameters"]
        )

    return [wrapped(one) for one in ace.tools.definitions(format="openai", **chosen)]


if __name__ == "__main__":
    agent = create_agent(
        ChatOpenAI(model=os.environ.get("MODEL", "gpt-5")),
        ace_tools(ACE(), apps=["demo-notes"]),
        system_prompt="If an app is not connected, show the user the link to connect it.",
    )
    messages = []
    for line in sys.stdin:
        messages.append({"role": "user", "content": line.strip()})
        messages = agent.invoke({"messages": messages})["messages"]
        print(messages[-1].content, flush=True)
