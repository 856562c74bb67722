"""Messages of an agent file of Letta, as turns of a conversation and back. Pure."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from agent_core.ids import CallId
from agent_core.transcript import (
    Message,
    Part,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    make_source,
)

_MOST_MESSAGES = 100_000
_LONGEST_TEXT = 100_000
"""Characters of one message; a longer text is cut."""
_TOOL = re.compile(r"[A-Za-z0-9_-]{1,64}")
_EVENTS = "{count} event{s} of Letta among the messages"
_SYSTEM = "{count} message{s} with a system prompt"
_OTHER = "{count} message{s} of a kind that Talaria does not have"
_CALLS = "{count} call{s} of a tool without a result"
_CUT = "the end of {count} long message{s}"
_PICTURES = "{count} picture{s}"
_SPEAK = "send_message"
"""The tool with which agents of Letta's first form speak; what they write beside it is thought."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CarriedTurn:
    """A message and the answer to it. Times are in milliseconds."""

    began_at: int
    ended_at: int
    messages: tuple[Message, ...]


@dataclass(slots=True, kw_only=True)
class _Turn:
    at: int
    ended_at: int
    messages: list[Message] = field(default_factory=list)


class _Reader:
    """Gathers messages to turns: each begins with a message of a person."""

    def __init__(self, source: str, *, speaks_by_tool: bool) -> None:
        self.odd: Counter[str] = Counter()
        self._turns: list[_Turn] = []
        self._sources = (make_source("file", source),)
        self._speaks_by_tool = speaks_by_tool
        self._open: dict[str, ToolCallPart] = {}
        self._results: dict[str, ToolResultPart] = {}
        self._parts: list[Part] = []
        self._calls = 0

    def add(self, row: Mapping[str, Any], at: int) -> None:
        """Add the next message of the file. Raises `ValueError`."""
        role = row.get("role")
        if role == "tool":
            self._add_results(row, at)
            return
        self._close(at)
        if role == "user":
            text = _unpack(self._read_text(row))
            if text is None:
                self.odd[_EVENTS] += 1
            elif text:
                self._turns.append(_Turn(at=at, ended_at=at))
                self._turns[-1].messages.append(Message(role="user", parts=(TextPart(text=text),)))
        elif role == "assistant":
            self._add_answer(row, at)
        elif role == "system":
            self.odd[_SYSTEM] += 1
        elif role in ("approval", "summary", "function"):
            self.odd[_OTHER] += 1
        else:
            raise ValueError("a message has an unknown role")

    def finish(self, at: int) -> tuple[CarriedTurn, ...]:
        """Return the turns."""
        self._close(at)
        return tuple(
            CarriedTurn(began_at=one.at, ended_at=one.ended_at, messages=tuple(one.messages))
            for one in self._turns
        )

    def _add_answer(self, row: Mapping[str, Any], at: int) -> None:
        texts = [] if self._speaks_by_tool else [self._read_text(row)]
        calls = row.get("tool_calls") or []
        if not isinstance(calls, list):
            raise ValueError("tool_calls must be a list")
        for call in calls:
            made = call.get("function") if isinstance(call, Mapping) else None
            if not isinstance(made, Mapping):
                raise ValueError("a call of a tool must have a function")
            name, arguments = made.get("name"), _read_arguments(made.get("arguments"))
            if name == _SPEAK:
                said = arguments.get("message")
                texts.append(self._limit(said) if isinstance(said, str) else "")
            elif isinstance(name, str) and _TOOL.fullmatch(name):
                self._calls += 1
                self._open[str(call.get("id"))] = ToolCallPart(
                    call_id=CallId(f"af{self._calls}"),
                    name=name,
                    arguments=json.dumps(arguments, ensure_ascii=False),
                )
            else:
                self.odd[_CALLS] += 1
        self._parts = [TextPart(text=one) for one in texts if one]
        if not self._open:
            self._close(at)

    def _add_results(self, row: Mapping[str, Any], at: int) -> None:
        found = {str(row.get("tool_call_id")): self._read_text(row)}
        returns = row.get("tool_returns") or []
        if not isinstance(returns, list):
            raise ValueError("tool_returns must be a list")
        for one in returns:
            if isinstance(one, Mapping) and isinstance(one.get("func_response"), str):
                found[str(one.get("tool_call_id"))] = self._limit(one["func_response"])
        for key, text in found.items():
            if call := self._open.get(key):
                self._results[key] = ToolResultPart(
                    call_id=call.call_id, name=call.name, text=text, sources=self._sources
                )
        if self._open.keys() <= self._results.keys():
            self._close(at)

    def _close(self, at: int) -> None:
        """Write the answer that waits for its results; a call without one is left out."""
        results = [self._results[key] for key in self._open if key in self._results]
        calls = [call for key, call in self._open.items() if key in self._results]
        self.odd[_CALLS] += len(self._open) - len(calls)
        parts = (*self._parts, *calls)
        if parts:
            if not self._turns:
                self._turns.append(_Turn(at=at, ended_at=at))
            turn = self._turns[-1]
            turn.ended_at = max(at, turn.ended_at)
            turn.messages.append(Message(role="assistant", parts=parts))
            if results:
                turn.messages.append(Message(role="tool", parts=tuple(results)))
        self._parts, self._open, self._results = [], {}, {}

    def _read_text(self, row: Mapping[str, Any]) -> str:
        content = row.get("content") or []
        if isinstance(content, str):
            return self._limit(content)
        if not isinstance(content, list):
            raise ValueError("the content of a message must be a list")
        texts = []
        for one in content:
            kind = one.get("type") if isinstance(one, Mapping) else None
            if kind == "text":
                if not isinstance(one.get("text"), str):
                    raise ValueError("the text of a message must be a text")
                texts.append(one["text"])
            elif kind == "image":
                self.odd[_PICTURES] += 1
            elif not isinstance(kind, str):
                raise ValueError("the content of a message must have a type")
        return self._limit("\n\n".join(texts))

    def _limit(self, text: str) -> str:
        clean = text.replace("\0", "").encode("utf-8", "replace").decode().strip()
        if len(clean) > _LONGEST_TEXT:
            self.odd[_CUT] += 1
        return clean[:_LONGEST_TEXT]


