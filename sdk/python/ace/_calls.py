"""Tool calls as models write them, and the messages that carry the results back."""

from __future__ import annotations

import json
from typing import Any, Dict, List, NamedTuple, Optional

from ._objects import Object, Run


class ModelCall(NamedTuple):
    """A model's call: its dialect, id, tool and arguments. ``problem`` is set if the arguments are unreadable."""

    dialect: str
    id: Optional[str]
    name: str
    arguments: Dict[str, Any]
    problem: Optional[str]


def field(value: Any, name: str) -> Any:
    """Returns a field of a dictionary or of an SDK's object, or None."""
    if isinstance(value, dict):
        return value.get(name)
    return getattr(value, name, None)


def read_call(value: Any) -> Optional[ModelCall]:
    """Returns the call that ``value`` is, or None if it is none in any dialect.

    OpenAI chat:      {"id", "type": "function", "function": {"name", "arguments": "<json>"}}
    OpenAI responses: {"type": "function_call", "call_id", "name", "arguments": "<json>"}
    Anthropic:        {"type": "tool_use", "id", "name", "input": {}}
    Gemini:           {"name", "args": {}}, or a part {"functionCall": {...}}
    """
    kind = field(value, "type")
    function = field(value, "function")
    if function is not None and field(function, "name"):
        return _with_text("openai", field(value, "id"), field(function, "name"), field(function, "arguments"))
    if kind == "function_call":
        return _with_text("openai_responses", field(value, "call_id"), field(value, "name"), field(value, "arguments"))
    if kind == "tool_use":
        return _with_object("anthropic", field(value, "id"), field(value, "name"), field(value, "input"))
    inner = field(value, "functionCall") or field(value, "function_call")
    if inner is not None and field(inner, "name"):
        return _with_object("gemini", field(inner, "id"), field(inner, "name"), field(inner, "args"))
    if kind is None and field(value, "name") and not isinstance(value, str):
        return _with_object("gemini", field(value, "id"), field(value, "name"), field(value, "args"))
    return None


def calls_in(message: Any) -> List[ModelCall]:
    """Returns every call of an assistant's message, response, or list of parts, in order."""
    found: List[ModelCall] = []
    _collect(message, found)
    return found


def _collect(value: Any, found: List[ModelCall]) -> None:
    if value is None or isinstance(value, (str, bytes)):
        return
    if isinstance(value, (list, tuple)):
        for one in value:
            _collect(one, found)
        return
    if field(value, "type") in ("function_call", "tool_use") or _is_chat_call(value) or _is_gemini_part(value):
        call = read_call(value)
        if call is not None:
            found.append(call)
        return
    for name in ("choices", "message", "tool_calls", "output", "content", "candidates", "parts", "function_calls"):
        inside = field(value, name)
        if inside is not None and not callable(inside):
            _collect(inside, found)


def _is_chat_call(value: Any) -> bool:
    return field(value, "type") == "function" and field(value, "function") is not None


def _is_gemini_part(value: Any) -> bool:
    if field(value, "functionCall") is not None or field(value, "function_call") is not None:
        return True
    return field(value, "type") is None and bool(field(value, "name")) and field(value, "args") is not None


def _with_text(dialect: str, call_id: Any, name: Any, text: Any) -> ModelCall:
    try:
        arguments = json.loads(text) if text else {}
    except (TypeError, ValueError):
        return ModelCall(dialect, call_id, str(name), {}, "The arguments are not valid JSON.")
    return _with_object(dialect, call_id, name, arguments)


def _with_object(dialect: str, call_id: Any, name: Any, arguments: Any) -> ModelCall:
    if arguments is None:
        arguments = {}
    try:
        plain = dict(arguments)
    except (TypeError, ValueError):
        return ModelCall(dialect, call_id, str(name), {}, "The arguments are not an object.")
    return ModelCall(dialect, call_id, str(name), plain, None)


class ToolResult(Run):
    """The result of a run, or of one of the six tools, with the reply for the model that asked."""

    def __init__(self, value: Dict[str, Any], call: Optional[ModelCall] = None) -> None:
        super().__init__(value)
        # Not a field of the result: it would be sent to the model.
        object.__setattr__(self, "_call", call)

    def as_message(self) -> Dict[str, Any]:
        """Returns the reply in the dialect of the model's call.

        Raises ValueError if the run was not started from a model's call.
        """
        call: Optional[ModelCall] = object.__getattribute__(self, "_call")
        if call is None:
            raise ValueError("as_message needs a run that was started with a model's tool call.")
        content = json.dumps(self, ensure_ascii=False, separators=(",", ":"))
        failed = self.get("ok") is False
        if call.dialect == "openai":
            return {"role": "tool", "tool_call_id": call.id, "content": content}
        if call.dialect == "openai_responses":
            return {"type": "function_call_output", "call_id": call.id, "output": content}
        if call.dialect == "anthropic":
            return {"type": "tool_result", "tool_use_id": call.id, "content": content, "is_error": failed}
        response: Dict[str, Any] = {"name": call.name, "response": dict(self)}
        if call.id:
            response["id"] = call.id
        return {"functionResponse": response}


def refused(code: str, detail: str, next_action: str, extra: Optional[Dict[str, Any]] = None) -> Dict[str, Any]:
    """Returns a result that tells a model what it did wrong, in the shape of a run that failed."""
    error = Object(code=code, detail=detail, retryable=False, next_action=next_action)
    error.update(extra or {})
    return {"ok": False, "status": "failed", "output": None, "error": error}
