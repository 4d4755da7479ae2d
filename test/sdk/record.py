#!/usr/bin/env python3
"""Records sdk/exchanges again, against a platform that was started with an empty data folder:

    ACE_DATA_DIR=$(mktemp -d) ACE_EGRESS_ALLOW=127.0.0.0/8 bin/ace serve
    ACE_DATA_DIR=… bin/ace account redirects demo --add https://product.example/verify
    ACE_API_KEY=ace_… python3 test/sdk/record.py [PLATFORM_URL [SANDBOX_URL]]

What is written by hand there (retries, answers that are no JSON) is left as it is. Look at the difference before
you commit it: each field that appears or goes is a change of the API.
"""

import http.cookiejar
import http.server
import json
import os
import pathlib
import re
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "sdk" / "python"))

import ace as sdk  # noqa: E402
from ace._http import ConnectionPool  # noqa: E402

BASE = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8081"
SANDBOX = sys.argv[2] if len(sys.argv) > 2 else "http://127.0.0.1:8082"
OUT = ROOT / "sdk" / "exchanges"
KEPT_HEADERS = ("retry-after", "x-request-id")

# What is recorded is as if the platform ran with the default settings.
replaced = [(BASE, "http://127.0.0.1:8081"), (SANDBOX, "http://127.0.0.1:8082")]
sent = []
pool = ConnectionPool()


def recording(method, url, headers, body, timeout):
    response = pool(method, url, headers, body, timeout)
    request = {"method": method, "path": url[len(BASE) :]}
    compared = {k: v for k, v in headers.items() if k == "Prefer"}
    if "Idempotency-Key" in headers:
        compared["Idempotency-Key"] = "*"
    if compared:
        request["headers"] = compared
    if body and headers.get("Content-Type") == "application/json":
        request["body"] = json.loads(body)
    answer = {"status": response.status}
    kept = {k: v for k, v in response.headers.items() if k in KEPT_HEADERS}
    if response.status >= 400 and kept:
        answer["headers"] = kept
    if response.body:
        answer["body"] = json.loads(response.body)
    sent.append({"request": request, "response": answer})
    return response


def save(name, document):
    text = json.dumps(document, indent=1, ensure_ascii=False)
    for address, public in replaced:
        text = text.replace(address, public)
    (OUT / (name + ".json")).write_text(text + "\n", "utf-8")


def record(client, file, part, method, *args, message=False, **options):
    sent.clear()
    document = {"call": [part, method], "args": list(args), "options": options}
    value = None
    try:
        value = getattr(getattr(client, part) if part else client, method)(*args, **options)
        if hasattr(value, "__next__"):
            value = list(value)
        document["exchanges"] = list(sent)
        document["returns"] = json.loads(json.dumps(value))
        if message:
            document["message"] = value.as_message()
    except sdk.ACEError as error:
        document["exchanges"] = list(sent)
        document["raises"] = {
            "class": type(error).__name__,
            "status": error.status,
            "code": error.code,
            "next_action": error.next_action,
        }
    save(file, document)
    return value


def person(link):
    """Creates a key at the demo app and types it into the page behind the link."""
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
    page = browser.open(SANDBOX + "/notes/keys", data=b"person=Ann").read().decode()
    key = re.search(r"nk_[A-Z2-7]+", page).group(0)
    browser.open(link).read()
    form = urllib.parse.urlencode({"scheme": "key", "field.key": key}).encode()
    page = browser.open(urllib.request.Request(link, data=form, headers={"Origin": BASE})).read().decode()
    assert "Demo Notes is connected" in page


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def flow(link):
    """Uses a link whose visitor another page has to identify, and returns the flow_id for that page."""
    browser = urllib.request.build_opener(NoRedirect, urllib.request.HTTPCookieProcessor())
    browser.open(link.url).read()
    try:
        browser.open(urllib.request.Request(link.url, data=b"scheme=oauth", headers={"Origin": BASE}))
    except urllib.error.HTTPError as redirect:
        query = urllib.parse.urlsplit(redirect.headers["Location"]).query
        return urllib.parse.parse_qs(query)["flow_id"][0]


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def record_triggers(client, do):
    """Watches a new note, with a receiver of its own that takes everything."""
    receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    replaced.append(("http://127.0.0.1:%d" % receiver.server_port, "https://hooks.example"))
    do("triggers_definitions", "triggers", "definitions", "demo-notes")
    url = replaced[-1][0] + "/in"
    trigger = do("trigger_create", "triggers", "create", "demo-notes", "new_note", webhook_url=url,
                 filter="data.title != ''", description="Notes")
    do("trigger_get", "triggers", "get", trigger.id)
    do("triggers_list", "triggers", "list", app="demo-notes", status="active", limit=2)
    do("triggers_all", "triggers", "all", app="demo-notes")
    event = do("trigger_test", "triggers", "test", trigger.id)
    while client.triggers.event(trigger.id, event.id).status == "pending":
        time.sleep(0.05)
    do("trigger_events", "triggers", "events", trigger.id)
    do("trigger_event", "triggers", "event", trigger.id, event.id)
    do("trigger_replay", "triggers", "replay", trigger.id, event.id)
    do("trigger_replay_failed", "triggers", "replay_failed", trigger.id)
    do("trigger_update", "triggers", "update", trigger.id, webhook_url=replaced[-1][0] + "/others", description="Other")
    do("trigger_pause", "triggers", "pause", trigger.id)
    do("trigger_resume", "triggers", "resume", trigger.id)
    do("trigger_rotate", "triggers", "rotate_secret", trigger.id, overlap_seconds=60)
    do("trigger_rotate_plain", "triggers", "rotate_secret", trigger.id)
    do("trigger_delete", "triggers", "delete", trigger.id)
    do("trigger_unknown", "triggers", "get", trigger.id)
    do("trigger_not_allowed", "triggers", "create", "demo-notes", "new_note", webhook_url="http://10.0.0.1/hooks")


