"""The client."""

from __future__ import annotations

import json
import mimetypes
import os
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Union, cast

from . import _platform
from ._calls import ModelCall, ToolResult, calls_in, read_call, refused
from ._errors import ACEError, AuthError, NotConnectedError, RequestTimeoutError
from ._http import Caller, Transport, default_user_agent, environment, quote
from ._meta import META_NAMES, META_TOOLS, meta_definition
from ._objects import Connection, ConnectLink, ConnectSession, FoundTools, Object, Page, Run, Tool, Trigger, TriggerEvent

MOST_DEFINITIONS = 64
MODEL_RUNS_AT_ONCE = 4
# The platform holds a long poll for at most so many seconds.
LONGEST_POLL = 25


class ACE:
    """A client of the platform. It may be shared between threads.

    ``api_key`` defaults to the environment variable ACE_API_KEY. ``timeout`` is in seconds, per
    attempt. A request is tried again up to ``max_retries`` times where that is safe. ``end_user``
    names the user of yours whose connections count, in every call that knows one.
    """

    def __init__(
        self,
        api_key: Optional[str] = None,
        *,
        base_url: Optional[str] = None,
        timeout: float = 60.0,
        max_retries: int = 2,
        end_user: Optional[str] = None,
        user_agent: Optional[str] = None,
        transport: Optional[Transport] = None,
    ) -> None:
        key = api_key or environment("ACE_API_KEY")
        if not key:
            raise AuthError("Pass an API key, or set ACE_API_KEY.", status=401, code="missing_key")
        agent = default_user_agent(_platform.VERSION)
        if user_agent:
            agent = user_agent + " " + agent
        url = base_url or environment("ACE_PLATFORM_URL") or _platform.BASE_URL
        self._caller = Caller(key, url, timeout, max_retries, agent, transport)
        self._end_user = end_user
        self.catalog = Catalog(self)
        self.apps = Apps(self)
        self.connections = Connections(self)
        self.tools = Tools(self)
        self.custom_connectors = CustomConnectors(self)
        self.triggers = Triggers(self)
        self.runs = Runs(self)
        self.files = Files(self)

    def me(self) -> Object:
        """Returns the account, the key, its permissions and limits."""
        return _object(self._get("/me"))

    def close(self) -> None:
        """Closes the connections to the platform. A later call opens another one."""
        self._caller.close()

    def __enter__(self) -> ACE:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _get(self, path: str, query: Optional[Mapping[str, Any]] = None, timeout: Optional[float] = None) -> Any:
        return self._caller.json("GET", "/api/v1" + path, query=query, timeout=timeout)

    def _post(
        self,
        path: str,
        body: Optional[Mapping[str, Any]] = None,
        *,
        key: Optional[str] = None,
        idempotent: bool = False,
        headers: Optional[Mapping[str, str]] = None,
        timeout: Optional[float] = None,
    ) -> Any:
        sent = dict(headers or {})
        if key:
            sent["Idempotency-Key"] = key
        return self._caller.json(
            "POST", "/api/v1" + path, body=body or {}, headers=sent, idempotent=idempotent, timeout=timeout
        )

    def _user(self, end_user: Optional[str]) -> Optional[str]:
        return end_user if end_user is not None else self._end_user

    def _pages(self, path: str, query: Mapping[str, Any], name: str) -> Iterator[Object]:
        asked = dict(query)
        while True:
            page = _object(self._get(path, asked))
            for one in page[name]:
                yield one
            cursor = page.get("next_cursor")
            if not cursor:
                return
            asked["cursor"] = cursor


class _Part:
    def __init__(self, client: ACE) -> None:
        self._client = client