def read_turns(
    rows: Sequence[Mapping[str, Any]], *, speaks_by_tool: bool, source: str, now: int
) -> tuple[tuple[CarriedTurn, ...], Mapping[str, int]]:
    """Return the turns of a file's messages, and what was left out, with its number.

    With `speaks_by_tool`, answers are calls of `send_message`. Times are from 0 to `now`, in
    milliseconds, and never go back. Raises `ValueError`.
    """
    if len(rows) > _MOST_MESSAGES:
        raise ValueError(f"it has more than {_MOST_MESSAGES:,} messages")
    reader, at, is_first = _Reader(source, speaks_by_tool=speaks_by_tool), 0, True
    if all(row.get("created_at") is None for row in rows):
        at = now
    for row in rows:
        at = max(at, _read_time(row.get("created_at"), now))
        # The first system message repeats the agent's own prompt.
        if not (is_first and row.get("role") == "system"):
            reader.add(row, at)
        is_first = False
    return reader.finish(at), {what: count for what, count in reader.odd.items() if count}


def write_messages(said: Sequence[tuple[Message, int]], agent_id: str) -> list[dict[str, Any]]:
    """Return messages with their times, in milliseconds, as Letta writes them."""
    written: list[dict[str, Any]] = []

    def add(role: str, text: str, at: int, **more: Any) -> None:
        written.append(
            {
                "type": "message",
                "id": f"message-{len(written)}",
                "agent_id": agent_id,
                "role": role,
                "content": [{"type": "text", "text": text}] if text else [],
                "created_at": datetime.fromtimestamp(at / 1000, UTC).isoformat(),
                **more,
            }
        )

    for message, at in said:
        if message.role == "tool":
            for one in message.parts:
                if isinstance(one, ToolResultPart):
                    add("tool", one.text, at, name=one.name, tool_call_id=one.call_id)
            continue
        calls = [
            {
                "id": one.call_id,
                "type": "function",
                "function": {"name": one.name, "arguments": one.arguments},
            }
            for one in message.parts
            if isinstance(one, ToolCallPart)
        ]
        if message.text or calls:
            add(message.role, message.text, at, **({"tool_calls": calls} if calls else {}))
    return written


def _unpack(text: str) -> str | None:
    """Return what a person said: Letta packs it in JSON. None for an event, such as a login."""
    if not text.startswith("{"):
        return text
    try:
        packed = json.loads(text)
    except (ValueError, RecursionError):
        return text
    kind, said = packed.get("type"), packed.get("message")
    if kind == "user_message" and isinstance(said, str):
        return said.strip()
    return None if kind in ("login", "heartbeat", "system_alert") else text


def _read_arguments(text: object) -> Mapping[str, Any]:
    try:
        found = json.loads(text) if isinstance(text, str) else text
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, Mapping) else {}


def _read_time(value: object, now: int) -> int:
    if value is None:
        return 0
    try:
        moment = datetime.fromisoformat(str(value)[:40])
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return min(max(round(moment.timestamp() * 1000), 0), now)
    except ValueError as error:
        raise ValueError("created_at of a message is no time") from error
    except OverflowError:
        return 0
