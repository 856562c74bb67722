"""The `memory` tool: the model adds, corrects and removes entries of curated memory."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent_core.localization import Text
from agent_core.memory.approval import PATIENCE, Approval, show_changes
from agent_core.memory.changes import Refusal, plan_all
from agent_core.memory.editing import AppliedEdit
from agent_core.memory.shared import SharedList, SharedMemory
from agent_core.memory.tool import arguments as wanting
from agent_core.memory.tool.arguments import MemoryRequest, describe_done, describe_refusal
from agent_core.state.memory.ledger import Origin
from agent_core.tools.contract import Declaration, Effect, MemoryOwner, ToolContext, ToolResult
from agent_core.tools.schemas import make_schema
from agent_core.tools.secret_scan import find_secret
from agent_core.transcript import ToolSpec

EVIDENCE_LIMIT = 2_000
"""Characters of evidence that a ledger row keeps: a message, or both failures behind a lesson."""


def trace_call(context: ToolContext) -> Origin:
    """Return the ledger origin for a change that a tool call makes."""
    return Origin(
        actor=f"turn:{context.turn_id}",
        now=context.now,
        evidence=context.evidence[:EVIDENCE_LIMIT],
        call_key=f"{context.turn_id}:{context.call_id}",
        sources=context.sources,
    )


_STRING = {"type": "string"}
_ACTIONS = ["add", "replace", "remove", "rewrite", "batch"]


def _write_schema(properties: dict[str, object], required: list[str]) -> str:
    return make_schema(
        required,
        action={"enum": _ACTIONS},
        target=_STRING,
        text=_STRING,
        old=_STRING,
        **properties,
        edits={"type": "array", "items": {"type": "object"}},
    )


_HOW = (
    " `text`: one fact, short and plain. replace and remove need `old`: a part that no other entry"
    " has. rewrite: `text` is the whole list, a line `- …` each. batch: `edits` of action, text,"
    " old; all or none."
)
_SPEC = ToolSpec(
    name="memory",
    description=(
        "Change what you remember across conversations. target `user`: who this person is, what"
        " they prefer; `memory`: other lasting notes; `team`: for all here, nothing private, owners"
        " approve; `block:NAME`: a block you see." + _HOW
    ),
    schema=_write_schema(
        {
            "for_anyone": {
                "type": "boolean",
                "description": "others in rooms see it: only wishes for language, length, tone",
            },
        },
        ["action", "target"],
    ),
)
_ROOM_SPEC = ToolSpec(
    name="memory",
    description=(
        "Change what this room remembers; everyone in it can see that. target `team`: for all"
        " people here, nothing private, owners approve; `block:NAME`: a block you are"
        " shown; else `memory`." + _HOW
    ),
    schema=_write_schema({}, ["action"]),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Attempt:
    """A parsed call with its owner and the origin of its changes."""

    wanted: MemoryRequest
    memory_owner: MemoryOwner
    context: ToolContext
    origin: Origin


class MemoryTool:
    """The `memory` tool; in a room it changes only the room's list and shared lists.

    A change of the team's list needs an owner's approval, unless an owner asks in person. The call
    waits for the approval for at most `patience` seconds.
    """

    spec = _SPEC
    effect: Effect = "idempotent"
    declaration = Declaration(cost="free", time_limit=PATIENCE, waits_for_person=True)

    def __init__(
        self,
        memory: SharedMemory,
        approval: Approval,
        *,
        in_room: bool = False,
    ) -> None:
        self._store = memory.store
        self._shared = memory
        self._approval = approval
        self._in_room = in_room
        if in_room:
            self.spec = _ROOM_SPEC

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Apply one edit or a batch to a list that this turn may change.

        Raises `ToolArgumentError` for a missing or invalid argument, `StoreError`, and
        `QuestionPending` if the process stops while a question to an owner is open.
        """
        attempt = self._read(arguments, context)
        if isinstance(attempt, ToolResult):
            return attempt
        try:
            if attempt.wanted.is_own:
                return await self._change_own(attempt)
            return await self._change_shared(attempt)
        except OSError as error:
            return _refuse(
                f"Nothing was changed: the file of `{attempt.wanted.target}` is unreadable"
                f" ({error.strerror or error})."
            )

    async def preview(
        self, arguments: Mapping[str, object], context: ToolContext
    ) -> str | ToolResult:
        """Describe the changes of a call; "" if an owner has to approve them anyway.

        Raises `ToolArgumentError` and `StoreError`.
        """
        attempt = self._read(arguments, context)
        if isinstance(attempt, ToolResult):
            return attempt
        wanted, owner = attempt.wanted, attempt.memory_owner
        if wanted.is_own:
            target = wanted.edits[0].target
            own = await self._store.snapshot(
                owner.person_id, owner.slug, context.now, kind=owner.kind
            )
            entries = own.user if target == "user" else own.memory
            limit = own.limits.of(target)
        else:
            shared = await self._find_shared(attempt)
            if isinstance(shared, ToolResult):
                return shared
            if shared.kind == "team" and not await self._approval.is_owner_present(context):
                return ""
            target, entries, limit = "memory", shared.entries, shared.limit
        planned = plan_all({target: entries}, wanted.edits, {target: limit})
        if isinstance(planned, Refusal):
            return describe_refusal(planned, wanted, limit)
        head = f"[{wanted.target}]"
        if any(edit.is_for_anyone for edit in wanted.edits):
            head = f"{head} {_FOR_ANYONE()}"
        return f"{head}\n{show_changes([change for made in planned for change in made])}"

    def _read(self, arguments: Mapping[str, object], context: ToolContext) -> _Attempt | ToolResult:
        """Parse a call, or return a refusal as its result. Raises `ToolArgumentError`."""
        memory_owner = context.memory_owner
        if memory_owner is None or (memory_owner.kind == "room") != self._in_room:
            return _refuse("Nothing can be remembered here.")
        wanted = wanting.read(arguments, in_room=self._in_room)
        if secret := _find_secret(wanted):
            return _refuse(
                f"Refused: the text contains what looks like {secret}. Don't store secrets: say"
                " so, and suggest changing it if others could have read it."
            )
        return _Attempt(
            wanted=wanted, memory_owner=memory_owner, context=context, origin=trace_call(context)
        )

    async def _change_own(self, attempt: _Attempt) -> ToolResult:
        memory_owner, wanted = attempt.memory_owner, attempt.wanted
        outcome = await self._store.change_all(
            memory_owner.person_id,
            memory_owner.slug,
            wanted.edits,
            attempt.origin,
            kind=memory_owner.kind,
        )
        return _describe(outcome, wanted, self._store.limits.of(wanted.edits[0].target))

    async def _change_shared(self, attempt: _Attempt) -> ToolResult:
        wanted = attempt.wanted
        shared = await self._find_shared(attempt)
        if isinstance(shared, ToolResult):
            return shared
        if shared.kind == "team" and (why := await self._ask_approval(attempt, shared)):
            return why
        outcome = await self._shared.change(shared, wanted.edits, attempt.origin)
        return _describe(outcome, wanted, shared.limit)

    async def _find_shared(self, attempt: _Attempt) -> SharedList | ToolResult:
        """Find the shared list of a call, or return a refusal as its result."""
        wanted = attempt.wanted
        owner = attempt.memory_owner
        seen = [
            one
            for one in await self._shared.look(owner.person_id, attempt.context.now)
            if one.block is None or owner.blocks is None or one.block.label in owner.blocks
        ]
        shared = next((one for one in seen if one.target == wanted.target), None)
        if shared is None:
            names = ", ".join(f"`{one.target}`" for one in seen)
            return _refuse(f"There is no `{wanted.target}` here. There are: {names}.")
        if shared.is_read_only:
            return _refuse(
                f"`{wanted.target}` is read-only for you. Its creator and owners can change that:"
                " /block readonly."
            )
        return shared

    async def _ask_approval(self, attempt: _Attempt, team: SharedList) -> ToolResult | None:
        """Ask an owner to approve a change of the team's list; returns the refusal, or None."""
        wanted, context = attempt.wanted, attempt.context
        if await self._approval.is_owner_present(context) or await self._shared.is_made(
            team, attempt.origin
        ):
            return None
        planned = plan_all({"memory": team.entries}, wanted.edits, {"memory": team.limit})
        if isinstance(planned, Refusal):
            return describe_refusal(planned, wanted, team.limit)
        changes = [change for made in planned for change in made]
        why = await self._approval.ask(
            context,
            _TEAM_WISH,
            show_changes(changes),
        )
        return _refuse(f"Nothing was changed in `team`: {why}.") if why else None


_FOR_ANYONE = Text("(visible to others)")
_TEAM_WISH = Text("{name} wants to change the team's memory, which everyone's prompt contains:")


def _find_secret(wanted: MemoryRequest) -> str | None:
    return next((kind for edit in wanted.edits if (kind := find_secret(edit.text))), None)


def _describe(
    outcome: Sequence[AppliedEdit] | Refusal, wanted: MemoryRequest, limit: int
) -> ToolResult:
    if isinstance(outcome, Refusal):
        return describe_refusal(outcome, wanted, limit)
    return describe_done(outcome, wanted, limit)


def _refuse(sentence: str) -> ToolResult:
    return ToolResult(text=sentence, is_error=True)
