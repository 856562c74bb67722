"""Assemble an answer from the chunks of a chat-completions stream; pure."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from agent_core.ids import CallId
from agent_core.models.arguments import join_arguments, read_object
from agent_core.models.contract import ModelAnswer, ModelRequest, StopReason, Usage
from agent_core.models.http import most_letters
from agent_core.models.openai.pieces import Pieces
from agent_core.models.openai.state import CALL_FIELDS, StateReader
from agent_core.models.token_estimate import estimate_usage
from agent_core.models.written import WrittenText
from agent_core.transcript import Message, Part, TextPart, ToolCallPart

_STOPS: Mapping[str, StopReason] = {
    "tool_calls": "tools",
    "tool_call": "tools",
    "tool_use": "tools",
    "function_call": "tools",
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "refusal",
    "content_filtered": "refusal",
    "refusal": "refusal",
    "safety": "refusal",
    "recitation": "refusal",
    "prohibited_content": "refusal",
    "blocklist": "refusal",
    "spii": "refusal",
    "sensitive": "refusal",
    "error_toxic": "refusal",
    "guardrail_intervened": "refusal",
    "model_context_window_exceeded": "overflow",
}
"""The reasons that say more than that an answer has ended, in lower case."""

_NONE = ("", "null", "none")
_MOST_TOKENS = 2**53
_FAULTS = ("error", "network_error", "insufficient_system_resource", "abort", "cancelled")
"""Reasons of an answer that its server could not complete."""


@dataclass(slots=True)
class _PartialCall:
    """An incomplete tool call."""

    place: int
    call_id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    state: dict[str, Any] = field(default_factory=dict)
    is_named_again: bool = False

    @property
    def arguments(self) -> str:
        return join_arguments(self.pieces)

    @property
    def is_whole(self) -> bool:
        return bool(self.name) and read_object(self.arguments) is not None

    @property
    def has_ended(self) -> bool:
        """True if its arguments are whole, and not only not yet begun."""
        if not self.pieces or not self.pieces[-1].rstrip().endswith(("}", '"')):
            return False
        return read_object(self.arguments) is not None


class AnswerReader:
    """Reads a stream's chunks in order; `finish` returns the answer.

    Ignores unknown fields.
    """

    def __init__(self, request: ModelRequest, *, begins_in_thought: bool = False) -> None:
        """`begins_in_thought` is True for a model whose prompt opens the thought."""
        self._request = request
        self._tools = {tool.name: tool for tool in request.tools}
        self._answered = request.model
        self._written = WrittenText(request, begins_in_thought=begins_in_thought)
        self._pieces = Pieces()
        self._state = StateReader()
        self._calls: list[_PartialCall] = []
        self._open: dict[int | None, _PartialCall] = {}
        self._letters = 0
        self._stop = ""
        self._is_refused = False
        self._is_broken = False
        self._usage: Usage | None = None
        self.has_begun = False
        self.has_ended = False
        """Set once the server said that nothing follows."""

    @property
    def is_whole(self) -> bool:
        """True once the stop reason is known, or the server ended an answer that holds something.

        Only usage may follow.
        """
        if self._stop:
            return self._stop not in _FAULTS
        return self.has_ended and self.has_content

    @property
    def is_too_long(self) -> bool:
        """True if the server wrote on far beyond its limit; no more should be read."""
        return self._letters > most_letters(self._request.max_output_tokens)

    @property
    def has_content(self) -> bool:
        """True if what came can be used: whole calls, or words without a call."""
        if self._calls:
            return all(call.is_whole for call in self._calls)
        return bool(self._written.text)

    @property
    def is_silent(self) -> bool:
        """True if something came, and no word of whether that is all."""
        return self.has_content and not (self._stop or self.has_ended)

    @property
    def words(self) -> str:
        """The words so far; "" if a call has begun, which would be lost."""
        return "" if self._calls else self._written.text

    @property
    def has_lost_opening(self) -> bool:
        """True if the answer began within a thought."""
        return self._written.has_lost_opening

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
        if isinstance(chunk.get("model"), str):
            self._answered = chunk["model"] or self._answered
        if isinstance(chunk.get("usage"), dict):
            self._usage = _read_usage(chunk["usage"]) or self._usage
        # One answer was asked for: some servers put its words and its calls into two choices.
        is_first = not (self._calls or self._pieces.has_begun)
        choices = (one for one in chunk.get("choices") or () if isinstance(one, dict))
        text = "".join([self._take_choice(choice, is_first) for choice in choices])
        if self.is_too_long:
            self._stop = "length"
        return text

    def _take_choice(self, choice: dict[str, Any], is_first: bool) -> str:
        """Read a choice. A server that doesn't stream sends the message itself.

        Some servers end a stream with the whole message, which adds nothing.
        """
        delta, message = choice.get("delta"), choice.get("message") if is_first else None
        given = next((one for one in (delta, message) if one and isinstance(one, dict)), {})
        text = self._take_delta(given)
        stop = str(choice.get("finish_reason") or "").strip().lower()
        if stop not in _NONE:
            self._stop = stop
        return self._written.feed(text) if text else ""

    def _take_delta(self, delta: dict[str, Any]) -> str:
        """Read a delta; return the words that it adds."""
        refusal = delta.get("refusal")
        if refusal:
            self._is_refused = True
        self._state.read(delta)
        calls = delta.get("tool_calls") or ()
        for call in calls if isinstance(calls, list) else (calls,):
            if isinstance(call, dict):
                self._grow(call)
        if isinstance(delta.get("function_call"), dict):  # the older form of a single call
            self._grow({"function": delta["function_call"]})
        said = self._pieces.feed(_read_content(delta.get("content")))
        self._letters += len(said)
        return said + (refusal if isinstance(refusal, str) else "")

    def end(self, *, is_broken: bool = False) -> str:
        """Read no more; return the rest of the text.

        `is_broken` means that the server never said that the answer has ended.
        """
        self._is_broken = is_broken
        can_end = _STOPS.get(self._stop, "end") in ("tools", "end")
        may_call = can_end and not (is_broken or self._calls or self._is_refused)
        rest = self._written.feed(self._pieces.finish()) + self._written.finish(may_call=may_call)
        if may_call and not self._written.text.strip():
            self._written.read_thoughts(self._state.thoughts)
        for call in self._written.calls:
            place = len(self._calls)
            self._calls.append(_PartialCall(place=place, name=call.name, pieces=[call.arguments]))
        return rest

    def finish(self) -> ModelAnswer:
        """Return the answer after its `end`. It contains calls only if they may run."""
        stop = self._judge_stop(self._is_broken)
        calls = self._list_calls() if stop == "tools" else []
        state = self._state.dump(self._request.model, [call.state for call in calls])
        text = self._written.text
        parts: list[Part] = [state] if state else []
        parts += [TextPart(text=text)] if text else []
        parts += [
            ToolCallPart(
                call_id=CallId(call.call_id or f"call_{place}"),
                name=call.name,
                arguments=call.arguments,
            )
            for place, call in enumerate(calls)
        ]
        message = Message(role="assistant", parts=tuple(parts))
        return ModelAnswer(
            message=message,
            stop=stop,
            usage=self._usage or estimate_usage(self._request, message),
            model=self._answered,
        )

    def _judge_stop(self, is_broken: bool) -> StopReason:
        """Return the reason of the end. Whole calls decide, unless the answer may not be used."""
        if self._is_refused:
            return "refusal"
        stop = _STOPS.get(self._stop, "end")
        if stop not in ("tools", "end"):
            return stop
        calls = self._list_calls()
        if calls and (stop == "tools" or all(call.is_whole for call in calls)):
            return "tools"
        # An answer without words is asked for again; words may be an announcement of a lost call.
        is_announced = stop == "tools" and bool(self._written.text)
        return "unknown" if is_broken or is_announced else "end"

    def _list_calls(self) -> list[_PartialCall]:
        """Return the calls in their order, without those that hold nothing at all."""
        found = [call for call in self._calls if call.call_id or call.name or call.pieces]
        return sorted(found, key=lambda call: call.place)

    def _grow(self, delta: dict[str, Any]) -> None:
        """Add a piece to its call; see `_begins`."""
        function = delta.get("function") or {}
        call_id, name = str(delta.get("id") or ""), str(function.get("name") or "")
        piece = _read_piece(function.get("arguments"))
        place = delta.get("index") if isinstance(delta.get("index"), int) else None
        call = self._find_open(place, call_id)
        if call is None or _begins(call, call_id, name, piece):
            last = call.place if call is not None else len(self._calls)
            name = name or (call.name if call is not None and call.is_named_again else "")
            call = _PartialCall(place=last if place is None else place)
            self._calls.append(call)
            self._open[place] = call
        elif name and not piece and call.has_ended:
            call.is_named_again = True
        call.call_id = call.call_id or call_id
        call.name = self._join_name(call.name, name)
        if piece:
            call.pieces.append(piece)
            self._letters += len(piece)
        call.state.update({key: delta[key] for key in CALL_FIELDS if delta.get(key)})

    def _join_name(self, name: str, piece: str) -> str:
        """Return a name with one more piece; most servers send it once, or whole in each piece."""
        is_whole = not name or (name in self._tools and piece in self._tools)
        if is_whole or name == piece:
            return name or piece
        return name + piece

    def _find_open(self, place: int | None, call_id: str) -> _PartialCall | None:
        """Return the call that a piece with this index and id may belong to."""
        if place is not None:
            return self._open.get(place)
        same = (call for call in reversed(self._calls) if call_id and call.call_id == call_id)
        return next(same, self._calls[-1] if self._calls else None)


def _begins(call: _PartialCall, call_id: str, name: str, piece: str) -> bool:
    """True if a piece begins a new call, instead of adding to this one.

    Some servers give all calls one index, or none. A new id with a name starts a new call, or a
    name when the call before is whole. A repetition of what came does not.
    """
    has_other_id = bool(call_id and call.call_id and call_id != call.call_id)
    if has_other_id and name:
        return True
    if not call.has_ended:
        return False
    if has_other_id or (name and name != call.name):
        return bool(name or piece)
    if not piece or call.is_named_again:
        return bool(piece)
    is_repeated = call.arguments.strip() == "{}" or piece.startswith("".join(call.pieces[-1:]))
    return bool(name) and not is_repeated


def _read_content(content: object) -> str:
    """Return the words of a content, which may be a list of parts; thoughts are left out."""
    if isinstance(content, str) or content is None:
        return content or ""
    if isinstance(content, list):
        return "".join(_read_part(part) for part in content)
    if isinstance(content, dict):
        return _read_part(content)
    return json.dumps(content)  # a number that its server took for one


def _read_part(part: object) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict) or part.get("type", "text") not in ("text", "output_text"):
        return ""
    return part["text"] if isinstance(part.get("text"), str) else ""


def _read_piece(given: object) -> str:
    """Return a piece of arguments as text; some servers send them as an object."""
    if given is None:
        return ""
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)


def _read_usage(usage: dict[str, Any]) -> Usage | None:
    """Split `prompt_tokens`, which includes cached input; None if a server counts nothing."""
    details = usage.get("prompt_tokens_details")
    cached = _read_count(details if isinstance(details, dict) else {}, "cached_tokens")
    prompt = _read_count(usage, "prompt_tokens", "input_tokens")
    output = _read_count(usage, "completion_tokens", "output_tokens")
    if not (prompt or output):
        return None
    return Usage(
        input_tokens=max(0, prompt - cached),
        cache_read_tokens=min(cached, prompt),
        output_tokens=output,
    )


def _read_count(counts: dict[str, Any], *names: str) -> int:
    """Return the first count by any of its names; 0 for anything that is no count."""
    found = next((counts[name] for name in names if counts.get(name)), 0)
    is_count = isinstance(found, int | float) and 0 <= found < _MOST_TOKENS
    return int(found) if is_count else 0
