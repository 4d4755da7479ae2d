"""A program that uses the whole client; only its types matter."""

from typing import Any, Dict, List, Optional

from ace import ACE, ACEError, AsyncACE, Connection, NotConnectedError, Run, Trigger, verify_webhook


def use(body: bytes, headers: Dict[str, str]) -> str:
    with ACE("ace_0", base_url="https://apps.example", timeout=1, max_retries=1) as ace:
        link = ace.apps.connect("gmail", label="Work", verify="link")
        url: str = link.url
        connection: Connection = link.wait(timeout=1)
        found = ace.tools.find("send an email", apps=["gmail"], include=["input_schema"])
        run: Run = ace.tools.run(found.tools[0]["tool"], {"to": ["a@b.c"]}, connection_id=connection.id)
        reply: Dict[str, Any] = ace.tools.run({"type": "tool_use", "id": "1", "name": "x", "input": {}}).as_message()
        tools: List[Dict[str, Any]] = ace.tools.definitions(format="anthropic", apps=["gmail"])
        names = [app["name"] for app in ace.catalog.all(category="email")]
        trigger: Trigger = ace.triggers.create("github", "new_issue", webhook_url="https://hooks.example")
        secret: str = ace.triggers.rotate_secret(trigger.id, overlap_seconds=60).signing_secret
        statuses: List[str] = [one.status for one in ace.triggers.events(trigger.id)]
        event = verify_webhook(body, headers, ["whsec_a", "whsec_b"])
        try:
            ace.connections.delete(connection.id, revoke=False)
        except NotConnectedError as error:
            where: Optional[str] = error.connect_url
            return where or ""
        except ACEError as error:
            return error.code
        return "%s %s %s %s %s %s %s %s" % (url, run.ok, reply, len(tools), names, event, secret, statuses)


async def use_async() -> bool:
    async with AsyncACE("ace_0") as ace:
        link = await ace.apps.connect("gmail")
        connection: Connection = await link.wait()
        replayed: int = await ace.triggers.replay_failed("trg_1")
        run: Run = await ace.tools.run("gmail__send_email", {}, connection_id=connection.id)
        return run.ok and replayed > 0