def main():
    client = sdk.ACE(os.environ["ACE_API_KEY"], base_url=BASE, transport=recording)

    def do(*args, **options):
        return record(client, *args, **options)

    do("me", None, "me")
    do("catalog_list", "catalog", "list", category="email", limit=2)
    do("apps_search", "apps", "search", "demo notes", limit=1)
    do("find", "tools", "find", "write a note", apps=["demo-notes"], limit=1, include=["input_schema"])
    do("find_nothing", "tools", "find", "xyzzy plugh")
    do("tool_get_openai", "tools", "get", "demo_notes__create_note", format="openai")
    for dialect in ("openai", "openai_responses", "anthropic", "gemini", "mcp"):
        names = ["demo_notes__create_note", "demo_notes__delete_note"]
        do("definitions_" + dialect, "tools", "definitions", format=dialect, tools=names)
    do("not_connected", "tools", "run", "demo_notes__create_note", {"title": "Milk"})

    call = {"type": "tool_use", "id": "toolu_3", "name": "connect_app", "input": {"app": "demo-notes"}}
    link = do("model_call_connect", "tools", "run", call, message=True)
    waiting = {"app": "demo-notes", "session_id": link["session_id"], "wait_seconds": 1}
    do("model_call_connect_wait", "tools", "run", dict(call, id="toolu_4", input=waiting), message=True)

    page = "https://product.example/verify"
    link = do("connect_end_user", "apps", "connect", "demo-notes", verify="callback", verify_url=page, end_user="u_42")
    do("connect_confirm", "apps", "confirm", link.session_id, flow(link), "u_42")

    link = do("connect", "apps", "connect", "demo-notes", auth="key", verify="link", label="Kitchen")
    do("connect_pending", "apps", "session", link.session_id)
    person(link.url)
    sent.clear()
    connection = link.wait()
    document = {"call": ["link", "wait"], "args": [], "options": {}, "exchanges": list(sent)}
    save("connect_wait", dict(document, returns=dict(connection), link=dict(link)))
    do("connections_list", "connections", "list", app="demo-notes")
    do("connection_update", "connections", "update", connection.id, label="Pantry")
    do("connection_check", "connections", "check", connection.id)

    create = "demo_notes__create_note"
    do("run", "tools", "run", create, {"title": "Milk"})
    do("run_more", "tools", "run", create, {"title": "Bread"})
    do("run_fields", "tools", "run", "demo_notes__list_notes", {"limit": 1}, fields=["notes.title"])
    do("run_app_refuses", "tools", "run", "demo_notes__update_note", {"note_id": "note_none", "title": "Bread"})
    do("run_invalid_arguments", "tools", "run", create, {"titel": "x"})
    do("run_tool_unknown", "tools", "run", "demo_notes__create_notes", {"title": "x"})
    do("run_dry", "tools", "run", create, {"title": "Bread"}, dry_run=True)
    do("run_async", "tools", "run", create, {"title": "Soap"}, respond_async=True)

    arguments = {"title": "Eggs"}
    text = json.dumps(arguments)
    calls = {
        "openai": {"id": "call_1", "type": "function", "function": {"name": create, "arguments": text}},
        "openai_responses": {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "call_2",
            "name": create,
            "arguments": text,
            "status": "completed",
        },
        "anthropic": {"type": "tool_use", "id": "toolu_1", "name": create, "input": arguments},
        "gemini": {"name": create, "args": arguments},
    }
    for dialect, call in calls.items():
        do("model_call_" + dialect, "tools", "run", call, message=True)

    def chat(name, text):
        return {"id": "call_9", "type": "function", "function": {"name": name, "arguments": text}}

    wrong = {"type": "tool_use", "id": "toolu_9", "name": create, "input": {"titel": "Eggs"}}
    find = {"task": "write a note", "apps": ["demo-notes"], "limit": 1}
    six = {"type": "tool_use", "id": "toolu_2", "name": "find_tools", "input": find}
    inner = json.dumps({"tool": create, "arguments": {"title": "Tea"}})
    do("model_call_bad_json", "tools", "run", chat(create, '{"title":'), message=True)
    do("model_call_bad_arguments", "tools", "run", wrong, message=True)
    do("model_call_find", "tools", "run", six, message=True)
    do("model_call_run_tool", "tools", "run", chat("run_tool", inner), message=True)
    last = do("run_get", "runs", "get", do("run_for_get", "tools", "run", create, {"title": "Jam"}).run_id)
    inner = json.dumps({"run_id": last.run_id, "wait_seconds": 1})
    do("model_call_run_wait", "tools", "run", chat("run_tool", inner), message=True)
    do("model_call_missing", "tools", "run", chat("find_tools", "{}"), message=True)
    do("run_all", "tools", "run_all", {"role": "assistant", "content": None, "tool_calls": [calls["openai"]]})

    do("runs_list", "runs", "list", tool=create, limit=2)
    record_triggers(client, do)
    settings = {"type": "rest", "name": "Notes", "slug": "x-notes", "base_url": SANDBOX + "/notes/api/v1"}
    do("connector_create", "custom_connectors", "create", **settings)
    do("connectors_list", "custom_connectors", "list")
    do("connections_all", "connections", "all")
    do("connection_delete", "connections", "delete", connection.id)
    do("connection_unknown", "connections", "get", "con_00000000000000000000000000")
    stranger = sdk.ACE("ace_" + "0" * 36, base_url=BASE, transport=recording)
    record(stranger, "bad_key", None, "me")


if __name__ == "__main__":
    main()
