"""What the `memory` tool says of its edits: what was done, or why not, and the room left."""

from collections.abc import Sequence

from agent_core.memory.changes import Refusal
from agent_core.memory.editing import Done
from agent_core.memory.entries import size
from agent_core.memory.wanting import Wanted
from agent_core.tools.contract import ToolResult
from agent_core.tools.quoting import escape

_LISTING_LIMIT = 6000
"""Characters of entries in one answer: a hand-made file may hold far more than its limit."""

_DONE = {
    "add": "Added to",
    "replace": "Replaced in",
    "remove": "Removed from",
    "rewrite": "Rewritten:",
}


def describe_done(done: Sequence[Done], wanted: Wanted, limit: int) -> ToolResult:
    """What was changed, and how full the list is; `limit` is in characters."""
    if wanted.is_batch:
        count = len(wanted.edits)
        said = f"Made {count} edits of" if count > 1 else "Made the edit of"
    else:
        said = _DONE[wanted.edits[0].action]
    seen = ", where anyone may see it" if any(edit.is_for_anyone for edit in wanted.edits) else ""
    return ToolResult(
        text=f"{said} `{wanted.target}`{seen}. {_describe_size(done[-1].entries, limit)}"
    )


def describe_refusal(refusal: Refusal, wanted: Wanted, limit: int) -> ToolResult:
    """Why nothing was changed, and what to do; `limit` is in characters."""
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
            return f"Nothing to do: `{name}` says it already:\n{shown}", False
        case "same":
            return "Nothing to do: the entry reads so already.", False
        case "flaw":
            text = f"Refused: the text can't be kept, {refusal.detail}."
        case "full":
            text = (
                f"Refused: `{name}` would hold {refusal.size:,} of {limit:,} characters."
                " Consolidate first: merge, shorten or remove entries, then try again."
                f" Present entries, [characters]:\n{shown}"
            )
        case "several":
            text = f"Refused: `old` fits several entries, name one of them:\n{shown}"
        case "none" if refusal.shown:
            text = f"Refused: `old` fits no entry of `{name}`. It holds:\n{shown}"
        case "none":
            text = f"Refused: `{name}` holds no entries."
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
