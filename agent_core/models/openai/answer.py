"""Assemble an answer from the chunks of a chat-completions stream; pure."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from agent_core.ids import CallId
from agent_core.models.arguments import read_object
from agent_core.models.contract import ModelAnswer, ModelRequest, StopReason, Usage
from agent_core.models.token_estimate import estimate_usage
from agent_core.transcript import Message, Part, TextPart, ToolCallPart

_STOPS: Mapping[str, StopReason] = {
    "stop": "end",
    "tool_calls": "tools",
    "function_call": "tools",
    "length": "length",
    "content_filter": "refusal",
}


@dataclass(slots=True)
class _PartialCall:
    """An incomplete tool call."""

    call_id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


class AnswerReader:
    """Reads a stream's chunks in order; `finish` returns the answer.

    Ignores unknown fields such as `reasoning_content`.
    """

    def __init__(self, request: ModelRequest) -> None:
        self._request = request
        self._answered = request.model
        self._texts: list[str] = []
        self._calls: dict[int, _PartialCall] = {}
        self._stop = ""
        self._is_refused = False
        self._usage: Usage | None = None
        self.has_begun = False

    @property
    def is_whole(self) -> bool:
        """True once the stop reason is known: only usage may follow."""
        return bool(self._stop)

    def read(self, chunk: object) -> str:
        """Read one chunk; return the text that it adds to the answer, or "".

        Raises `ValueError` for a malformed chunk.
        """
        self.has_begun = True
        try:
            return self._take(cast(dict[str, Any], chunk))
        except (KeyError, TypeError, AttributeError, IndexError) as error:
            raise ValueError(f"a chunk lacks a required field: {error!r}") from error

    def _take(self, chunk: dict[str, Any]) -> str:
        self._answered = chunk.get("model") or self._answered
        if chunk.get("usage"):
            self._usage = _read_usage(chunk["usage"])
        text = ""
        for choice in (chunk.get("choices") or ())[:1]:
            delta = choice.get("delta") or {}
            if delta.get("refusal"):
                self._is_refused = True
            text = (delta.get("content") or "") + (delta.get("refusal") or "")
            for call in delta.get("tool_calls") or ():
                self._grow(call)
            self._stop = choice.get("finish_reason") or self._stop
        if text:
            self._texts.append(text)
        return text

    def finish(self) -> ModelAnswer:
        """Return the answer so far. It contains calls only if they may run."""
        stop = self._judge_stop()
        parts: list[Part] = [TextPart(text="".join(self._texts))] if self._texts else []
        if stop == "tools":
            parts += [
                ToolCallPart(
                    call_id=CallId(call.call_id or f"call_{place}"),
                    name=call.name,
                    arguments="".join(call.arguments) or "{}",
                )
                for place, call in sorted(self._calls.items())
            ]
        message = Message(role="assistant", parts=tuple(parts))
        return ModelAnswer(
            message=message,
            stop=stop,
            usage=self._usage or estimate_usage(self._request, message),
            model=self._answered,
        )

    def _judge_stop(self) -> StopReason:
        if self._is_refused:
            return "refusal"
        stop = _STOPS.get(self._stop, "unknown")
        if stop == "end" and self._calls and all(map(_is_whole, self._calls.values())):
            # Some servers report "stop" even if the answer contains calls.
            return "tools"
        return "unknown" if stop == "tools" and not self._calls else stop

    def _grow(self, delta: dict[str, Any]) -> None:
        """Add a piece to its call.

        Only the first piece has name and id. If a server sends no index, a new id starts a new
        call.
        """
        place = delta.get("index")
        call_id = delta.get("id") or ""
        if place is None:
            place = max(self._calls, default=0)
            if place in self._calls and call_id not in ("", self._calls[place].call_id):
                place += 1
        call = self._calls.setdefault(int(place), _PartialCall())
        call.call_id = call.call_id or call_id
        function = delta.get("function") or {}
        call.name = call.name or function.get("name") or ""
        given = function.get("arguments")
        if given:
            call.arguments.append(given if isinstance(given, str) else json.dumps(given))


def _is_whole(call: _PartialCall) -> bool:
    return bool(call.name) and read_object("".join(call.arguments) or "{}") is not None


def _read_usage(usage: dict[str, Any]) -> Usage:
    """Split `prompt_tokens`, which includes cached input, into separate counts."""
    cached = int((usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0)
    prompt = int(usage.get("prompt_tokens") or 0)
    return Usage(
        input_tokens=max(0, prompt - cached),
        cache_read_tokens=min(cached, prompt),
        output_tokens=int(usage.get("completion_tokens") or 0),
    )
