"""A chat with a model of Anthropic that can use every app of your account, with the official SDK.

    ACE_API_KEY=… ANTHROPIC_API_KEY=… python agent_anthropic.py
"""

import os
import sys

from ace import ACE
from anthropic import Anthropic

ace = ACE()
anthropic = Anthropic()
tools = ace.tools.definitions(format="anthropic")
system = "You work in the apps of your user. If an app is not connected, show the user the link to connect it."
messages = []

for line in sys.stdin:
    messages.append({"role": "user", "content": line.strip()})
    while True:
        message = anthropic.messages.create(
            model=os.environ.get("MODEL", "claude-sonnet-5"),
            max_tokens=4096,
            system=system,
            messages=messages,
            tools=tools,
        )
        messages.append({"role": "assistant", "content": message.content})
        if message.stop_reason != "tool_use":
            break
        messages.append({"role": "user", "content": ace.tools.run_all(message)})
    print("".join(part.text for part in message.content if part.type == "text"), flush=True)
