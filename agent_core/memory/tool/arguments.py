"""Arguments and results of the `memory` tool."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent_core.errors import ToolArgumentError
from agent_core.memory.changes import Action, Edit, Refusal
from agent_core.memory.editing import AppliedEdit
from agent_core.memory.files import size
from agent_core.state.memory.ledger import Target
from agent_core.tools.contract import ToolResult
from agent_core.transcript import escape

BLOCK = "block:"
TEAM = "team"
MOST_EDITS = 50
_LONGEST_FOR_ANYONE = 160
"""Characters of an entry that the model may show to everyone; a preference is short."""
_FIELDS = {"action", "text", "old"}
_OLD, _TEXT = ("replace", "remove"), ("add", "replace", "rewrite")
"""The actions that need the present entry, and those that need the new entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRequest:
    """Edits of one list that are applied together.

    `target` is `memory`, `user`, `team`, or `block:` with a label. The edits of a shared list have
    the target `memory`.
    """

    target: str
    edits: tuple[Edit, ...]
    is_batch: bool = False

    @property
    def is_own(self) -> bool:
        """True for a list of the conversation's own memory owner."""
        return self.target in ("memory", "user")


def read(arguments: Mapping[str, object], *, in_room: bool) -> MemoryRequest:
    """Parse the arguments of a call. Raises `ToolArgumentError`."""
    target = _read_target(arguments.get("target", "memory" if in_room else None), in_room=in_room)
    list_target: Target = "user" if target == "user" else "memory"
    if arguments.get("action") != "batch":
        return MemoryRequest(target=target, edits=(_read_edit(arguments, list_target),))
    given = arguments.get("edits")
    if not isinstance(given, list) or not given:
        raise ToolArgumentError("batch needs `edits`: a list of edits")
    if len(given) > MOST_EDITS:
        raise ToolArgumentError(f"a batch holds at most {MOST_EDITS} edits")
    edits = []
    for number, one in enumerate(given, start=1):
        if not isinstance(one, dict):
            raise ToolArgumentError(f"edit {number} is not an object")
        if unknown := sorted(set(one) - _FIELDS):
            raise ToolArgumentError(f"edit {number} can't have `{unknown[0]}`")
        try:
            edits.append(_read_edit(one, list_target))
        except ToolArgumentError as error:
            raise ToolArgumentError(f"edit {number}: {error}") from error
    return MemoryRequest(target=target, edits=tuple(edits), is_batch=True)


def _read_target(value: object, *, in_room: bool) -> str:
    own = ("memory",) if in_room else ("memory", "user")
    target = value.strip() if isinstance(value, str) else ""
    label = target.removeprefix(BLOCK)
    if label and label != target:
        return BLOCK + label.casefold()
    if target in (*own, TEAM):
        return target
    names = ", ".join(f"`{name}`" for name in (*own, TEAM))
    raise ToolArgumentError(f"`target` can't be {value!r}: it is {names} or `{BLOCK}NAME`")


def _read_edit(arguments: Mapping[str, object], target: Target) -> Edit:
    action: Action
    match arguments.get("action"):
        case "add" | "replace" | "remove" | "rewrite" as action:
            pass
        case other:
            raise ToolArgumentError(f"`action` can't be {other!r}")
    text, old = arguments.get("text", ""), arguments.get("old", "")
    if not isinstance(text, str) or not isinstance(old, str):
        raise ToolArgumentError("`text` and `old` must be strings")
    if action in _TEXT and not text.strip():
        raise ToolArgumentError(f"{action} needs `text`: {_describe_text(action)}")
    if action in _OLD and not old.strip():
        raise ToolArgumentError(f"{action} needs `old`: a part of the present entry")
    is_for_anyone = arguments.get("for_anyone") is True and action in ("add", "replace")
    if is_for_anyone and (target != "user" or len(text) > _LONGEST_FOR_ANYONE):
        raise ToolArgumentError(
            "`for_anyone` is only for a preference of style or language: one short entry of"
            f" `user`, at most {_LONGEST_FOR_ANYONE} characters"
        )
    return Edit(action=action, target=target, text=text, old=old, is_for_anyone=is_for_anyone)


def _describe_text(action: Action) -> str:
    if action == "rewrite":
        return "the whole list, a line beginning with `- ` for each entry"
    return "the entry as it should read"


_LISTING_LIMIT = 6000
"""The most characters of entries in one answer; a list edited by hand may be far longer."""

_DONE = {
    "add": "Added to",
    "replace": "Replaced in",
    "remove": "Removed from",
    "rewrite": "Rewritten:",
}


def describe_done(done: Sequence[AppliedEdit], wanted: MemoryRequest, limit: int) -> ToolResult:
    """Describe the applied edits and the size of the list; `limit` is in characters."""
    if wanted.is_batch:
        count = len(wanted.edits)
        said = f"Made {count} edits of" if count > 1 else "Made the edit of"
    else:
        said = _DONE[wanted.edits[0].action]
    seen = ", where anyone may see it" if any(edit.is_for_anyone for edit in wanted.edits) else ""
    return ToolResult(
        text=f"{said} `{wanted.target}`{seen}. {_describe_size(done[-1].entries, limit)}"
    )


def describe_refusal(refusal: Refusal, wanted: MemoryRequest, limit: int) -> ToolResult:
    """Explain a refusal and how to solve it; `limit` is in characters."""
    text, is_error = _explain(refusal, wanted.target, limit)
    if wanted.is_batch:
        return ToolResult(
            text=f"Nothing was changed, because of edit {refusal.index + 1}. {text}", is_error=True
        )
    return ToolResult(text=text, is_error=is_error)


def _explain(refusal: Refusal, name: str, limit: int) -> tuple[str, bool]:
    shown = _list_entries(refusal.shown)
    match refusal.fault:
        case "known":
            return f"Nothing to do: `{name}` already says so:\n{shown}", False
        case "same":
            return "Nothing to do: the entry already says that.", False
        case "flaw":
            text = f"Refused: the text can't be kept: {refusal.detail}."
        case "full":
            text = (
                f"Refused: `{name}` would hold {refusal.size:,} of {limit:,} characters."
                " Consolidate first: merge, shorten or remove entries, then try again."
                f" Present entries, [characters]:\n{shown}"
            )
        case "several":
            text = (
                f"Refused: `old` matches several entries; quote more of the one you mean:\n{shown}"
            )
        case "none" if refusal.shown:
            text = f"Refused: `old` matches no entry of `{name}`. Its entries:\n{shown}"
        case "none":
            text = f"Refused: `{name}` has no entries."
    return text, True


def _describe_size(entries: tuple[str, ...], limit: int) -> str:
    used = size(entries)
    count = "1 entry" if len(entries) == 1 else f"{len(entries)} entries"
    over = " That is over the limit: consolidate." if used > limit else ""
    return f"It holds {count}, {used:,}/{limit:,} characters.{over}"


def _list_entries(entries: tuple[str, ...]) -> str:
    lines: list[str] = []
    room = _LISTING_LIMIT
    for number, entry in enumerate(entries):
        line = f"- [{size((entry,))}] {escape(entry)}"
        if len(line) > room:
            lines.append(f"… and {len(entries) - number} more, too long to show")
            break
        room -= len(line)
        lines.append(line)
    return "\n".join(lines)
