"""A chat with a model that can use every app of your account.

It needs no model SDK: any server that speaks OpenAI's chat completions will do (OPENAI_BASE_URL).

    ACE_API_KEY=… OPENAI_API_KEY=… python agent.py
"""

import json
import os
import sys
import urllib.request

from ace import ACE

ace = ACE()
tools = ace.tools.definitions(format="openai")
messages = [
    {
        "role": "system",
        "content": "You work in the apps of your user. If an app is not connected, show the user the link to connect it.",
    }
]


def complete():
    request = urllib.request.Request(
        os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1") + "/chat/completions",
        data=json.dumps({"model": os.environ.get("MODEL", "gpt-5"), "messages": messages, "tools": tools}).encode(),
        headers={"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=120) as response:
        return json.load(response)["choices"][0]["message"]


for line in sys.stdin:
    messages.append({"role": "user", "content": line.strip()})
    message = complete()
    while message.get("tool_calls"):
        messages.append(message)
        messages.extend(ace.tools.run_all(message))
        message = complete()
    messages.append(message)
    print(message["content"], flush=True)
