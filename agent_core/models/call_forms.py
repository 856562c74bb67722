"""The forms in which models write calls as words, besides JSON; pure."""

import ast
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agent_core.transcript import ToolSpec

MARKS = (
    "<tool_call",
    "<|tool_call",
    "<minimax:tool_call",
    "]<]minimax[>[",
    "<function_calls>",
    "<function=",
    "<invoke name=",
    "<｜DSML｜",
    "<｜｜DSML｜｜",
    "<‖DSML‖",
    "<|DSML|",
    "[TOOL_CALLS]",
    "<|python_start|>",
    "<|python_tag|>",
    "<|channel|>",
    "<|start|>assistant",
)
"""How a call may begin in the middle of an answer."""
_LONGEST_MARK = max(map(len, MARKS))
_MARK = re.compile("|".join(map(re.escape, MARKS)))
_HEADS = ("```json", "```tool_call", "```\n{", "{", "[{", "call:")
"""How an answer begins that may be a call without a mark."""

_SENTINEL = "]<]minimax[>["
_DSML = re.compile(r"<(/?)\s*[｜‖|]{1,2}DSML[｜‖|]{1,2}\s*")
_FRAME = re.compile(
    r"</?(?:minimax:)?tool_calls?>|</?function_calls>|</?calls>|<\|?/?tool_call\|?>"
    r"|<\|tool_calls?_section_(?:begin|end)\|>|<\|python_(?:start|end|tag)\|>|<\|eom_id\|>"
)
"""What stands around calls in the forms of many models."""
_INVOKE = re.compile(r'<invoke name="([^"]+)">(.*?)(?:</invoke>|$)', re.DOTALL)
_NAMED = re.compile(r'<parameter name="([^"]+)"[^>]*>(.*?)</parameter>', re.DOTALL)
_TAGGED = re.compile(r"<([\w-]+)>(.*?)</\1>", re.DOTALL)
_FUNCTION = re.compile(r"<function=([^>\s]+)>(.*?)(?:</function>|$)", re.DOTALL)
_PARAMETER = re.compile(r"<parameter=([^>\s]+)>\n?(.*?)\n?</parameter>", re.DOTALL)
_KIMI = re.compile(
    r"<\|tool_call_begin\|>\s*([\w.-]+)(?::\d+)?\s*<\|tool_call_argument_begin\|>(.*?)"
    r"(?:<\|tool_call_end\|>|$)",
    re.DOTALL,
)
_HARMONY = re.compile(
    r"(?:<\|start\|>assistant)?<\|channel\|>\w+ to=([\w.-]+)[^{]*?<\|message\|>(.*?)"
    r"(?:<\|(?:call|end|return)\|>|$)",
    re.DOTALL,
)
_HARMONY_THOUGHT = re.compile(
    r"(?:<\|start\|>assistant)?<\|channel\|>analysis<\|message\|>.*?<\|end\|>", re.DOTALL
)
_MISTRAL = re.compile(
    r"(?:\[TOOL_CALLS\])?\s*([\w-]+)(?:\[CALL_ID\]\w+)?\[ARGS\](.*?)(?=\[TOOL_CALLS\]|$)",
    re.DOTALL,
)
_GLM = re.compile(
    r"\s*([\w-]+)\s*((?:<arg_key>.*?</arg_key>\s*<arg_value>.*?</arg_value>\s*)*)$", re.DOTALL
)
_GLM_ARGUMENT = re.compile(
    r"<arg_key>(.*?)</arg_key>\s*<arg_value>\n?(.*?)\n?</arg_value>", re.DOTALL
)
_GEMMA = re.compile(r"\s*call:([\w-]+)\{(.*)\}\s*$", re.DOTALL)
_GEMMA_KEY = re.compile(r'([{,]\s*)([\w-]+)\s*:(?=(?:[^"]*"[^"]*")*[^"]*$)')
_GEMMA_QUOTE = '<|"|>'
_LONGEST_LOOSE = 10_000


def list_heads(tools: Mapping[str, ToolSpec]) -> tuple[str, ...]:
    """Return how an answer may begin that is a call without a mark."""
    return (*_HEADS, *(f"[{name}(" for name in tools))


def find_mark(text: str) -> int:
    """Return where a call may begin in a text; -1 if nowhere."""
    found = _MARK.search(text)
    return found.start() if found else -1


