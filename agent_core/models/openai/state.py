"""Keep what a server wants back with the model's own message; pure."""

import json
from typing import Any

from agent_core.transcript import Message, RawPart

PROVIDER = "openai"
THOUGHTS = ("reasoning_content", "reasoning")
DETAILS = "reasoning_details"
CALL_FIELDS = ("extra_content", "provider_specific_fields", "thought_signature")
"""The fields of a call that some servers want back, such as Gemini's signatures of thoughts."""
FIELDS = (*THOUGHTS, DETAILS, *CALL_FIELDS)
_CALLS = "calls"
_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class StateReader:
    """Collects the fields of one answer."""

    def __init__(self) -> None:
        self._thoughts: dict[str, list[str]] = {}
        self._details: list[dict[str, Any]] = []
        self._extra: object = None

    def read(self, delta: dict[str, Any]) -> None:
        """Take the fields of one delta."""
        for name in THOUGHTS:
            if delta.get(name) and isinstance(delta[name], str):
                self._thoughts.setdefault(name, []).append(delta[name])
        details = delta.get(DETAILS)
        for detail in details if isinstance(details, list) else ():
            if isinstance(detail, dict):
                self._add_detail(detail)
        extra = delta.get("extra_content")
        if extra and "thought_signature" in json.dumps(extra):
            self._extra = extra

    @property
    def thoughts(self) -> str:
        """The thoughts of the answer."""
        return "".join(piece for pieces in self._thoughts.values() for piece in pieces)

    def dump(self, model: str, calls: list[dict[str, Any]]) -> RawPart | None:
        """Return the part that keeps the fields; `calls` are those of each call, in order."""
        payload: dict[str, Any] = {name: "".join(said) for name, said in self._thoughts.items()}
        if self._details:
            payload[DETAILS] = self._details
        if self._extra:
            payload["extra_content"] = self._extra
        if any(calls):
            payload[_CALLS] = calls
        if not payload:
            return None
        return RawPart(provider=PROVIDER, model=model, payload=_ENCODE(payload))

    def _add_detail(self, detail: dict[str, Any]) -> None:
        """Add a piece of a detail; pieces with the same index belong together."""
        last = self._details[-1] if self._details else None
        key = ("type", "index")
        if last is None or "index" not in detail or any(last.get(k) != detail.get(k) for k in key):
            self._details.append(dict(detail))
            return
        for name, value in detail.items():
            if name in ("text", "summary", "data") and isinstance(value, str):
                last[name] = (last.get(name) or "") + value
            elif value is not None:
                last[name] = value


def load_state(message: Message, model: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the kept fields of a message and of its calls, if this model wrote it."""
    for part in message.parts:
        if isinstance(part, RawPart) and (part.provider, part.model) == (PROVIDER, model):
            payload = json.loads(part.payload)
            return payload, payload.pop(_CALLS, [])
    return {}, []