class Catalog(_Part):
    """Every app there is, connected or not."""

    def list(
        self,
        *,
        category: Optional[str] = None,
        auth: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> Page:
        """Returns a page of apps. ``limit`` is at most 2000."""
        query = {"category": category, "auth": auth, "limit": limit, "cursor": cursor}
        return Page(self._client._get("/catalog", query))

    def all(self, *, category: Optional[str] = None, auth: Optional[str] = None) -> Iterator[Object]:
        """Iterates over all apps, page by page."""
        return self._client._pages("/catalog", {"category": category, "auth": auth}, "apps")


class Link(ConnectLink):
    """A link that a person opens to connect an app, and a way to wait for them."""

    def __init__(self, client: ACE, value: Mapping[str, Any]) -> None:
        super().__init__(value)
        object.__setattr__(self, "_client", client)

    def wait(self, timeout: float = 600.0) -> Connection:
        """Waits until the person has connected the app, and returns the connection.

        Raises NotConnectedError if they denied it, it failed, or the link expired;
        RequestTimeoutError if ``timeout`` seconds pass first.
        """
        client = cast(ACE, object.__getattribute__(self, "_client"))
        end = time.monotonic() + timeout
        while True:
            left = end - time.monotonic()
            session = client.apps.session(self.session_id, wait=int(max(0.0, min(LONGEST_POLL, left))))
            if session.status == "connected" and session.connection_id:
                return client.connections.get(session.connection_id)
            if session.status not in ("pending", "opened"):
                error = session.get("error") or {}
                raise NotConnectedError(
                    str(error.get("detail") or "The app was not connected: %s." % session.status),
                    code=str(error.get("code") or session.status),
                    problem={"next_action": "connect_app"},
                )
            if time.monotonic() >= end:
                raise RequestTimeoutError(
                    "Nobody finished connecting within %g seconds. The link may still be open." % timeout,
                    code="timeout",
                )


class Apps(_Part):
    """Apps, with the state of this account's connections."""

    def search(
        self,
        term: str = "",
        *,
        category: Optional[str] = None,
        connection_status: Optional[str] = None,
        end_user: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> Page:
        """Returns a page of apps that fit a word; without one, of all apps."""
        query = {
            "search": term or None,
            "category": category,
            "connection_status": connection_status,
            "end_user": self._client._user(end_user),
            "limit": limit,
            "cursor": cursor,
        }
        return Page(self._client._get("/apps", query))

    def connect(
        self,
        app: str,
        *,
        auth: Optional[str] = None,
        label: Optional[str] = None,
        scopes: Optional[Sequence[str]] = None,
        scope_profile: Optional[str] = None,
        params: Optional[Mapping[str, str]] = None,
        redirect_url: Optional[str] = None,
        state: Optional[str] = None,
        verify: Optional[str] = None,
        verify_url: Optional[str] = None,
        connection_id: Optional[str] = None,
        notify_webhook_url: Optional[str] = None,
        expires_in: Optional[int] = None,
        end_user: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Link:
        """Returns a link that a person opens to connect the app. Show them ``url``; ``wait()`` waits for them.

        ``verify`` says who may use the link: "account" (default; somebody signed in to this account),
        "link" (whoever opens it first) or "callback" (a page of yours at ``verify_url``).
        """
        body = _given(
            auth=auth,
            label=label,
            scopes=None if scopes is None else list(scopes),
            scope_profile=scope_profile,
            params=None if params is None else dict(params),
            redirect_url=redirect_url,
            state=state,
            verify=verify,
            verify_url=verify_url,
            connection_id=connection_id,
            notify_webhook_url=notify_webhook_url,
            expires_in=expires_in,
            end_user=self._client._user(end_user),
        )
        path = "/apps/%s/connect" % quote(app)
        return Link(self._client, self._client._post(path, body, key=idempotency_key, idempotent=True))

    def session(self, session_id: str, *, wait: int = 0) -> ConnectSession:
        """Returns how connecting goes; waits up to ``wait`` seconds (at most 30) for its end."""
        path = "/connect-sessions/%s" % quote(session_id)
        return ConnectSession(self._client._get(path, {"wait": wait or None}))

    def cancel(self, session_id: str) -> None:
        """Cancels a link that nobody has used."""
        self._client._caller.json("DELETE", "/api/v1/connect-sessions/%s" % quote(session_id))

    def confirm(self, session_id: str, flow_id: str, end_user: str) -> Object:
        """Says who opened a link with verify="callback": the user that your page at ``verify_url`` found.

        ``flow_id`` is what that page was opened with. Send the browser to ``url`` of the result.
        """
        body = {"flow_id": flow_id, "end_user": end_user}
        return _object(self._client._post("/connect-sessions/%s/confirm" % quote(session_id), body))

    def request(
        self,
        app: str,
        path: str,
        *,
        method: str = "GET",
        query: Optional[Mapping[str, Any]] = None,
        headers: Optional[Mapping[str, str]] = None,
        body: Any = None,
        connection_id: Optional[str] = None,
        end_user: Optional[str] = None,
        timeout_seconds: Optional[int] = None,
        idempotency_key: Optional[str] = None,
    ) -> Object:
        """Sends a raw request to the app with a connection's credentials. The key needs raw_requests."""
        sent = _given(
            method=method,
            path=path,
            query=None if query is None else dict(query),
            headers=None if headers is None else dict(headers),
            body=body,
            connection_id=connection_id,
            end_user=self._client._user(end_user),
            timeout_seconds=timeout_seconds,
        )
        target = "/apps/%s/request" % quote(app)
        return _object(self._client._post(target, sent, key=idempotency_key, idempotent=True))


class Connections(_Part):
    """The account's connected apps."""

    def list(
        self,
        *,
        app: Optional[str] = None,
        status: Optional[str] = None,
        search: Optional[str] = None,
        end_user: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> Page:
        """Returns a page of connections."""
        query = {
            "app": app,
            "status": status,
            "search": search,
            "end_user": self._client._user(end_user),
            "limit": limit,
            "cursor": cursor,
        }
        return Page(self._client._get("/connections", query))

    def all(self, *, app: Optional[str] = None, status: Optional[str] = None) -> Iterator[Object]:
        """Iterates over all connections, page by page."""
        query = {"app": app, "status": status, "end_user": self._client._user(None)}
        return self._client._pages("/connections", query, "connections")

    def get(self, connection_id: str) -> Connection:
        """Returns a connection."""
        return Connection(self._client._get("/connections/%s" % quote(connection_id)))

    def update(
        self,
        connection_id: str,
        *,
        label: Optional[str] = None,
        is_default: Optional[bool] = None,
        disabled: Optional[bool] = None,
    ) -> Connection:
        """Changes what is given and returns the connection."""
        body = _given(label=label, is_default=is_default, disabled=disabled)
        path = "/api/v1/connections/%s" % quote(connection_id)
        return Connection(self._client._caller.json("PATCH", path, body=body))

    def delete(self, connection_id: str, *, revoke: bool = True) -> None:
        """Deletes a connection, and revokes its credentials at the app if ``revoke``."""
        path = "/api/v1/connections/%s" % quote(connection_id)
        self._client._caller.json("DELETE", path, query={"revoke": revoke})

    def check(self, connection_id: str) -> Connection:
        """Tries the credentials at the app now and returns the connection."""
        return Connection(self._client._post("/connections/%s/check" % quote(connection_id)))


class Tools(_Part):
    """Finding tools and running them."""

    def find(
        self,
        task: str,
        *,
        apps: Optional[Sequence[str]] = None,
        connected_only: bool = False,
        read_only: bool = False,
        limit: Optional[int] = None,
        include: Optional[Sequence[str]] = None,
        end_user: Optional[str] = None,
    ) -> FoundTools:
        """Returns tools that fit a task in plain words, best first.

        ``include=["input_schema"]`` saves a request per tool. If nothing fits, ``hint`` says why.
        """
        body = _given(
            task=task,
            apps=None if apps is None else list(apps),
            connected_only=connected_only or None,
            read_only=read_only or None,
            limit=limit,
            include=None if include is None else list(include),
            end_user=self._client._user(end_user),
        )
        # Finding changes nothing, so that it may be tried again like a GET.
        raw = self._client._caller.json("POST", "/api/v1/tools/find", body=body, idempotent=True)
        return FoundTools(raw)

    def get(self, tool: str, *, format: Optional[str] = None) -> Tool:
        """Returns a tool; with ``format`` also its ``definition`` in a model's dialect."""
        return Tool(self._client._get("/tools/%s" % quote(tool), {"format": format}))

    def definitions(
        self,
        *,
        format: str = "openai",
        tools: Optional[Sequence[str]] = None,
        apps: Optional[Sequence[str]] = None,
        task: Optional[str] = None,
    ) -> List[Dict[str, Any]]:
        """Returns tool definitions for a model: pass the list as its ``tools``.

        ``format`` is openai, openai_responses, anthropic, gemini or mcp. Without a filter these are six
        tools that find and run all others; with ``tools``, ``apps`` or ``task``, the named ones themselves, at
        most 64. Pass the model's calls to ``run``.
        """
        if not tools and not apps and not task:
            return [meta_definition(tool, format) for tool in META_TOOLS]
        names = list(tools or [])
        if task:
            found = self.find(task, apps=apps, limit=25)
            names.extend(one["tool"] for one in found.tools if one["tool"] not in names)
        definitions: List[Dict[str, Any]] = []
        if names:
            query = {"tools": names[:MOST_DEFINITIONS], "format": format}
            definitions.extend(one["definition"] for one in self._client._pages("/tools", query, "tools"))
        for app in [] if task else list(apps or []):
            for one in self._client._pages("/tools", {"app": app, "format": format}, "tools"):
                if len(definitions) < MOST_DEFINITIONS and one["definition"] not in definitions:
                    definitions.append(one["definition"])
        return definitions[:MOST_DEFINITIONS]

    def run(
        self,
        tool: Any,
        arguments: Optional[Mapping[str, Any]] = None,
        *,
        connection_id: Optional[str] = None,
        end_user: Optional[str] = None,
        fields: Optional[Sequence[str]] = None,
        max_bytes: Optional[int] = None,
        timeout_seconds: Optional[int] = None,
        dry_run: bool = False,
        respond_async: bool = False,
        idempotency_key: Optional[str] = None,
        raise_on_app_error: bool = False,
    ) -> ToolResult:
        """Runs a tool and returns the run.

        ``tool`` is a tool's id, or a model's tool call of any dialect: then ``as_message()`` of the
        result is the reply to the model, and what the model did wrong comes back as a result with
        ``ok`` False, so that it can correct itself.

        ``ok`` is False if the app refused; ``raise_on_app_error`` raises ACEError instead. With
        ``respond_async`` the run may still be going on: see ``runs.wait``.
        """
        options: Dict[str, Any] = {
            "connection_id": connection_id,
            "end_user": end_user,
            "fields": fields,
            "max_bytes": max_bytes,
            "timeout_seconds": timeout_seconds,
            "dry_run": dry_run,
            "respond_async": respond_async,
            "idempotency_key": idempotency_key,
        }
        if isinstance(tool, str):
            result = ToolResult(self._start(tool, arguments or {}, **options))
        else:
            call = read_call(tool)
            if call is None:
                raise ValueError("Pass a tool's id, or a model's tool call.")
            result = ToolResult(self._answer(call, options), call)
        if raise_on_app_error and result.get("ok") is False and result.get("status") == "failed":
            error = result.get("error") or {}
            raise ACEError(str(error.get("detail") or "The app refused."), code=str(error.get("code") or ""), problem=error)
        return result

    def run_all(self, /, message: Any, **options: Any) -> List[Dict[str, Any]]:
        """Runs every tool call of an assistant's message, four at a time, and returns the replies in order.

        The message may be a chat message, a response, or a list of content parts, of any dialect.
        """
        calls = calls_in(message)
        if len(calls) < 2:
            return [ToolResult(self._answer(call, dict(options)), call).as_message() for call in calls]

        def run(call: ModelCall) -> Dict[str, Any]:
            try:
                return ToolResult(self._answer(call, dict(options)), call).as_message()
            finally:
                self._client._caller.close_thread()

        with ThreadPoolExecutor(max_workers=MODEL_RUNS_AT_ONCE) as pool:
            return list(pool.map(run, calls))

    def _start(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        connection_id: Optional[str] = None,
        end_user: Optional[str] = None,
        fields: Optional[Sequence[str]] = None,
        max_bytes: Optional[int] = None,
        timeout_seconds: Optional[int] = None,
        dry_run: bool = False,
        respond_async: bool = False,
        idempotency_key: Optional[str] = None,
    ) -> Run:
        output = _given(fields=None if fields is None else list(fields), max_bytes=max_bytes)
        body = _given(
            arguments=dict(arguments),
            connection_id=connection_id,
            end_user=self._client._user(end_user),
            timeout_seconds=timeout_seconds,
            output=output or None,
            dry_run=dry_run or None,
        )
        return Run(
            self._client._post(
                "/tools/%s/run" % quote(tool),
                body,
                key=idempotency_key,
                idempotent=not dry_run,
                headers={"Prefer": "respond-async"} if respond_async else None,
                # The platform itself ends a run that is waited for; its word is better than a broken connection.
                timeout=None if timeout_seconds is None else timeout_seconds + 15.0,
            )
        )

    def _answer(self, call: ModelCall, options: Dict[str, Any]) -> Dict[str, Any]:
        """Runs a model's call. Whatever the model can correct is a result, not an exception."""
        if call.problem:
            return refused("invalid_arguments", call.problem, "fix_arguments")
        try:
            if call.name in META_NAMES:
                return self._meta(call, options)
            return self._start(call.name, call.arguments, **options)
        except AuthError:
            raise
        except ACEError as error:
            if error.status == 0 or error.status >= 500:
                raise
            extra: Dict[str, Any] = {}
            for name in ("errors", "did_you_mean", "connections", "connectable_reason"):
                if name in error.problem:
                    extra[name] = error.problem[name]
            if error.connect_url:
                extra["connect_url"] = error.connect_url
            return refused(error.code, error.detail, error.next_action, extra)

    def _meta(self, call: ModelCall, options: Dict[str, Any]) -> Dict[str, Any]:
        given = call.arguments
        end_user = options.get("end_user")
        client = self._client
        try:
            if call.name == "search_apps":
                status = "connected" if given.get("connected_only") else None
                return client.apps.search(
                    given.get("query", ""),
                    connection_status=status,
                    end_user=end_user,
                    limit=given.get("limit", 10),
                    cursor=given.get("cursor"),
                )
            if call.name == "connect_app":
                return self._meta_connect(given, end_user)
            if call.name == "list_connections":
                return client.connections.list(
                    app=given.get("app"),
                    status=given.get("status"),
                    end_user=end_user,
                    limit=given.get("limit", 20),
                    cursor=given.get("cursor"),
                )
            if call.name == "find_tools":
                return self.find(
                    given["task"],
                    apps=given.get("apps"),
                    connected_only=bool(given.get("connected_only")),
                    limit=given.get("limit", 6),
                    include=["input_schema"] if given.get("include_schemas", True) else None,
                    end_user=end_user,
                )
            if call.name == "get_tool":
                return self.get(given["tool"])
            if given.get("output_cursor"):
                return client.runs.output(given["run_id"], given["output_cursor"])
            if given.get("run_id"):
                return self._meta_wait(given)
            merged = dict(options)
            merged.update(
                connection_id=given.get("connection_id") or options.get("connection_id"),
                fields=given.get("fields") or options.get("fields"),
                max_bytes=given.get("max_chars", 20000),
                timeout_seconds=given.get("timeout_seconds") or options.get("timeout_seconds"),
                dry_run=bool(given.get("dry_run") or options.get("dry_run")),
                idempotency_key=given.get("idempotency_key") or options.get("idempotency_key"),
            )
            return self._start(given["tool"], given.get("arguments") or {}, **merged)
        except KeyError as missing:
            return refused("invalid_arguments", "%s is required." % missing.args[0], "fix_arguments")

    def _meta_wait(self, given: Mapping[str, Any]) -> Run:
        """Returns an earlier run; after ``wait_seconds`` as it is then."""
        runs = self._client.runs
        if given.get("wait_seconds"):
            try:
                return runs.wait(given["run_id"], timeout=_wait_seconds(given))
            except RequestTimeoutError:
                pass
        return runs.get(given["run_id"])

    def _meta_connect(self, given: Mapping[str, Any], end_user: Optional[str]) -> Dict[str, Any]:
        apps = self._client.apps
        if given.get("session_id"):
            return apps.session(given["session_id"], wait=_wait_seconds(given))
        return apps.connect(
            given["app"],
            label=given.get("label"),
            scopes=given.get("scopes"),
            params=given.get("params"),
            connection_id=given.get("connection_id"),
            end_user=end_user,
        )


def _wait_seconds(given: Mapping[str, Any]) -> int:
    return min(LONGEST_POLL, int(given.get("wait_seconds") or 0))


class CustomConnectors(_Part):
    """The account's own MCP servers and REST APIs."""

    def create(
        self, /, *, type: str, name: str, idempotency_key: Optional[str] = None, **settings: Any
    ) -> Object:
        """Adds an MCP server (type "mcp", ``url``) or a REST API (type "rest", ``base_url``, ``openapi_url``, …)."""
        body = _given(type=type, name=name, **settings)
        return _object(self._client._post("/custom-connectors", body, key=idempotency_key, idempotent=True))

    def list(self) -> List[Object]:
        """Returns the account's connectors."""
        return cast(List[Object], self._client._get("/custom-connectors")["custom_connectors"])

    def get(self, connector_id: str) -> Object:
        """Returns a connector."""
        return _object(self._client._get("/custom-connectors/%s" % quote(connector_id)))

    def update(self, /, connector_id: str, **changes: Any) -> Object:
        """Changes what is given (name, auth, tools, enabled) and returns the connector."""
        path = "/api/v1/custom-connectors/%s" % quote(connector_id)
        return _object(self._client._caller.json("PATCH", path, body=changes))

    def refresh(self, /, connector_id: str, **settings: Any) -> Object:
        """Imports the tools again; ``diff`` says what changed."""
        return _object(self._client._post("/custom-connectors/%s/refresh" % quote(connector_id), settings))

    def test(self, connector_id: str) -> Object:
        """Tries whether the server can be reached with the stored credentials."""
        return _object(self._client._post("/custom-connectors/%s/test" % quote(connector_id)))

    def delete(self, connector_id: str) -> None:
        """Deletes a connector with its connections."""
        self._client._caller.json("DELETE", "/api/v1/custom-connectors/%s" % quote(connector_id))


class Triggers(_Part):
    """Events in connected apps that are watched."""

    def definitions(self, app: str) -> List[Object]:
        """Returns the events of an app that can be watched, each with the schema of its config and a sample."""
        return cast(List[Object], self._client._get("/apps/%s/triggers" % quote(app))["triggers"])

    def create(
        self,
        app: str,
        event: str,
        *,
        webhook_url: str,
        config: Optional[Mapping[str, Any]] = None,
        filter: Optional[str] = None,
        connection_id: Optional[str] = None,
        end_user: Optional[str] = None,
        poll_interval_seconds: Optional[int] = None,
        description: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Trigger:
        """Watches an event in a connected app: each one is posted to ``webhook_url``.

        It is signed with ``signing_secret``, which only this result and that of ``rotate_secret`` hold.
        ``filter`` is an expression (CEL) over ``data``: only events for which it is true are posted.
        """
        body = _given(
            app=app,
            event=event,
            webhook_url=webhook_url,
            config=None if config is None else dict(config),
            filter=filter,
            connection_id=connection_id,
            end_user=self._client._user(end_user),
            poll_interval_seconds=poll_interval_seconds,
            description=description,
        )
        return Trigger(self._client._post("/triggers", body, key=idempotency_key, idempotent=True))

    def list(
        self,
        *,
        app: Optional[str] = None,
        connection_id: Optional[str] = None,
        status: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> Page:
        """Returns a page of triggers, newest first."""
        query = {"app": app, "connection_id": connection_id, "status": status, "limit": limit, "cursor": cursor}
        return Page(self._client._get("/triggers", query))

    def all(
        self, *, app: Optional[str] = None, connection_id: Optional[str] = None, status: Optional[str] = None
    ) -> Iterator[Object]:
        """Iterates over all triggers, page by page."""
        query = {"app": app, "connection_id": connection_id, "status": status}
        return self._client._pages("/triggers", query, "triggers")

    def get(self, trigger_id: str) -> Trigger:
        """Returns a trigger."""
        return Trigger(self._client._get("/triggers/%s" % quote(trigger_id)))

    def update(
        self,
        trigger_id: str,
        *,
        webhook_url: Optional[str] = None,
        description: Optional[str] = None,
        filter: Optional[str] = None,
        status: Optional[str] = None,
        poll_interval_seconds: Optional[int] = None,
    ) -> Trigger:
        """Changes what is given and returns the trigger. An empty ``filter`` lets all events pass."""
        body = _given(
            webhook_url=webhook_url,
            description=description,
            filter=filter,
            status=status,
            poll_interval_seconds=poll_interval_seconds,
        )
        return Trigger(self._client._caller.json("PATCH", "/api/v1/triggers/%s" % quote(trigger_id), body=body))

    def pause(self, trigger_id: str) -> Trigger:
        """Stops looking for events and posting them, until ``resume``."""
        return self.update(trigger_id, status="paused")

    def resume(self, trigger_id: str) -> Trigger:
        """Goes on after ``pause``, or after what ``status_reason`` names was fixed."""
        return self.update(trigger_id, status="active")

    def delete(self, trigger_id: str) -> None:
        """Deletes a trigger and ends its registration at the app."""
        self._client._caller.json("DELETE", "/api/v1/triggers/%s" % quote(trigger_id))

    def events(self, trigger_id: str) -> List[TriggerEvent]:
        """Returns the last 50 events, newest first, with every attempt to deliver them."""
        found = self._client._get("/triggers/%s/events" % quote(trigger_id))["events"]
        return [TriggerEvent(one) for one in found]

    def event(self, trigger_id: str, event_id: str) -> TriggerEvent:
        """Returns an event."""
        return TriggerEvent(self._client._get("/triggers/%s/events/%s" % (quote(trigger_id), quote(event_id))))

    def replay(self, trigger_id: str, event_id: str) -> TriggerEvent:
        """Delivers an event again, under the same webhook-id."""
        path = "/triggers/%s/events/%s/replay" % (quote(trigger_id), quote(event_id))
        return TriggerEvent(self._client._post(path))

    def replay_failed(self, trigger_id: str) -> int:
        """Delivers the failed ones of the last 50 events again, and returns their number."""
        return int(self._client._post("/triggers/%s/replay-failed" % quote(trigger_id))["replayed"])

    def test(self, trigger_id: str) -> TriggerEvent:
        """Posts the sample of the event to the webhook, and returns the event."""
        return TriggerEvent(self._client._post("/triggers/%s/test" % quote(trigger_id)))

    def rotate_secret(self, trigger_id: str, *, overlap_seconds: Optional[int] = None) -> Trigger:
        """Returns the trigger with another ``signing_secret``; both sign for ``overlap_seconds`` (default: a day)."""
        body = _given(overlap_seconds=overlap_seconds)
        return Trigger(self._client._post("/triggers/%s/rotate-secret" % quote(trigger_id), body))


class Runs(_Part):
    """Runs of tools."""

    def get(self, run_id: str) -> Run:
        """Returns a run."""
        return Run(self._client._get("/runs/%s" % quote(run_id)))

    def list(
        self,
        *,
        tool: Optional[str] = None,
        app: Optional[str] = None,
        status: Optional[str] = None,
        connection_id: Optional[str] = None,
        end_user: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> Page:
        """Returns a page of runs, newest first."""
        query = {
            "tool": tool,
            "app": app,
            "status": status,
            "connection_id": connection_id,
            "end_user": self._client._user(end_user),
            "limit": limit,
            "cursor": cursor,
        }
        return Page(self._client._get("/runs", query))

    def output(self, run_id: str, cursor: Optional[str] = None) -> Object:
        """Returns the next part of a long output. Nothing runs again."""
        return _object(self._client._get("/runs/%s/output" % quote(run_id), {"cursor": cursor}))

    def cancel(self, run_id: str) -> Run:
        """Cancels a run that has not finished, and returns it."""
        return Run(self._client._post("/runs/%s/cancel" % quote(run_id)))

    def wait(self, run_id: str, *, timeout: float = 600.0, interval: float = 1.0) -> Run:
        """Waits until a run has finished, or a person has decided about it, and returns it.

        Raises RequestTimeoutError if ``timeout`` seconds pass first.
        """
        end = time.monotonic() + timeout
        while True:
            run = self.get(run_id)
            if run.status not in ("running", "awaiting_approval"):
                return run
            if time.monotonic() + interval > end:
                raise RequestTimeoutError("The run is still %s." % run.status, code="timeout")
            self._client._caller._sleep(interval)


class Files(_Part):
    """Files that go into runs."""

    def upload(
        self,
        file: Union[str, "os.PathLike[str]", bytes],
        *,
        name: Optional[str] = None,
        mime_type: Optional[str] = None,
    ) -> Object:
        """Uploads a path or bytes (at most 25 MiB) and returns the file. Pass its ``file_id`` as an argument."""
        if isinstance(file, bytes):
            data, name = file, name or "file"
        else:
            path = os.fspath(file)
            with open(path, "rb") as opened:
                data = opened.read()
            name = name or os.path.basename(path)
        kind = mime_type or mimetypes.guess_type(name)[0] or "application/octet-stream"
        boundary = uuid.uuid4().hex
        safe = name.replace("\\", "_").replace('"', "_").replace("\r", "_").replace("\n", "_")
        head = (
            '--%s\r\nContent-Disposition: form-data; name="file"; filename="%s"\r\nContent-Type: %s\r\n\r\n'
            % (boundary, safe, kind)
        ).encode("utf-8")
        raw = head + data + ("\r\n--%s--\r\n" % boundary).encode("ascii")
        headers = {"Content-Type": "multipart/form-data; boundary=" + boundary}
        response = self._client._caller.send("POST", "/api/v1/files", raw=raw, headers=headers, retried=False)
        return _object(json.loads(response.body.decode("utf-8"), object_hook=Object))

    def download(self, file: Union[str, Mapping[str, Any]]) -> bytes:
        """Returns the content of a file: an id, or one of a run's ``files``."""
        file_id = file if isinstance(file, str) else str(file["file_id"])
        return self._client._caller.send("GET", "/api/v1/files/%s" % quote(file_id)).body


def _given(**values: Any) -> Dict[str, Any]:
    """Returns the values that are not None."""
    return {k: v for k, v in values.items() if v is not None}


def _object(value: Any) -> Object:
    return value if isinstance(value, Object) else Object(value or {})
