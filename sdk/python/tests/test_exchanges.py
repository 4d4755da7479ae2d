"""Replays the recorded exchanges that the Go and JavaScript tests read, too."""

from __future__ import annotations

import json
import os
import pathlib
import sys
import unittest
from typing import Any, Dict, List, Mapping, Optional

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, os.environ.get("ACE_SDK_PATH", str(HERE.parent)))

import ace  # noqa: E402
from ace._client import Link  # noqa: E402

FIXTURES = pathlib.Path(os.environ.get("ACE_SDK_FIXTURES", str(HERE.parent.parent)))
BASE = "http://127.0.0.1:8081"


class Replay:
    """A transport that answers with recorded responses and compares each request."""

    def __init__(self, test: unittest.TestCase, exchanges: List[Dict[str, Any]]) -> None:
        self.test = test
        self.left = list(exchanges)
        self.keys: List[Optional[str]] = []

    def __call__(
        self, method: str, url: str, headers: Mapping[str, str], body: Optional[bytes], timeout: float
    ) -> ace.Response:
        self.test.assertTrue(self.left, "one request too many: %s %s" % (method, url))
        exchange = self.left.pop(0)
        want = exchange["request"]
        self.test.assertEqual((want["method"], want["path"]), (method, url[len(BASE) :]))
        self.test.assertTrue(headers["Authorization"].startswith("Bearer ace_"))
        for name, value in want.get("headers", {}).items():
            if value == "*":
                self.test.assertTrue(headers.get(name), "no header " + name)
                self.keys.append(headers.get(name))
            else:
                self.test.assertEqual(value, headers.get(name))
        self.test.assertEqual(want.get("body"), json.loads(body) if body else None)
        response = exchange["response"]
        text = response.get("text")
        if text is None:
            text = json.dumps(response["body"]) if "body" in response else ""
        return ace.Response(response["status"], response.get("headers", {}), text.encode("utf-8"))


class Exchanges(unittest.TestCase):
    maxDiff = None

    def test_exchanges(self) -> None:
        files = sorted((FIXTURES / "exchanges").glob("*.json"))
        self.assertGreater(len(files), 40)
        for path in files:
            with self.subTest(path.stem):
                self.replay(json.loads(path.read_text("utf-8")))

    def replay(self, recorded: Dict[str, Any]) -> None:
        transport = Replay(self, recorded["exchanges"])
        client = ace.ACE("ace_" + "0" * 36, base_url=BASE, transport=transport)
        waits: List[float] = []
        client._caller._sleep = waits.append
        part, method = recorded["call"]
        if part == "link":
            target: Any = Link(client, recorded["link"])
        else:
            target = getattr(client, part) if part else client

        def call() -> Any:
            value = getattr(target, method)(*recorded["args"], **recorded["options"])
            return list(value) if hasattr(value, "__next__") else value

        if "raises" in recorded:
            want = recorded["raises"]
            with self.assertRaises(ace.ACEError) as caught:
                call()
            error = caught.exception
            got = {
                "class": type(error).__name__,
                "status": error.status,
                "code": error.code,
                "next_action": error.next_action,
            }
            self.assertEqual(want, got)
        else:
            value = call()
            self.assertEqual(recorded["returns"], json.loads(json.dumps(value)))
            if "message" in recorded:
                self.assertEqual(
                    decoded(recorded["message"]), decoded(json.loads(json.dumps(value.as_message())))
                )
        self.assertEqual([], transport.left, "requests that were not sent")
        self.assertLessEqual(len(set(transport.keys)), 1, "attempts with different idempotency keys")
        if "waits" in recorded:
            self.assertEqual(len(recorded["waits"]), len(waits))
            for (low, high), wait in zip(recorded["waits"], waits):
                self.assertTrue(low <= wait <= high, wait)


def decoded(message: Dict[str, Any]) -> Dict[str, Any]:
    """Returns a reply with its JSON text decoded: the order of fields is free."""
    out = dict(message)
    for name in ("content", "output"):
        if isinstance(out.get(name), str):
            out[name] = json.loads(out[name])
    return out


class Webhooks(unittest.TestCase):
    def test_vectors(self) -> None:
        for case in json.loads((FIXTURES / "webhooks" / "vectors.json").read_text("utf-8")):
            with self.subTest(case["name"]):
                for body in (case["body"], case["body"].encode("utf-8")):
                    if "code" not in case:
                        event = ace.verify_webhook(body, case["headers"], case["secrets"], now=case["now"])
                        self.assertEqual("Größe", event.data["title"])
                        continue
                    with self.assertRaises(ace.WebhookVerificationError) as caught:
                        ace.verify_webhook(body, case["headers"], case["secrets"], now=case["now"])
                    self.assertEqual(case["code"], caught.exception.code)


class Attributes(unittest.TestCase):
    def test_objects_of_other_libraries(self) -> None:
        class Function:
            name = "search_apps"
            arguments = "{}"

        class Call:
            id = "call_1"
            type = "function"
            function = Function()

        answer = {"apps": [], "next_cursor": None}
        exchange = {
            "request": {"method": "GET", "path": "/api/v1/apps?limit=10"},
            "response": {"status": 200, "body": answer},
        }
        client = ace.ACE("ace_" + "0" * 36, base_url=BASE, transport=Replay(self, [exchange]))
        result = client.tools.run(Call())
        self.assertEqual("call_1", result.as_message()["tool_call_id"])

    def test_what_is_no_call(self) -> None:
        client = ace.ACE("ace_" + "0" * 36)
        for value in (None, 7, {}, {"type": "text", "text": "hi"}):
            with self.assertRaises(ValueError):
                client.tools.run(value)
        self.assertEqual([], client.tools.run_all({"role": "assistant", "content": "done"}))

    def test_key(self) -> None:
        kept = os.environ.pop("ACE_API_KEY", None)
        try:
            with self.assertRaises(ace.AuthError):
                ace.ACE()
            os.environ["ACE_API_KEY"] = "ace_" + "1" * 36
            ace.ACE()
        finally:
            os.environ.pop("ACE_API_KEY", None)
            if kept is not None:
                os.environ["ACE_API_KEY"] = kept

    def test_meta_definitions(self) -> None:
        client = ace.ACE("ace_" + "0" * 36)
        for dialect in ("openai", "openai_responses", "anthropic", "gemini", "mcp"):
            self.assertEqual(6, len(client.tools.definitions(format=dialect)))
        self.assertNotIn("additionalProperties", json.dumps(client.tools.definitions(format="gemini")))
        with self.assertRaises(ValueError):
            client.tools.definitions(format="cohere")


if __name__ == "__main__":
    unittest.main()
