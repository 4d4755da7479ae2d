"""Verification of signed events, by the rules of Standard Webhooks."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from typing import Any, Iterable, List, Mapping, Optional, Union

from ._errors import WebhookVerificationError
from ._objects import Object


def verify_webhook(
    body: Union[bytes, str],
    headers: Mapping[str, Any],
    secret: Union[str, Iterable[str]],
    *,
    tolerance: float = 300.0,
    now: Optional[float] = None,
) -> Object:
    """Returns the event in ``body`` if one of its signatures is valid.

    ``body`` is the raw request body, before any parsing. ``headers`` may have any case and may hold
    lists of values. ``secret`` is a ``whsec_`` string, or several of them while a secret rotates.
    ``tolerance`` is in seconds, to either side.

    Raises WebhookVerificationError otherwise.
    """
    raw = body.encode("utf-8") if isinstance(body, str) else bytes(body)
    message_id = _header(headers, "webhook-id")
    timestamp = _header(headers, "webhook-timestamp")
    signatures = _header(headers, "webhook-signature")
    if not timestamp.isascii() or not timestamp.isdigit():
        raise WebhookVerificationError("The header webhook-timestamp is not a number.", code="invalid_timestamp")
    current = time.time() if now is None else now
    if abs(current - int(timestamp)) > tolerance:
        raise WebhookVerificationError("The webhook's timestamp is too far from now.", code="timestamp_out_of_range")

    signed = b".".join([message_id.encode("utf-8"), timestamp.encode("ascii"), raw])
    secrets = [secret] if isinstance(secret, str) else list(secret)
    expected = [hmac.new(_key(s), signed, hashlib.sha256).digest() for s in secrets]
    valid = False
    for given in _version_1(signatures):
        for want in expected:
            valid = hmac.compare_digest(given, want) or valid
    if not valid:
        raise WebhookVerificationError("No signature of the webhook is valid.", code="invalid_signature")
    try:
        event = json.loads(raw.decode("utf-8"), object_hook=Object)
    except ValueError:
        raise WebhookVerificationError("The body is not JSON.", code="invalid_body") from None
    if not isinstance(event, Object):
        raise WebhookVerificationError("The body is not a JSON object.", code="invalid_body")
    return event


def _key(secret: str) -> bytes:
    text = secret[len("whsec_") :] if secret.startswith("whsec_") else secret
    try:
        key = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not key:
        raise WebhookVerificationError("The secret is not of the form whsec_<base64>.", code="invalid_secret")
    return key


def _version_1(signatures: str) -> List[bytes]:
    found = []
    for part in signatures.split(" "):
        version, _, text = part.partition(",")
        if version != "v1":
            continue
        try:
            found.append(base64.b64decode(text, validate=True))
        except (binascii.Error, ValueError):
            continue
    return found


def _header(headers: Mapping[str, Any], name: str) -> str:
    for key in headers:
        if str(key).lower() == name:
            value = headers[key]
            if isinstance(value, (list, tuple)):
                value = value[0] if len(value) == 1 else ""
            if isinstance(value, bytes):
                value = value.decode("latin-1")
            if isinstance(value, str) and value:
                return value
    raise WebhookVerificationError("The header %s is missing." % name, code="missing_header")
