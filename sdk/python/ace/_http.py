"""HTTP with the standard library: one kept connection per thread, retries, time limits."""

from __future__ import annotations

import email.utils
import http.client
import json
import os
import random
import socket
import ssl
import sys
import threading
import time
import urllib.parse
import urllib.request
import uuid
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Tuple

from ._errors import ACEError, ConnectionFailedError, RequestTimeoutError, error_for
from ._objects import Object

RETRIED = frozenset((408, 429, 502, 503, 504))
LONGEST_WAIT = 30.0


class Response(NamedTuple):
    """An HTTP response. Names of headers are lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


# A transport sends one request: method, URL, headers, body, time limit in seconds.
Transport = Callable[[str, str, Mapping[str, str], Optional[bytes], float], Response]


class ConnectionPool:
    """The default transport. It keeps one connection per thread and host."""

    def __init__(self) -> None:
        self._local = threading.local()
        self._lock = threading.Lock()
        self._open: List[http.client.HTTPConnection] = []  # of all threads
        self._context: Optional[ssl.SSLContext] = None

    def __call__(
        self, method: str, url: str, headers: Mapping[str, str], body: Optional[bytes], timeout: float
    ) -> Response:
        parts = urllib.parse.urlsplit(url)
        target = urllib.parse.urlunsplit(("", "", parts.path or "/", parts.query, ""))
        connection, fresh = self._connection(parts.scheme, parts.netloc, timeout)
        if getattr(connection, "ace_plain_proxy", False):
            target = url
        try:
            return self._exchange(connection, method, target, headers, body, timeout)
        except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError, http.client.CannotSendRequest):
            # The server closed a kept connection before it read this request.
            self._forget(parts.scheme, parts.netloc)
            if fresh:
                raise
        connection, _ = self._connection(parts.scheme, parts.netloc, timeout)
        try:
            return self._exchange(connection, method, target, headers, body, timeout)
        except Exception:
            self._forget(parts.scheme, parts.netloc)
            raise

    def close(self) -> None:
        """Closes the connections of all threads."""
        with self._lock:
            connections, self._open = self._open, []
        for connection in connections:
            connection.close()
        self._connections().clear()

    def close_thread(self) -> None:
        """Closes the connections of this thread, which is about to end."""
        for scheme, netloc in list(self._connections()):
            self._forget(scheme, netloc)

    def _exchange(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        target: str,
        headers: Mapping[str, str],
        body: Optional[bytes],
        timeout: float,
    ) -> Response:
        if connection.sock is not None:
            connection.sock.settimeout(timeout)
        else:
            connection.timeout = timeout
        try:
            connection.request(method, target, body=body, headers=dict(headers))
            response = connection.getresponse()
            data = response.read()
        except (socket.timeout, ssl.SSLError, http.client.HTTPException, OSError):
            connection.close()
            raise
        if response.will_close:
            connection.close()
        return Response(response.status, {k.lower(): v for k, v in response.getheaders()}, data)

    def _connections(self) -> Dict[Tuple[str, str], http.client.HTTPConnection]:
        found: Optional[Dict[Tuple[str, str], http.client.HTTPConnection]] = getattr(self._local, "connections", None)
        if found is None:
            found = self._local.connections = {}
        return found

    def _forget(self, scheme: str, netloc: str) -> None:
        connection = self._connections().pop((scheme, netloc), None)
        if connection is not None:
            connection.close()
            with self._lock:
                if connection in self._open:
                    self._open.remove(connection)

    def _connection(self, scheme: str, netloc: str, timeout: float) -> Tuple[http.client.HTTPConnection, bool]:
        kept = self._connections().get((scheme, netloc))
        if kept is not None and kept.sock is not None:
            return kept, False
        self._forget(scheme, netloc)
        host = netloc.rpartition("@")[2]
        name = urllib.parse.urlsplit("//" + host).hostname or ""
        proxy = None if urllib.request.proxy_bypass(name) else urllib.request.getproxies().get(scheme)
        connection = self._dial(scheme, host, proxy, timeout)
        self._connections()[(scheme, netloc)] = connection
        with self._lock:
            self._open.append(connection)
        return connection, True

    def _dial(self, scheme: str, host: str, proxy: Optional[str], timeout: float) -> http.client.HTTPConnection:
        through = urllib.parse.urlsplit(proxy if proxy and "//" in proxy else "//" + (proxy or ""))
        if scheme == "https":
            if self._context is None:
                self._context = ssl.create_default_context()
            if not proxy:
                return http.client.HTTPSConnection(host, timeout=timeout, context=self._context)
            tunnel = http.client.HTTPSConnection(
                through.hostname or "", through.port, timeout=timeout, context=self._context
            )
            tunnel.set_tunnel(host)
            return tunnel
        if not proxy:
            return http.client.HTTPConnection(host, timeout=timeout)
        plain = http.client.HTTPConnection(through.hostname or "", through.port, timeout=timeout)
        setattr(plain, "ace_plain_proxy", True)
        return plain


class Caller:
    """Sends requests of the API: key, JSON, retries, errors."""

    def __init__(
        self,
        api_key: str,
        base_url: str,
        timeout: float,
        max_retries: int,
        user_agent: str,
        transport: Optional[Transport],
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self._api_key = api_key
        self._timeout = timeout
        self._max_retries = max_retries
        self._user_agent = user_agent
        self._pool = ConnectionPool() if transport is None else None
        self._transport: Transport = transport or self._pool or ConnectionPool()
        self._sleep = sleep

    def close(self) -> None:
        if self._pool is not None:
            self._pool.close()

    def close_thread(self) -> None:
        if self._pool is not None:
            self._pool.close_thread()

    def json(
        self,
        method: str,
        path: str,
        *,
        query: Optional[Mapping[str, Any]] = None,
        body: Optional[Mapping[str, Any]] = None,
        headers: Optional[Mapping[str, str]] = None,
        idempotent: bool = False,
        timeout: Optional[float] = None,
    ) -> Any:
        """Sends a request and returns the decoded response, or None if it has no body.

        A POST that is ``idempotent`` carries an Idempotency-Key, the same on each attempt.
        """
        sent: Dict[str, str] = dict(headers or {})
        raw = None
        if body is not None:
            raw = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
            sent["Content-Type"] = "application/json"
        if idempotent and "Idempotency-Key" not in sent:
            sent["Idempotency-Key"] = str(uuid.uuid4())
        retried = method in ("GET", "HEAD", "DELETE", "PUT") or "Idempotency-Key" in sent
        response = self.send(method, path, query=query, raw=raw, headers=sent, retried=retried, timeout=timeout)
        if not response.body:
            return None
        try:
            return json.loads(response.body.decode("utf-8"), object_hook=Object)
        except ValueError:
            raise ACEError(
                "The platform's response is not JSON.", status=response.status, code="invalid_response"
            ) from None

    def send(
        self,
        method: str,
        path: str,
        *,
        query: Optional[Mapping[str, Any]] = None,
        raw: Optional[bytes] = None,
        headers: Optional[Mapping[str, str]] = None,
        retried: bool = True,
        timeout: Optional[float] = None,
    ) -> Response:
        """Sends a request with bytes and returns the response if it is 2xx or 304; raises ACEError otherwise."""
        url = self._url(path, query)
        sent = {"Accept": "application/json", "User-Agent": self._user_agent}
        if self._api_key and url.startswith(self.base_url + "/"):
            sent["Authorization"] = "Bearer " + self._api_key
        sent.update(headers or {})
        limit = self._timeout if timeout is None else timeout
        attempt = 0
        while True:
            response, failure = self._attempt(method, url, sent, raw, limit)
            if response is not None and (200 <= response.status < 300 or response.status == 304):
                return response
            last = attempt >= self._max_retries or not retried
            if response is None:
                assert failure is not None
                if last:
                    raise failure
                wait = _pause(attempt)
            else:
                failure = _failure(response)
                if last or response.status not in RETRIED:
                    raise failure
                wait = _pause(attempt) if failure.retry_after is None else failure.retry_after
                if wait > LONGEST_WAIT:
                    raise failure
            attempt += 1
            self._sleep(wait)

    def _attempt(
        self, method: str, url: str, headers: Mapping[str, str], raw: Optional[bytes], limit: float
    ) -> Tuple[Optional[Response], Optional[ACEError]]:
        try:
            return self._transport(method, url, headers, raw, limit), None
        except socket.timeout:
            text = "No response within %g seconds." % limit
            return None, RequestTimeoutError(text, code="timeout")
        except (OSError, http.client.HTTPException) as error:
            text = "The platform could not be reached: %s." % error
            return None, ConnectionFailedError(text, code="connection_failed")

    def _url(self, path: str, query: Optional[Mapping[str, Any]]) -> str:
        url = path if "://" in path else self.base_url + path
        pairs = [(k, _query_text(v)) for k, v in (query or {}).items() if v is not None]
        return url + "?" + urllib.parse.urlencode(pairs) if pairs else url


def _query_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(str(v) for v in value)
    return str(value)


def _pause(attempt: int) -> float:
    return min(LONGEST_WAIT, 0.5 * 2.0**attempt) * random.uniform(0.75, 1.25)


def _failure(response: Response) -> ACEError:
    problem: Any = None
    try:
        problem = json.loads(response.body.decode("utf-8"), object_hook=Object)
    except ValueError:
        pass
    if not isinstance(problem, dict):
        problem = {}
    retry_after = _retry_after(response.headers.get("retry-after"))
    return error_for(response.status, problem, response.headers.get("x-request-id"), retry_after)


def _retry_after(value: Optional[str]) -> Optional[float]:
    if not value:
        return None
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        at = email.utils.parsedate_to_datetime(value)
    except (TypeError, ValueError, IndexError):
        return None
    return max(0.0, at.timestamp() - time.time())


def quote(segment: str) -> str:
    """Returns a path segment, escaped."""
    return urllib.parse.quote(segment, safe="")


def default_user_agent(version: str) -> str:
    return "ace-python/%s python/%d.%d" % (version, sys.version_info[0], sys.version_info[1])


def environment(name: str) -> Optional[str]:
    return os.environ.get(name) or None
