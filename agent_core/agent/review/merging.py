"""Merge lines of a list that is nearly full into a shorter one that says nothing else. Pure.

A review proposes; code and a judge decide. Code knows the words: a shorter line has only those of
its sources, as negative as they are. Two looks of the judge, asked differently, tell whether the
words still mean the same. One doubt leaves the lines as they are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent_core.agent.review.claim_check import (
    LONGEST,
    Claim,
    find_flaw_of_patch,
    is_negative,
    speaks_as_person,
)
from agent_core.agent.review.judgement import CALL_JUDGE, LOOK_TOOLS, Case, Look, read_opinions
from agent_core.memory.files import find_flaw, size
from agent_core.memory.line_dates import drop_dates, has_end
from agent_core.memory.store import MemoryLimits
from agent_core.models.arguments import read_object
from agent_core.models.contract import ModelRequest, make_question
from agent_core.state.memory.ledger import LISTS, MemoryTarget
from agent_core.state.tokenizer import cut
from agent_core.tools.schemas import make_schema
from agent_core.transcript import ToolCallPart, ToolSpec, quote

ShownLine = tuple[MemoryTarget, str]
"""A line of memory as a review sees it: its list, and its text."""

_NEARLY_FULL = 0.8
"""The share of its limit from which on a list is nearly full."""
_MOST_MERGES = 4
_LONGEST_LINE = 400
_TOKENS, _TOKENS_A_MERGE = 200, 40
"""The most tokens of a judge's answer."""
_AND = frozenset(cut("and und y et e"))
"""The words that a merged line may add."""
_EMPTY = _AND | frozenset(
    cut("a an the is has also ein eine einen der die das ist hat auch el la los un una es tiene le")
)
"""The words whose loss loses nothing."""
MERGE = ToolSpec(
    name="merge",
    description="Say several remembered lines of one list in one shorter line.",
    schema=make_schema(
        ("lines", "text"),
        lines={"type": "array", "items": {"type": "integer"}, "minItems": 2},
        text={"type": "string"},
    ),
)
ASK = """\
- A list below is nearly full. For lines on the same thing, call `merge`: `lines` are their numbers,
  and `text` is one shorter line of their own words. It adds, changes and leaves out no fact.
"""
"""What a review is asked about a list that is nearly full."""
_SYSTEMS: Mapping[Look, str] = {
    "state": f"""\
An assistant's memory of a person is full. Each numbered short line is to stand for longer ones.
{CALL_JUDGE}
- `stated`: "yes" if the longer lines together say all that the short line says, of the same people
  and things. "no" if it adds, changes, mixes up or inverts anything. "unsure" if you can't tell.
""",
    "object": f"""\
You look for mistakes in short lines that stand for longer ones in the memory of a person.
{CALL_JUDGE}
`objection` is the strongest one: "other" (it says of one person or thing what is true of another),
"over" (a time or an end is lost), "cut" (what was left out changes the meaning), "absent" (none of
the longer lines says it), "unsure", or "none" if a careful reader would agree.
""",
}
_CONTROLS = {
    101: (("Keeps two donkeys", "Keeps a goat called Max"), "Keeps two donkeys, a goat called Max"),
    102: (("Keeps two donkeys", "Is afraid of goats"), "Keeps two goats, is afraid of donkeys"),
}
"""A right and a wrong merge by number, as in `judgement`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineMerge:
    """Lines of one list, and the shorter one that is to stand for them; `number` names its call."""

    number: int
    target: MemoryTarget
    lines: tuple[str, ...]
    text: str


def is_nearly_full(lines: Sequence[str], limit: int) -> bool:
    """Return whether a list has little room left."""
    return size(tuple(lines)) >= _NEARLY_FULL * limit


def show_lines(shown: Sequence[ShownLine], limits: MemoryLimits) -> str:
    """Show the lines of memory by number, each with its size, and the size of each list."""
    parts: list[str] = []
    for target in LISTS:
        own = tuple(text for name, text in shown if name == target)
        if own:
            parts.append(f"{target}: {size(own)} of {limits.of(target)} characters")
        parts += [
            f"{number}. {target}, {len(text)}: {quote(text, _LONGEST_LINE)}"
            for number, (name, text) in enumerate(shown, 1)
            if name == target
        ]
    return "\n".join(parts)


def read_merges(calls: Sequence[ToolCallPart], shown: Sequence[ShownLine]) -> list[LineMerge]:
    """Return the merges of an answer that code finds nothing wrong with; no line is in two."""
    found: list[LineMerge] = []
    taken: set[ShownLine] = set()
    for number, call in enumerate(one for one in calls if one.name == MERGE.name):
        merge = _read_merge(number, call, shown)
        if merge is None or len(found) == _MOST_MERGES:
            continue
        own = {(merge.target, line) for line in merge.lines}
        if own.isdisjoint(taken):
            taken |= own
            found.append(merge)
    return found


def list_left_out(lines: Sequence[str], text: str) -> tuple[str, ...]:
    """Return the lines that a shorter one doesn't say with all their words."""
    said = {*cut(text), *_EMPTY}
    return tuple(one for one in lines if not said.issuperset(cut(drop_dates(one))))


