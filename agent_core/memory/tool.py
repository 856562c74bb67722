"""The `memory` tool: how a model keeps, corrects and drops what it knows of a person."""

import json
from collections.abc import Mapping

from agent_core.errors import ToolArgumentError
from agent_core.memory.changes import Edit, Refusal
from agent_core.memory.editing import Done
from agent_core.memory.entries import size
from agent_core.memory.store import MemoryStore
from agent_core.state.ledger import Operation, Origin, Target
from agent_core.tools.contract import Effect, ToolContext, ToolResult
from agent_core.tools.quoting import escape
from agent_core.transcript import ToolSpec

EVIDENCE_LIMIT = 500
"""Characters of the person's words that a ledger row keeps as its ground."""

_LISTING_LIMIT = 6000
"""Characters of entries in one answer: a hand-made file may hold far more than its limit."""

_DONE = {
    "add": "Added to",
    "replace": "Replaced in",
    "remove": "Removed from",
    "rewrite": "Rewrote",
}

_LONGEST_FOR_ANYONE = 160
"""Characters of an entry that the model may show to others: a preference is short."""


def _write_schema(properties: dict[str, object], required: list[str]) -> str:
    schema = {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
    return json.dumps(schema, separators=(",", ":"))


_ACTION = {"type": "string", "enum": ["add", "replace", "remove"]}
_TEXT = {"type": "string", "description": "the new entry"}

_SPEC = ToolSpec(
    name="memory",
    description=(
        "Change what you remember of this person across conversations. target `user`: who they"
        " are and what they prefer; `memory`: other lasting notes. One fact an entry, short,"
        " in plain words. replace and remove need `old`: a part of the entry that is in no other."
    ),
    schema=_write_schema(
        {
            "action": _ACTION,
            "target": {"type": "string", "enum": ["memory", "user"]},
            "text": _TEXT,
            "old": {"type": "string"},
            "for_anyone": {
                "type": "boolean",
                "description": "others may see it; only for a preference of style or language",
            },
        },
        ["action", "target"],
    ),
)
_ROOM_SPEC = ToolSpec(
    name="memory",
    description=(
        "Change what this room remembers; everyone in it can see that. One fact an entry, short,"
        " in plain words. replace and remove need `old`: a part of the entry that is in no other."
    ),
    schema=_write_schema(
        {
            "action": _ACTION,
            "target": {"type": "string", "enum": ["memory"]},
            "text": _TEXT,
            "old": {"type": "string"},
        },
        ["action"],
    ),
)


class MemoryTool:
    """The `memory` tool over a store; in a room it knows the room's list only."""

    spec = _SPEC
    effect: Effect = "idempotent"
    is_cheap = True

    def __init__(self, store: MemoryStore, *, in_room: bool = False) -> None:
        self._store = store
        self._in_room = in_room
        if in_room:
            self.spec = _ROOM_SPEC

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Make one change to the memory that this turn may change.

        Raises `ToolArgumentError` where an argument that the action needs is missing or may
        not be, and `StoreError`.
        """
        keeper = context.keeper
        if keeper is None or (keeper.kind == "room") != self._in_room:
            return ToolResult(text="Nothing can be remembered here.", is_error=True)
        edit = _read_edit({**arguments, "target": "memory"} if self._in_room else arguments)
        origin = Origin(
            actor=f"turn:{context.turn_id}",
            now=context.now,
            evidence=context.evidence[:EVIDENCE_LIMIT],
            call_key=f"{context.turn_id}:{context.call_id}",
        )
        try:
            outcome = await self._store.change(
                keeper.person_id, keeper.slug, edit, origin, kind=keeper.kind
            )
        except OSError as error:
            return ToolResult(
                text=f"Nothing was changed: the file of `{edit.target}` can't be read"
                f" ({error.strerror or error}).",
                is_error=True,
            )
        limit = self._store.limits.of(edit.target)
        if isinstance(outcome, Done):
            return ToolResult(text=_describe_done(outcome, edit, limit))
        return _describe_refusal(outcome, edit, limit)


def _read_edit(arguments: Mapping[str, object]) -> Edit:
    action: Operation
    match arguments.get("action"):
        case "add" | "replace" | "remove" as action:
            pass
        case other:
            raise ToolArgumentError(f"`action` can't be {other!r}")
    target: Target
    match arguments.get("target"):
        case "memory" | "user" as target:
            pass
        case other:
            raise ToolArgumentError(f"`target` can't be {other!r}")
    text, old = arguments.get("text", ""), arguments.get("old", "")
    if not isinstance(text, str) or not isinstance(old, str):
        raise ToolArgumentError("`text` and `old` must be strings")
    if action != "remove" and not text.strip():
        raise ToolArgumentError(f"{action} needs `text`: the entry as it should read")
    if action != "add" and not old.strip():
        raise ToolArgumentError(f"{action} needs `old`: a part of the present entry")
    is_for_anyone = arguments.get("for_anyone") is True and action != "remove"
    if is_for_anyone and (target != "user" or len(text) > _LONGEST_FOR_ANYONE):
        raise ToolArgumentError(
            "`for_anyone` is only for a preference of style or language: one short entry of"
            f" `user`, at most {_LONGEST_FOR_ANYONE} characters"
        )
    return Edit(action=action, target=target, text=text, old=old, is_for_anyone=is_for_anyone)


def _describe_done(done: Done, edit: Edit, limit: int) -> str:
    seen = ", where anyone may see it" if edit.is_for_anyone else ""
    done_so = f"{_DONE[edit.action]} `{edit.target}`{seen}."
    return f"{done_so} {_describe_size(done.entries, limit)}"


def _describe_size(entries: tuple[str, ...], limit: int) -> str:
    used = size(entries)
    count = "1 entry" if len(entries) == 1 else f"{len(entries)} entries"
    over = " That is over the limit: consolidate." if used > limit else ""
    return f"It holds {count}, {used:,}/{limit:,} characters.{over}"


def _describe_refusal(refusal: Refusal, edit: Edit, limit: int) -> ToolResult:
    shown = _list_entries(refusal.shown)
    match refusal.fault:
        case "known":
            return ToolResult(text=f"Nothing to do: `{edit.target}` says it already:\n{shown}")
        case "same":
            return ToolResult(text="Nothing to do: the entry reads so already.")
        case "flaw":
            text = f"Refused: the text can't be kept, {refusal.detail}."
        case "full":
            text = (
                f"Refused: `{edit.target}` would hold {refusal.size:,} of {limit:,} characters."
                " Consolidate first: merge, shorten or remove entries, then try again."
                f" Present entries, [characters]:\n{shown}"
            )
        case "several":
            text = f"Refused: `old` fits several entries, name one of them:\n{shown}"
        case "none" if refusal.shown:
            text = f"Refused: `old` fits no entry of `{edit.target}`. It holds:\n{shown}"
        case "none":
            text = f"Refused: `{edit.target}` holds no entries."
    return ToolResult(text=text, is_error=True)


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
