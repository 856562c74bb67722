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
_PLACE = re.compile(r"(?:\A|\n)[ \t]*(?:```\w*\s*)?(?=\[?\s*\{)")
"""Where a call in JSON may begin: on a line of its own, or in a block of code."""
_MAY_BEGIN = re.compile(r"(?:\A|\n)[ \t]*(?:`{1,3}\w*\s*)?(?:\[\s*)?(?:\{\s*(?:\"[^\"\n]*)?)?\Z")
"""The end of a text that may become such a place, or may still name its first key."""
_FIRST_KEY = re.compile(r"\[?\s*\{\s*\"([^\"\n]*)\"")
_NAMES = ("name", "tool", "tool_name", "function")
_ARGUMENTS = ("arguments", "parameters", "args", "input")
_ENVELOPE = {*_NAMES, *_ARGUMENTS, "type", "id"}
_LISTS = ("tool_calls", "calls", "function_calls")
_BROKEN = re.compile(
    r"\[?\s*\{\s*\"(?:name|tool|tool_name)\"\s*:\s*\"([\w.-]{1,64})\"\s*,"
    r"\s*\"(?:arguments|parameters|args|input)\"\s*:\s*(.*)",
    re.DOTALL,
)
"""A call whose JSON ends too early, or is none."""
_NAME = re.compile(r"[\w.-]{1,64}")
_BETWEEN = " \t\r\n;,"
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
        if place >= 0 and _CALL.startswith(self._pending[place:]):
            return place
        return self._count_before_json()

    def _count_before_json(self) -> int:
        """Return how much of the pending text comes before JSON that may be a call."""
        if self._wants_json:
            return len(self._pending)
        # What was shown last tells whether the pending text begins a line.
        is_line = not self._shown or self._shown[-1].endswith("\n")
        text = ("\n" if is_line else " ") + self._pending
        for found in _PLACE.finditer(text):
            key = _FIRST_KEY.match(text, found.end())
            if key and (key[1] in _ENVELOPE or key[1] in _LISTS):
                self._state = "held"
                return max(found.start() - 1, 0)
        open_end = _MAY_BEGIN.search(text)
        return max(open_end.start() - 1, 0) if open_end else len(self._pending)

    def _find_calls(self, text: str) -> tuple[str, tuple[WrittenCall, ...]]:
        """Return the words before the calls, and the calls.

        A call of an unknown tool counts, too, and so does one whose JSON is broken: the model is
        told what is wrong with it.
        """
        opening, mark, rest = text.partition(_CALL)
        if mark and not _is_code(opening):
            pieces = [one for one in re.split(r"</?tool_call>", rest) if one.strip()]
            return opening.rstrip(), self._read_calls(pieces)
        if text.lstrip().startswith(_CALLS):
            return "", self._read_calls([text.strip().removeprefix(_CALLS)])
        if self._wants_json:
            return "", ()
        return self._find_json_calls(text)

    def _find_json_calls(self, text: str) -> tuple[str, tuple[WrittenCall, ...]]:
        calls: list[WrittenCall] = []
        opening, place = "", 0
        while found := _PLACE.search(text, place):
            values, end = _decode(text, found.end())
            these = self._read_values(values)
            opening = text[: found.start()] if these and not calls else opening
            calls += these
            place = max(end, found.end() + 1)
        for found in () if calls else _PLACE.finditer(text):
            broken = _BROKEN.match(text, found.end())
            if broken and self._find_name(broken[1]) in self._tools:
                call = WrittenCall(name=self._find_name(broken[1]), arguments=broken[2].strip())
                return text[: found.start()].rstrip(), (call,)
        return opening.rstrip(), tuple(calls)

    def _read_calls(self, pieces: Sequence[str]) -> tuple[WrittenCall, ...]:
        calls: list[WrittenCall] = []
        for piece in pieces:
            functions = _FUNCTION.findall(piece)
            values: list[object] = [
                {"name": name, "arguments": self._read_xml(name, xml)} for name, xml in functions
            ]
            these = self._read_values(values or _decode(piece.strip(), 0)[0])
            if not these and (broken := _BROKEN.search(piece)):
                name = self._find_name(broken[1])
                these = (WrittenCall(name=name, arguments=broken[2].strip()),)
            calls += these
        return tuple(calls)

    def _read_values(self, values: Sequence[object]) -> tuple[WrittenCall, ...]:
        """Return the calls in JSON values; none unless all of them are calls."""
        found = [self._read_call(value) for value in _unfold(values)]
        calls = tuple(call for call in found if call is not None)
        return calls if len(calls) == len(found) else ()

    def _read_xml(self, name: str, xml: str) -> dict[str, Any]:
        tool = self._tools.get(name)
        return {key: _read_value(tool, key, text) for key, text in _PARAMETER.findall(xml)}

    def _read_call(self, value: object) -> WrittenCall | None:
        """Return the call in a JSON value; None for anything else."""
        if not isinstance(value, dict):
            return None
        inner = value.get("function")
        if isinstance(inner, dict):
            value = inner
        name = next((value[key] for key in _NAMES if isinstance(value.get(key), str)), None)
        if name is None:
            return self._read_bare(value)
        name = self._find_name(name)
        keys = [key for key in _ARGUMENTS if key in value]
        if not keys:
            rest = {key: one for key, one in value.items() if key not in ("type", *_NAMES)}
            is_bare = name in self._tools and (rest or len(value) == 1)
            return WrittenCall(name=name, arguments=_dump(rest)) if is_bare else None
        text = given if isinstance(given := value[keys[0]], str) else _dump(given)
        is_call = isinstance(given, dict) or read_object(text) is not None
        is_known = name in self._tools or (_NAME.fullmatch(name) and value.keys() <= _ENVELOPE)
        return WrittenCall(name=name, arguments=text) if is_known and is_call else None

    def _read_bare(self, value: dict[str, Any]) -> WrittenCall | None:
        """Return the call whose arguments alone were written, if they fit one tool only."""
        fitting = [
            name
            for name, tool in self._tools.items()
            if len(value) > 1 and _fits(value, tool.parse_shown_schema())
        ]
        return WrittenCall(name=fitting[0], arguments=_dump(value)) if len(fitting) == 1 else None

    def _find_name(self, name: str) -> str:
        return name if name in self._tools else name.removeprefix("functions.")


def _decode(text: str, place: int) -> tuple[list[object], int]:
    """Return the JSON values at a place, one behind the other, and where they end."""
    values: list[object] = []
    decoder = json.JSONDecoder()
    end = place
    while text[place : place + 1] in ("{", "["):
        try:
            value, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            break
        values.append(value)
        place = end + len(text[end:]) - len(text[end:].lstrip(_BETWEEN))
    return values, end


def _unfold(values: Sequence[object]) -> list[object]:
    """Return the values with lists, and objects that only hold a list of calls, laid open."""
    found: list[object] = []
    for value in values:
        key = next(iter(value)) if isinstance(value, dict) and len(value) == 1 else ""
        inner = value[key] if isinstance(value, dict) and key in _LISTS else value
        found += inner if isinstance(inner, list) else [inner]
    return found


def _fits(value: dict[str, Any], schema: dict[str, Any]) -> bool:
    known, needed = schema.get("properties") or {}, schema.get("required") or ()
    return bool(needed) and set(needed) <= value.keys() <= known.keys()


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


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