def find_part_of_mark(text: str) -> int:
    """Return where the end of a text may be the beginning of a mark; its length if nowhere."""
    start = max(0, len(text) - _LONGEST_MARK)
    for place in range(start, len(text)):
        if text[place] in "<[]":
            tail = text[place:]
            if any(mark.startswith(tail) for mark in MARKS):
                return place
    return len(text)


def is_code(before: str) -> bool:
    """True if a text ends within code."""
    last_line = before.rpartition("\n")[2]
    return before.count("```") % 2 == 1 or last_line.count("`") % 2 == 1


def split_marked(text: str) -> tuple[str, list[str]]:
    """Return the words before the first marked call, and the pieces that hold calls."""
    text = _HARMONY_THOUGHT.sub("", text)
    place = find_mark(text)
    if place < 0 or is_code(text[:place]):
        return text, []
    marked = _DSML.sub(r"<\1", text[place:].replace(_SENTINEL, ""))
    return text[:place].rstrip(), [one for one in _FRAME.split(marked) if one.strip()]


def read_forms(piece: str, tools: Mapping[str, ToolSpec]) -> list[object]:
    """Return the calls in a piece, as JSON would hold them; [] if it is in none of the forms."""
    for form in _FORMS:
        if values := form(piece, tools):
            return values
    return []


_Tools = Mapping[str, ToolSpec]


def _read_invocations(piece: str, tools: _Tools) -> list[object]:
    if _INVOKE.sub("", piece).strip():
        return []
    return [
        _make(name, _read_values(tools, name, _NAMED.findall(xml) or _TAGGED.findall(xml)))
        for name, xml in _INVOKE.findall(piece)
    ]


def _read_functions(piece: str, tools: _Tools) -> list[object]:
    return [
        _make(name, xml.strip())
        if xml.lstrip().startswith("{")
        else _make(name, _read_values(tools, name, _PARAMETER.findall(xml)))
        for name, xml in _FUNCTION.findall(piece)
    ]


def _read_glm(piece: str, tools: _Tools) -> list[object]:
    found = _GLM.match(piece)
    if not found or found[1] not in tools:
        return []
    return [_make(found[1], _read_values(tools, found[1], _GLM_ARGUMENT.findall(found[2])))]


def _read_gemma(piece: str, tools: _Tools) -> list[object]:
    found = _GEMMA.match(piece) if len(piece) < _LONGEST_LOOSE else None
    if not found or found[1] not in tools:
        return []
    quoted = found[2].replace(_GEMMA_QUOTE, '"')
    return [_make(found[1], _GEMMA_KEY.sub(r'\1"\2":', f"{{{quoted}}}"))]


def _read_python(piece: str, tools: _Tools) -> list[object]:
    """Read a list of calls in Python's form, whose arguments are plain values."""
    text = piece.strip()
    is_list = text.startswith(tuple(f"[{name}(" for name in tools))
    if not is_list or len(text) > _LONGEST_LOOSE:
        return []
    try:
        listed = ast.parse(text, mode="eval").body
        calls = listed.elts if isinstance(listed, ast.List) else []
        return [
            _make(
                ast.unparse(call.func),
                {one.arg: ast.literal_eval(one.value) for one in call.keywords if one.arg},
            )
            for call in calls
            if isinstance(call, ast.Call) and not call.args
        ]
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return []


def _named(form: re.Pattern[str]) -> Callable[[str, _Tools], list[object]]:
    """Return the reader of a form that has a name and JSON."""

    def read(piece: str, tools: _Tools) -> list[object]:
        del tools
        if form.sub("", piece).strip():
            return []
        return [_make(name, text.strip()) for name, text in form.findall(piece)]

    return read


_FORMS: tuple[Callable[[str, _Tools], list[object]], ...] = (
    _read_invocations,
    _read_functions,
    _named(_KIMI),
    _named(_HARMONY),
    _named(_MISTRAL),
    _read_glm,
    _read_gemma,
    _read_python,
)


def _make(name: str, arguments: object) -> dict[str, object]:
    return {"name": name, "arguments": arguments}


def _read_values(tools: _Tools, name: str, given: Sequence[tuple[str, str]]) -> dict[str, Any]:
    tool = tools.get(name)
    return {key: _read_value(tool, key, text) for key, text in given}


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
