"""Read thoughts and calls that a model writes into its words; pure."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agent_core.models.arguments import read_object
from agent_core.models.call_forms import (
    MARKS,
    find_mark,
    find_part_of_mark,
    is_code,
    list_heads,
    read_forms,
    split_marked,
)
from agent_core.models.contract import ModelRequest

_THOUGHTS = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<thought>": "</thought>",
    "<mm:think>": "</mm:think>",
    "[THINK]": "[/THINK]",
    "<|channel|>analysis<|message|>": "<|end|>",
    "<|channel>thought": "<channel|>",
}
"""The marks around a thought, which stands at the head of an answer."""
_CHANNEL = "<|start|>assistant"
_OPENER = "<|channel|>final<|message|>"
"""The marks before the answer itself, which are not part of it."""
_LOST_OPENING = re.compile(r"\n\s*</think>|</think>[ \t]*\n|(?<=\S)</think>(?=[\w{\[*#])")
"""The end of a thought whose opening mark stood in the prompt; in prose, blanks surround it."""
_ANALYSIS = "analysis"
_LOST_CHANNEL = re.compile(r"analysis(?=[A-Z])")
_LOST_CHANNELS = re.compile(r"\s*analysis(?=[A-Z]).*?assistantfinal", re.DOTALL)
"""A thought on a channel whose marks the server dropped."""
_END = re.compile(
    r"(?:\s*(?:<\|(?:im_end|eot_id|eom_id|end|return|call|endoftext|EOT|end_of_text|end_of_turn"
    r"|eos)\|>|<end_of_turn>|<eos>|</s>|<｜end▁of▁sentence｜>|\]<\]minimax\[>\[(?:</tool_call>)?))+"
    r"\s*\Z"
)
"""What a template leaves at the end of an answer."""
_PART_OF_END = re.compile(r"\s*(?:<[|｜/e][^<>]{0,20}\|?|<|\]<?\]?[a-z]*\[?>?\[?)?\Z")
_LONGEST_TAIL = 200
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
        heads = () if request.response_schema else list_heads(self._tools)
        self._heads = (*MARKS, *heads) if request.tools else ()
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
        found = _find_lost(whole) or _LOST_CHANNELS.match(whole)
        if found and whole[found.end() :].strip():
            self.has_lost_opening = found.re is _LOST_OPENING
            self._shown = [whole[found.end() :].lstrip()]
            self._pending = ""
            whole = self._shown[0]
        if may_call and self._tools:
            opening, self.calls = self._find_calls(whole)
            if self.calls:
                self._shown, self._pending = [opening] if opening else [], ""
        if "<s>" not in whole:
            self._pending = _END.sub("", self._pending)
        return self._show(len(self._pending))

    def read_thoughts(self, thoughts: str) -> None:
        """Read the calls that a model wrote within its thoughts instead of its answer."""
        if self._tools and not self.calls:
            self.calls = self._read_calls(split_marked(thoughts)[1])

    def _show(self, count: int) -> str:
        text, self._pending = self._pending[:count], self._pending[count:]
        if text:
            self._shown.append(text)
        return text

    def _read_head(self) -> None:
        """Decide what the answer begins with; stay undecided while a mark may still follow."""
        head = self._pending.lstrip()
        found = head.removeprefix(_CHANNEL)
        for opening, closing in _THOUGHTS.items():
            if found.startswith(opening):
                self._state, self._closing = "thought", closing
                self._pending = found[len(opening) :]
                return
        if found.startswith(_OPENER):
            self._state, self._pending = "open", found[len(_OPENER) :]
            return
        marks = (*_THOUGHTS, _OPENER, *self._heads)
        is_bare = head.startswith(_ANALYSIS[:4]) and _ANALYSIS.startswith(head)
        if is_bare or _CHANNEL.startswith(head) or any(mark.startswith(found) for mark in marks):
            return
        if head.startswith(self._heads) or _LOST_CHANNEL.match(head):
            self._state = "held"
        else:
            self._state = "open"
            if self._closing:  # the blanks behind a thought belong to it
                self._pending = head

    def _count_open(self) -> int:
        """Return how much of the pending text surely belongs to no call, and to no end."""
        sure = len(self._pending)
        if self._tools:
            place = find_mark(self._pending)
            if place >= 0 and not is_code("".join(self._shown) + self._pending[:place]):
                self._state = "held"
                return place
            if self._state == "open":
                sure = min(find_part_of_mark(self._pending), self._count_before_json())
        start = max(0, len(self._pending) - _LONGEST_TAIL)
        tail = self._pending[start:]
        found = _END.search(tail) or _PART_OF_END.search(tail)
        return min(sure, start + found.start()) if found and found[0].strip() else sure

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
        opening, pieces = split_marked(text)
        if pieces:
            return opening, self._read_calls(pieces)
        if self._wants_json:
            return "", ()
        if values := read_forms(text.strip(), self._tools):
            return "", self._read_values(values)
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
            text = piece.strip().removeprefix("[TOOL_CALLS]").lstrip()
            these = self._read_values(read_forms(piece, self._tools) or _decode(text, 0)[0])
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


def _find_lost(text: str) -> re.Match[str] | None:
    """Find the end of a thought that was never opened."""
    found = _LOST_OPENING.search(text)
    before = text[: found.start()] if found else ""
    is_thought = not is_code(before) and not any(opening in before for opening in _THOUGHTS)
    return found if is_thought else None
