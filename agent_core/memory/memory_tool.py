"""The `memory` tool: the model adds, corrects and removes entries of curated memory."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent_core.errors import ToolArgumentError
from agent_core.localization import Text
from agent_core.memory.approval import PATIENCE, Approval, name_list, show_changes
from agent_core.memory.editing import AppliedEdit
from agent_core.memory.edits_within_limits import Edit, EditAction, Refusal, plan_all
from agent_core.memory.files import size
from agent_core.memory.receipts import confirm_changes
from agent_core.memory.shared import SharedList, SharedMemory
from agent_core.state.memory.ledger import MemoryTarget, Origin
from agent_core.tools.contract import Declaration, Effect, MemoryOwner, ToolContext, ToolResult
from agent_core.tools.own_words.contract import Essentials, WishKind
from agent_core.tools.schemas import make_schema
from agent_core.tools.secret_scan import find_secret
from agent_core.transcript import ToolSpec, escape

BLOCK = "block:"
TEAM = "team"
MOST_EDITS = 50
_LONGEST_FOR_ANYONE = 160
"""Characters of an entry that the model may show to everyone; a preference is short."""
_FIELDS = {"action", "text", "old"}
_OLD, _TEXT = ("replace", "remove"), ("add", "replace", "rewrite")
"""The actions that need the present entry, and those that need the new entry."""

_LISTING_LIMIT = 6000
"""The most characters of entries in one answer; a list edited by hand may be far longer."""
_DONE = {
    "add": "Added to",
    "replace": "Replaced in",
    "remove": "Removed from",
    "rewrite": "Rewritten:",
}
EVIDENCE_LIMIT = 2_000
"""Characters of evidence that a ledger row keeps: a message, or both failures behind a lesson."""
_STRING = {"type": "string"}
_HOW = (
    " `add` a new fact; `replace` an entry that is wrong or out of date, instead of adding a second"
    " one; `remove` the entry that `old` names. `rewrite` is only for tidying: `text` is then every"
    " entry to keep, a line `- …` each. `batch` makes several `edits`, all or none."
)
_CHANGES = ["add", "replace", "remove", "rewrite"]
_TEXT_FIELD = {"type": "string", "description": "add, replace: the fact, one short plain sentence"}
_OLD_FIELD = {
    "type": "string",
    "description": "replace, remove: words of the entry that no other entry has",
}
_FOR_ANYONE = Text("(visible to others)")
_TEAM_WISH = Text("{name} wants to change the notes that apply to everyone here:")


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
    list_target: MemoryTarget = "user" if target == "user" else "memory"
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


def _read_edit(arguments: Mapping[str, object], target: MemoryTarget) -> Edit:
    action: EditAction
    match arguments.get("action"):
        case "add" | "replace" | "remove" | "rewrite" as action:
            pass
        case other:
            raise ToolArgumentError(f"`action` can't be {other!r}")
    text, old = arguments.get("text", ""), arguments.get("old", "")
    if not isinstance(text, str) or not isinstance(old, str):
        raise ToolArgumentError("`text` and `old` must be strings")
    if action == "remove" and not old.strip():
        text, old = "", text  # models put the entry to remove into either
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


def _describe_text(action: EditAction) -> str:
    if action == "rewrite":
        return "the whole list, a line beginning with `- ` for each entry"
    return "the entry as it should read"


def describe_done(done: Sequence[AppliedEdit], wanted: MemoryRequest, limit: int) -> ToolResult:
    """Describe the applied edits and the size of the list; `limit` is in characters."""
    if wanted.is_batch:
        count = len(wanted.edits)
        said = f"Made {count} edits of" if count > 1 else "Made the edit of"
    else:
        said = _DONE[wanted.edits[0].action]
    seen = ", where anyone may see it" if any(edit.is_for_anyone for edit in wanted.edits) else ""
    return ToolResult(
        text=f"{said} `{wanted.target}`{seen}. {_describe_size(done[-1].entries, limit)}",
        receipts=confirm_changes([change for edit in done for change in edit.changes]),
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
                " Consolidate first: remove what is over, merge or shorten entries, then try again."
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


def trace_call(context: ToolContext) -> Origin:
    """Return the ledger origin for a change that a tool call makes."""
    return Origin(
        actor=f"turn:{context.turn_id}",
        now=context.now,
        evidence=context.evidence[:EVIDENCE_LIMIT],
        call_key=f"{context.turn_id}:{context.call_id}",
        sources=context.sources,
    )


def _write_schema(
    lists: list[str], targets: str, properties: dict[str, object], required: list[str]
) -> str:
    return make_schema(
        required,
        action={"enum": [*_CHANGES, "batch"]},
        target={
            "anyOf": [{"enum": lists}, {"type": "string", "pattern": f"^{BLOCK}"}],
            "description": targets,
        },
        text=_TEXT_FIELD,
        old=_OLD_FIELD,
        **properties,
        edits={
            "type": "array",
            "description": "batch: edits of the same target",
            "items": {
                "type": "object",
                "properties": {"action": {"enum": _CHANGES}, "text": _STRING, "old": _STRING},
            },
        },
    )


_SPEC = ToolSpec(
    name="memory",
    description=(
        "Save, correct or drop a fact that you should know in every later conversation. For"
        ' "remember that …", "forget that …", "that is not true any more", "answer shorter from now'
        ' on", and for lasting facts that they mention: "I\'m vegetarian". Not for reminders at a'
        " time (`remind`), nor for long texts and lists (`archive`)." + _HOW + " Examples:"
        ' {"action": "add", "target": "user", "text": "Is allergic to peanuts."} and'
        ' {"action": "remove", "target": "user", "old": "peanuts"}'
    ),
    schema=_write_schema(
        ["user", "memory", TEAM],
        "`user`: who this person is, who is around them, what they like; `memory`: other lasting"
        " notes; `team`: for everyone here, nothing private, owners approve; `block:NAME`: a"
        " shared block that you are shown",
        {
            "for_anyone": {
                "type": "boolean",
                "description": "true for a wish about language, length or tone: others in rooms"
                " see it",
            },
        },
        ["action", "target"],
    ),
)
_ROOM_SPEC = ToolSpec(
    name="memory",
    description=(
        "Save, correct or drop a fact that you should know in every later conversation in this"
        " room; everyone in it can see that. Not for reminders at a time (`remind`), nor for long"
        " texts and lists (`archive`)." + _HOW + " Example:"
        ' {"action": "add", "text": "The choir meets on Mondays."}'
    ),
    schema=_write_schema(
        ["memory", TEAM],
        "`memory`, the room's list, is usual; `team`: for everyone here, nothing private, owners"
        " approve; `block:NAME`: a shared block that you are shown",
        {},
        ["action"],
    ),
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
    declaration = Declaration(
        cost="free", time_limit=PATIENCE, waits_for_person=True, has_receipts=True
    )

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
        head = name_list(wanted.target)
        if any(edit.is_for_anyone for edit in wanted.edits):
            head = f"{head} {_FOR_ANYONE()}"
        return f"{head}\n{show_changes([change for made in planned for change in made])}"

    async def list_essentials(
        self, arguments: Mapping[str, object], context: ToolContext
    ) -> Essentials | None:
        """Return what own words must say for one edit of the person's own lists; see the contract.

        Raises `ToolArgumentError` and `StoreError`.
        """
        attempt = self._read(arguments, context)
        if isinstance(attempt, ToolResult) or self._in_room or not attempt.wanted.is_own:
            return None
        edits, owner = attempt.wanted.edits, attempt.memory_owner
        edit = edits[0]
        if len(edits) > 1 or edit.is_for_anyone or edit.action == "rewrite":
            return None
        if edit.action == "add":
            return Essentials(kind="keep", text=edit.text)
        own = await self._store.snapshot(owner.person_id, owner.slug, context.now, kind=owner.kind)
        entries = own.user if edit.target == "user" else own.memory
        meant = [one for one in entries if edit.old.strip().casefold() in one.casefold()]
        if len(meant) != 1:
            return None
        kind: WishKind = "forget" if edit.action == "remove" else "correct"
        others = [one for one in entries if one != meant[0]]
        return Essentials(kind=kind, text=edit.text, known=meant[0], target=meant[0], others=others)

    def _read(self, arguments: Mapping[str, object], context: ToolContext) -> _Attempt | ToolResult:
        """Parse a call, or return a refusal as its result. Raises `ToolArgumentError`."""
        memory_owner = context.memory_owner
        if memory_owner is None or (memory_owner.kind == "room") != self._in_room:
            return _refuse("Nothing can be remembered here.")
        wanted = read(arguments, in_room=self._in_room)
        if memory_owner.only_blocks and not wanted.target.startswith(BLOCK):
            names = ", ".join(f"`{BLOCK}{label}`" for label in memory_owner.blocks or ())
            return _refuse(
                "Whoever was asked can change only the blocks of its team:"
                f" {names or 'it has none'}. Say in your answer what should be remembered."
            )
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
