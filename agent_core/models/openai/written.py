"""Read thoughts and calls that a model writes into its words; pure."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agent_core.models.arguments import read_object
from agent_core.models.contract import ModelRequest
from agent_core.transcript import ToolSpec

_THOUGHTS = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<thought>": "</thought>",
    "[THINK]": "[/THINK]",
}
"""The marks around a thought, which stands at the head of an answer."""
_CALL = "<tool_call>"
_CALLS = "[TOOL_CALLS]"
_CALL_HEADS = (_CALL, _CALLS, "```json", "```tool_call", "```\n{", "{", "[{")
"""How an answer begins that may be a call."""
_LOST_OPENING = re.compile(r"\n\s*</think>|</think>[ \t]*\n|(?<=\S)</think>(?=[\w{\[*#])")
"""The end of a thought whose opening mark stood in the prompt; in prose, blanks surround it."""
_FENCE = re.compile(r"```(?:json|tool_call)?[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL)
_FUNCTION = re.compile(r"<function=([^>\s]+)>(.*?)(?:</function>|$)", re.DOTALL)
_PARAMETER = re.compile(r"<parameter=([^>\s]+)>\n?(.*?)\n?</parameter>", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenCall:
    """A call that the model wrote as words."""

    name: str
    arguments: str


class WrittenText:
    """The words of an answer, of which people see neither thoughts nor calls.

    `feed` takes the pieces in order; then `finish` tells the calls and the rest.
    """

    def __init__(self, request: ModelRequest, *, begins_in_thought: bool = False) -> None:
        """`begins_in_thought` is True for a model whose prompt opens the thought."""
        self._tools = {tool.name: tool for tool in request.tools}
        said = next((one.text for one in reversed(request.messages) if one.role == "user"), "")
        self._wants_json = bool(request.response_schema) or "json" in said.lower()
        calls = _CALL_HEADS[:2] if request.response_schema else _CALL_HEADS
        self._call_heads = calls if request.tools else ()
        self._closing = "</think>" if begins_in_thought else ""
        self._is_opened = not begins_in_thought
        self._state = "thought" if begins_in_thought else "head"
        self._pending = ""
        self._shown: list[str] = []
        self.calls: tuple[WrittenCall, ...] = ()
        self.has_lost_opening = False
        """True if a thought ended that never began."""

    @property
    def text(self) -> str:
        """The words so far, without thoughts."""
        is_thought = self._state == "thought" and self._is_opened
        return "".join(self._shown) + ("" if is_thought else self._pending)

    def feed(self, piece: str) -> str:
        """Add a piece; return what can be shown now."""
        self._pending += piece
        if self._state == "thought":
            if self._closing not in self._pending:
                return ""
            if self._is_opened:
                rest = self._pending.partition(self._closing)[2]
            else:
                found = _find_lost(self._pending)
                if found is None:
                    return ""
                rest = self._pending[found.end() :]
                self.has_lost_opening = self._is_opened = True
            self._state, self._pending = "head", rest.lstrip()
        if self._state == "head":
            self._read_head()
            if self._state == "thought":
                return self.feed("")
        return self._show(self._count_open()) if self._state == "open" else ""

    def finish(self, *, may_call: bool) -> str:
        """Read the calls, if the answer may hold any; return the rest to show."""
        if self._state == "thought" and self._is_opened:
            self._pending = ""
        whole = self.text
        found = _find_lost(whole)
        if found and whole[found.end() :].strip():
            self.has_lost_opening = True
            self._shown = [whole[found.end() :].lstrip()]
            self._pending = ""
            whole = self._shown[0]
        elif not may_call or not self._tools:
            return self._show(len(self._pending))
        if may_call and self._tools:
            opening, self.calls = self._find_calls(whole)
            if self.calls:
                self._shown, self._pending = [opening] if opening else [], ""
        return self._show(len(self._pending))

    def _show(self, count: int) -> str:
        text, self._pending = self._pending[:count], self._pending[count:]
        if text:
            self._shown.append(text)
        return text

    def _read_head(self) -> None:
        """Decide what the answer begins with; stay undecided while a mark may still follow."""
        head = self._pending.lstrip()
        for opening, closing in _THOUGHTS.items():
            if head.startswith(opening):
                self._state, self._closing = "thought", closing
                self._pending = head[len(opening) :]
                return
        marks = (*_THOUGHTS, *self._call_heads)
        if head.startswith(self._call_heads):
            self._state = "held"
        elif head and not any(mark.startswith(head) for mark in marks):
            self._state = "open"
            if self._closing:  # the blanks behind a thought belong to it
                self._pending = head

    def _count_open(self) -> int:
        """Return how much of the pending text surely belongs to no call."""
        if not self._tools:
            return len(self._pending)
        place = self._pending.find(_CALL)
        if place >= 0:
            self._state = "held"
            return place
        place = self._pending.rfind("<")
        return (
            place if place >= 0 and _CALL.startswith(self._pending[place:]) else len(self._pending)
        )

    def _find_calls(self, text: str) -> tuple[str, tuple[WrittenCall, ...]]:
        """Return the words before the calls, and the calls; none if any is no known tool."""
        opening, mark, rest = text.partition(_CALL)
        if mark and not _is_code(opening):
            pieces = [one for one in re.split(r"</?tool_call>", rest) if one.strip()]
            return opening.rstrip(), self._read_calls(pieces)
        if text.lstrip().startswith(_CALLS):
            return "", self._read_calls([text.strip().removeprefix(_CALLS)])
        if self._wants_json:
            return "", ()
        body = text.strip()
        if body.startswith("```"):
            is_all = not _FENCE.sub("", body).strip()
            return "", self._read_calls(_FENCE.findall(body)) if is_all else ()
        return "", self._read_calls([body])

    def _read_calls(self, pieces: Sequence[str]) -> tuple[WrittenCall, ...]:
        found = [self._read_call(value) for piece in pieces for value in self._parse(piece)]
        calls = tuple(call for call in found if call is not None)
        return calls if len(calls) == len(found) else ()

    def _parse(self, piece: str) -> list[object]:
        """Return the values that a piece of text holds; one None if it holds anything else."""
        functions = _FUNCTION.findall(piece)
        if functions:
            return [
                {"name": name, "arguments": self._read_xml(name, xml)} for name, xml in functions
            ]
        decoder, values, place = json.JSONDecoder(), [], 0
        text = piece.strip()
        try:
            while place < len(text):
                value, end = decoder.raw_decode(text, place)
                values += value if isinstance(value, list) else [value]
                place = end + len(text[end:]) - len(text[end:].lstrip(" \t\r\n;"))
        except (ValueError, RecursionError):
            return [None]
        return values

    def _read_xml(self, name: str, xml: str) -> dict[str, Any]:
        tool = self._tools.get(name)
        return {key: _read_value(tool, key, text) for key, text in _PARAMETER.findall(xml)}

    def _read_call(self, value: object) -> WrittenCall | None:
        """Return the call in a JSON value; None for anything but a call of a known tool."""
        if not isinstance(value, dict):
            return None
        inner = value.get("function")
        if isinstance(inner, dict):
            value = inner
        name = value.get("name") or value.get("tool") or value.get("tool_name") or inner
        keys = [key for key in ("arguments", "parameters", "args", "input") if key in value]
        if not isinstance(name, str) or not keys:
            return None
        name = name if name in self._tools else name.removeprefix("functions.")
        given = value[keys[0]]
        text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        if name not in self._tools or read_object(text) is None:
            return None
        return WrittenCall(name=name, arguments=text)


def _read_value(tool: ToolSpec | None, key: str, text: str) -> object:
    """Return an argument that was written without JSON's quotes."""
    known = tool.parse_shown_schema().get("properties") if tool else None
    declared = known.get(key) if isinstance(known, dict) else None
    if isinstance(declared, dict) and declared.get("type") == "string":
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _find_lost(text: str) -> re.Match[str] | None:
    """Find the end of a thought that was never opened."""
    found = _LOST_OPENING.search(text)
    before = text[: found.start()] if found else ""
    is_thought = not _is_code(before) and not any(opening in before for opening in _THOUGHTS)
    return found if is_thought else None


def _is_code(before: str) -> bool:
    """True if a text ends within code."""
    last_line = before.rpartition("\n")[2]
    return before.count("```") % 2 == 1 or last_line.count("`") % 2 == 1
