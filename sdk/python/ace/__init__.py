"""ACE: one API key, every app that an account has connected.

    from ace import ACE

    ace = ACE()                                     # reads ACE_API_KEY
    print(ace.apps.connect("github").url)           # a person opens this once
    found = ace.tools.find("open an issue")
    run = ace.tools.run(found["tools"][0]["tool"], {"title": "Broken link"})
"""

from ._async import AsyncACE, AsyncLink
from ._calls import ToolResult
from ._client import ACE, Link
from ._errors import (
    ACEError,
    AuthError,
    ConnectionFailedError,
    InvalidArgumentsError,
    NotConnectedError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitError,
    RequestTimeoutError,
    ServerError,
    WebhookVerificationError,
)
from ._http import Response, Transport
from ._objects import Connection, ConnectLink, ConnectSession, FoundTools, Object, Page, Run, Tool, Trigger, TriggerEvent
from ._platform import VERSION as __version__
from ._webhooks import verify_webhook

__all__ = [
    "ACE",
    "ACEError",
    "AsyncACE",
    "AsyncLink",
    "AuthError",
    "ConnectLink",
    "ConnectSession",
    "Connection",
    "ConnectionFailedError",
    "FoundTools",
    "InvalidArgumentsError",
    "Link",
    "NotConnectedError",
    "NotFoundError",
    "Object",
    "Page",
    "PermissionDeniedError",
    "RateLimitError",
    "RequestTimeoutError",
    "Response",
    "Run",
    "ServerError",
    "Tool",
    "ToolResult",
    "Transport",
    "Trigger",
    "TriggerEvent",
    "WebhookVerificationError",
    "__version__",
    "verify_webhook",
]
