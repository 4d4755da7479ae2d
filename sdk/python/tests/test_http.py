"""The HTTP layer against a real server on loopback."""

from __future__ import annotations

import asyncio
import http.server
import json
import os
import pathlib
import socket
import sys
import threading
import unittest
from typing import Any, Callable, List

sys.path.insert(0, os.environ.get("ACE_SDK_PATH", str(pathlib.Path(__file__).resolve().parent.parent)))

import ace  # noqa: E402

Handler = Callable[[http.server.BaseHTTPRequestHandler], None]


class Server:
    """A server whose handler is a function; it counts connections."""

    def __init__(self, handler: Handler) -> None:
        connections: List[Any] = []
        self.connections = connections

        class Requests(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                connections.append(1)
                super().setup()

            def handle_any(self) -> None:
                handler(self)

            do_GET = do_POST = handle_any

            def log_message(self, *_: Any) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Requests)
        self.server.daemon_threads = True
        self.url = "http://127.0.0.1:%d" % self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: Any) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


def reply(request: http.server.BaseHTTPRequestHandler, value: Any, close: bool = False) -> None:
    body = json.dumps(value).encode()
    request.send_response(200)
    request.send_header("Content-Length", str(len(body)))
    if close:
        request.send_header("Connection", "close")
    request.end_headers()
    request.wfile.write(body)


class HTTP(unittest.TestCase):
    def client(self, server: Server, **options: Any) -> ace.ACE:
        client = ace.ACE("ace_" + "0" * 36, base_url=server.url, **options)
        self.addCleanup(client.close)
        client._caller._sleep = lambda _: None
        return client

    def test_one_connection_per_thread(self) -> None:
        with Server(lambda r: reply(r, {"agent": r.headers["User-Agent"]})) as server:
            client = self.client(server, user_agent="mine/1")
            for _ in range(5):
                self.assertRegex(client.me().agent, r"^mine/1 ace-python/1\.0\.0 ")
            self.assertEqual(1, len(server.connections))

            def other() -> None:
                client.me()
                client.close()

            thread = threading.Thread(target=other)
            thread.start()
            thread.join()
            self.assertEqual(2, len(server.connections))

    def test_closed_connection_is_opened_again(self) -> None:
        def handler(r: http.server.BaseHTTPRequestHandler) -> None:
            reply(r, {})
            r.close_connection = True  # without saying so

        with Server(handler) as server:
            client = self.client(server, max_retries=0)
            for _ in range(3):
                client.me()

    def test_time_limit(self) -> None:
        release = threading.Event()

        def handler(r: http.server.BaseHTTPRequestHandler) -> None:
            release.wait(10)

        with Server(handler) as server:
            client = self.client(server, timeout=0.05, max_retries=1)
            with self.assertRaises(ace.RequestTimeoutError):
                client.me()
            release.set()

    def test_unreachable(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            url = "http://127.0.0.1:%d" % free.getsockname()[1]
        client = ace.ACE("ace_" + "0" * 36, base_url=url)
        client._caller._sleep = lambda _: None
        with self.assertRaises(ace.ConnectionFailedError) as caught:
            client.me()
        self.assertEqual("connection_failed", caught.exception.code)
        self.assertNotIn("ace_0", str(caught.exception))

    def test_key_stays_at_the_platform(self) -> None:
        stolen: List[str] = []
        with Server(lambda r: reply(r, stolen.append(r.headers.get("Authorization", "")))) as other:

            def handler(r: http.server.BaseHTTPRequestHandler) -> None:
                r.send_response(302)
                r.send_header("Location", other.url + "/api/v1/me")
                r.send_header("Content-Length", "0")
                r.end_headers()

            with Server(handler) as server:
                with self.assertRaises(ace.ACEError):
                    self.client(server).me()
        self.assertEqual([], stolen)

    def test_upload(self) -> None:
        def handler(r: http.server.BaseHTTPRequestHandler) -> None:
            body = r.rfile.read(int(r.headers["Content-Length"]))
            reply(r, {"type": r.headers["Content-Type"], "body": body.decode("latin-1")})

        with Server(handler) as server:
            got = self.client(server).files.upload(b"hello", name='a "list"\r\n.txt')
            self.assertIn('filename="a _list___.txt"\r\nContent-Type: text/plain\r\n\r\nhello\r\n--', got.body)
            self.assertTrue(got.type.startswith("multipart/form-data; boundary="))

    def test_run_all_closes_its_connections(self) -> None:
        def handler(r: http.server.BaseHTTPRequestHandler) -> None:
            r.rfile.read(int(r.headers["Content-Length"]))
            reply(r, {"ok": True})

        with Server(handler) as server:
            client = self.client(server)
            calls = [{"type": "tool_use", "id": "t%d" % n, "name": "a__b", "input": {"n": n}} for n in range(9)]
            replies = client.tools.run_all({"role": "assistant", "content": calls})
            self.assertEqual([one["id"] for one in calls], [one["tool_use_id"] for one in replies])
            pool = client._caller._pool
            assert pool is not None
            self.assertEqual([], pool._open)

    def test_close_reaches_all_threads(self) -> None:
        with Server(lambda r: reply(r, {})) as server:
            client = self.client(server)
            thread = threading.Thread(target=client.me)
            thread.start()
            thread.join()
            client.me()
            pool = client._caller._pool
            assert pool is not None
            connections = list(pool._open)
            client.close()
            self.assertEqual([None, None], [one.sock for one in connections])

    def test_async(self) -> None:
        with Server(lambda r: reply(r, {"path": r.path, "apps": [1], "next_cursor": None})) as server:

            async def run() -> List[Any]:
                async with ace.AsyncACE("ace_" + "0" * 36, base_url=server.url) as client:
                    one, two, apps = await asyncio.gather(
                        client.me(), client.runs.get("run_1"), client.catalog.all(category="email")
                    )
                    return [one.path, two.path, apps]

            self.assertEqual(["/api/v1/me", "/api/v1/runs/run_1", [1]], asyncio.run(run()))


if __name__ == "__main__":
    unittest.main()