def make_merge_look(model: str, merges: Sequence[LineMerge], look: Look) -> ModelRequest:
    """Build a look at merges."""
    asked = [(one.number + 1, one.lines, one.text) for one in merges]
    if look == "state":
        asked += [(number, *control) for number, control in _CONTROLS.items()]
    shown = "\n".join(_show(*one) for one in asked).replace("</", "<\\/")
    most = _TOKENS + _TOKENS_A_MERGE * len(merges)
    text = f"<notes>\n{shown}\n</notes>"
    return make_question(model, _SYSTEMS[look], text, tools=(LOOK_TOOLS[look],), most_tokens=most)


def choose_agreed(
    merges: Sequence[LineMerge], calls: Sequence[ToolCallPart], look: Look
) -> list[LineMerge]:
    """Return the merges that a look agrees to; none without a usable answer."""
    cases = [
        Case(
            number=one.number,
            claim=Claim(target=one.target, text=one.text, quote="", message_id=None),
        )
        for one in merges
        if one.target in ("user", "memory")
    ]
    opinions = read_opinions(calls, cases, look) or {}
    return [
        one
        for one in merges
        if (opinion := opinions.get(one.number)) and opinion.answer == "yes"
        if not opinion.says_more
    ]


def _show(number: int, lines: Sequence[str], text: str) -> str:
    longer = ", ".join(quote(one, _LONGEST_LINE) for one in lines)
    return f"{number}. stands for {longer}: {quote(text, _LONGEST_LINE)}"


def _read_merge(number: int, call: ToolCallPart, shown: Sequence[ShownLine]) -> LineMerge | None:
    given = read_object(call.arguments) or {}
    numbers, text = given.get("lines"), given.get("text")
    if not isinstance(numbers, list) or not isinstance(text, str):
        return None
    if not all(type(one) is int and 1 <= one <= len(shown) for one in numbers):
        return None
    chosen = [shown[one - 1] for one in dict.fromkeys(numbers)]
    lines, text = tuple(line for _, line in chosen), " ".join(text.split())
    if len(chosen) < 2 or len({target for target, _ in chosen}) > 1 or not _is_sound(lines, text):
        return None
    return LineMerge(number=number, target=chosen[0][0], lines=lines, text=text)


def _says_some(own: set[str], line: str, lines: Sequence[str]) -> bool:
    """Return whether words say a part of a line that no other line says, if it has one."""
    others = {word for one in lines if one != line for word in cut(one)}
    alone = set(cut(drop_dates(line))) - others - _EMPTY
    return not alone or not alone.isdisjoint(own)


def _is_sound(lines: tuple[str, ...], text: str) -> bool:
    """Return whether a text is a shorter line of the words of others, with nothing to refuse."""
    words = {word for line in lines for word in cut(line)}
    own = set(cut(text))
    return (
        bool(own)
        and own <= words | _AND
        and all(_says_some(own, one, lines) for one in lines)
        and size((text,)) < size(lines)
        and len(text) <= LONGEST
        and not any(map(has_end, lines))
        and is_negative(text) == any(map(is_negative, lines))
        and not find_flaw(text)
        and not find_flaw_of_patch(text)
        and not speaks_as_person(text)
    )
