"""A chat with a model of OpenAI that can use every app of your account, with the official SDK and its Responses API.

    ACE_API_KEY=… OPENAI_API_KEY=… python agent_openai.py
"""

import os
import sys

from ace import ACE
from openai import OpenAI

ace = ACE()
openai = OpenAI()
tools = ace.tools.definitions(format="openai_responses")
instructions = "You work in the apps of your user. If an app is not connected, show the user the link to connect it."
conversation = []

for line in sys.stdin:
    conversation.append({"role": "user", "content": line.strip()})
    while True:
        response = openai.responses.create(
            model=os.environ.get("MODEL", "gpt-5"), instructions=instructions, input=conversation, tools=tools
        )
        results = ace.tools.run_all(response)
        conversation += [*response.output, *results]
        if not results:
            break
    print(response.output_text, flush=True)
