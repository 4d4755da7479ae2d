import json

from ace import ACE

with ACE() as ace:
    link = ace.apps.connect("demo-notes", auth="key", verify="link", label="Python")
    print(json.dumps({"url": link.url}), flush=True)
    connection = link.wait()

    found = ace.tools.find("write a note", apps=["demo-notes"])
    run = ace.tools.run(found["tools"][0]["tool"], {"title": "Milk"}, connection_id=connection.id)
    refused = ace.tools.run(
        "demo_notes__update_note", {"note_id": "note_none", "title": "x"}, connection_id=connection.id
    )

    definitions = ace.tools.definitions(format="openai")
    arguments = {"tool": "demo_notes__create_note", "arguments": {"title": "Eggs"}, "connection_id": connection.id}
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "run_tool", "arguments": json.dumps(arguments)}},
            {
                "id": "call_2",
                "type": "function",
                "function": {"name": "demo_notes__create_note", "arguments": '{"titel": "Eggs"}'},
            },
        ],
    }
    replies = ace.tools.run_all(message, connection_id=connection.id)
    print(
        json.dumps(
            {
                "found": found["tools"][0]["tool"],
                "title": run.output["title"],
                "refusal": refused.error.code,
                "definitions": len(definitions),
                "replies": len(replies),
                "modelTitle": json.loads(replies[0]["content"])["output"]["title"],
                "hint": json.loads(replies[1]["content"])["error"]["code"],
            }
        )
    )
