"""Errors that the client raises. All of them are ACEError."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional


class ACEError(Exception):
    """A request failed.

    ``status`` is the HTTP status (0 if there was no response), ``code`` the stable code of the
    problem, ``next_action`` what helps, and ``problem`` the whole problem body (RFC 9457).
    """

    def __init__(
        self,
        detail: str,
        *,
        status: int = 0,
        code: str = "",
        problem: Optional[Mapping[str, Any]] = None,
        request_id: Optional[str] = None,
        retry_after: Optional[float] = None,
    ) -> None:
        super().__init__(detail if not code else "%s (%s)" % (detail, code))
        body: Dict[str, Any] = dict(problem or {})
        self.detail = detail
        self.status = status
        self.code = code
        self.problem = body
        self.request_id: Optional[str] = request_id or body.get("request_id")
        self.next_action: str = body.get("next_action") or "none"
        connect = body.get("connect")
        self.connect_url: Optional[str] = connect.get("url") if isinstance(connect, dict) else None
        self.retry_after = retry_after


class AuthError(ACEError):
    """401: the API key is missing, unknown, expired or revoked."""


class PermissionDeniedError(ACEError):
    """403: the key may not do this."""


class NotFoundError(ACEError):
    """404 or 410: there is no such thing, or it is gone."""


class NotConnectedError(ACEError):
    """409: the app is not connected, or must be connected again. ``connect_url`` is set if the key may connect."""


class InvalidArgumentsError(ACEError):
    """400 or 422: the request is refused; ``problem["errors"]`` names the fields."""


class RateLimitError(ACEError):
    """429 after all retries; ``retry_after`` is in seconds."""


class ServerError(ACEError):
    """5xx after all retries."""


class ConnectionFailedError(ACEError):
    """The platform could not be reached."""


class RequestTimeoutError(ACEError):
    """The time limit of the client passed before the response came."""


class WebhookVerificationError(ACEError):
    """A webhook's signature, timestamp or headers are wrong. Respond with 400 and do nothing else."""


def error_for(
    status: int,
    problem: Mapping[str, Any],
    request_id: Optional[str],
    retry_after: Optional[float],
) -> ACEError:
    """Returns the error of a response that is not 2xx."""
    code = str(problem.get("code") or "")
    kind = ACEError
    if status == 401:
        kind = AuthError
    elif status == 403:
        kind = PermissionDeniedError
    elif status in (404, 410):
        kind = NotFoundError
    elif code in ("not_connected", "reconnect_required"):
        kind = NotConnectedError
    elif status in (400, 413, 415, 422):
        kind = InvalidArgumentsError
    elif status == 429:
        kind = RateLimitError
    elif status >= 500:
        kind = ServerError
    detail = str(problem.get("detail") or problem.get("title") or "The platform responded with status %d." % status)
    return kind(
        detail, status=status, code=code, problem=problem, request_id=request_id, retry_after=retry_after
    )
