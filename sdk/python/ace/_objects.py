"""What the client returns: dictionaries whose keys can also be read as attributes."""

from __future__ import annotations

from typing import Any, Dict, List, Optional


class Object(Dict[str, Any]):
    """A JSON object. ``link["url"]`` and ``link.url`` are the same."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError("no field %r; there are: %s" % (name, ", ".join(self))) from None


class Page(Object):
    """One page of a list. ``next_cursor`` is None on the last page."""

    next_cursor: Optional[str]


class ConnectLink(Object):
    """A link that a person opens to connect an app."""

    url: str
    session_id: str
    app: str
    status: str
    expires_at: str


class ConnectSession(Object):
    """How connecting goes: pending, opened, connected, failed, expired or canceled."""

    id: str
    app: str
    status: str
    connection_id: Optional[str]


class Connection(Object):
    """A connected app."""

    id: str
    app: str
    label: Optional[str]
    status: str
    status_reason: Optional[str]


class FoundTools(Object):
    """Tools that fit a task. ``hint`` says why there are none."""

    tools: List[Object]
    not_connected: List[Object]
    hint: Optional[str]


class Tool(Object):
    """A tool's whole description."""

    tool: str
    app: str
    name: str
    description: str
    input_schema: Dict[str, Any]


class Run(Object):
    """A run of a tool. ``ok`` is False if the app refused; ``error`` then says why."""

    run_id: Optional[str]
    tool: str
    status: str
    ok: bool
    output: Any
    error: Optional[Object]
    next_output_cursor: Optional[str]
    next_arguments: Optional[Dict[str, Any]]


class Trigger(Object):
    """A watched event. ``signing_secret`` is there only when it is created or its secret replaced."""

    id: str
    app: str
    event: str
    status: str
    status_reason: Optional[str]
    connection_id: Optional[str]
    webhook_url: str
    signing_secret: str


class TriggerEvent(Object):
    """An event of a trigger. Its ``id`` is the webhook-id of all its deliveries."""

    id: str
    type: str
    sequence: int
    status: str
    data: Any
    deliveries: List[Object]
