"""The `propose_identity` tool: changes of SOUL.md that an owner must approve."""

from collections.abc import Mapping
from dataclasses import replace

from agent_core.errors import ToolArgumentError
from agent_core.localization import Text
from agent_core.memory.approval import PATIENCE, Approval, show_difference
from agent_core.memory.files import FileText, find_flaw, hash_text
from agent_core.memory.memory_tool import EVIDENCE_LIMIT, trace_call
from agent_core.memory.soul_store import SoulFile
from agent_core.tools.contract import Declaration, Effect, ToolContext, ToolResult
from agent_core.tools.schemas import make_schema
from agent_core.tools.secret_scan import find_secret
from agent_core.transcript import ToolSpec

_LONGEST_DIFF = 6000
"""Characters of a diff that an owner can be expected to read."""
_HASH = 12

_SPEC = ToolSpec(
    name="propose_identity",
    description=(
        "Propose a change of SOUL.md, the text that says who you are and how you speak, when this"
        " person asks for that; an owner decides. Not for facts about people (`memory`). `text` is"
        " the new whole, or, with `old`, what that passage becomes."
    ),
    schema=make_schema(("text",), text={"type": "string"}, old={"type": "string"}),
)


class ProposeSoulTool:
    """The `propose_identity` tool. It waits for an owner for at most `patience` seconds."""

    spec = _SPEC
    effect: Effect = "idempotent"
    declaration = Declaration(cost="free", time_limit=PATIENCE, waits_for_person=True)

    def __init__(self, identity: SoulFile, approval: Approval, limit: int) -> None:
        """`limit` is in characters of SOUL.md."""
        self._identity = identity
        self._approval = approval
        self._limit = limit

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Ask an owner to approve a change, and apply it.

        The approval covers exactly this change of exactly this text. Raises `ToolArgumentError`,
        `StoreError`, `OSError` if the file is unreadable or unwritable, and `QuestionPending`.
        """
        call_key = f"{context.turn_id}:{context.call_id}"
        if await self._identity.is_made(call_key):
            return _DONE
        base = await self._identity.read()
        text = _write(arguments, base.text)
        if text == base.text:
            return ToolResult(text="Nothing to do: SOUL.md already says that.")
        diff = _compare(base, text)
        if why := self._find_obstacle(text, diff):
            return _refuse(why)
        why = await self._approval.ask(
            context,
            _WISH,
            diff,
        )
        if why:
            return _refuse(why)
        approver = await self._approval.find_approver(context)
        evidence = f"approved by {approver}; proposed on: {context.evidence}"[:EVIDENCE_LIMIT]
        origin = replace(trace_call(context), evidence=evidence)
        if not await self._identity.change(base, text, origin):
            return _refuse("someone else changed it meanwhile; read it and propose again")
        return _DONE

    def _find_obstacle(self, text: str, diff: str) -> str:
        """Explain why a text can't be proposed; "" if it can be proposed."""
        if flaw := find_flaw(text):
            return flaw
        if secret := find_secret(text):
            return f"it contains what looks like {secret}"
        if len(text) > self._limit:
            return f"it would have {len(text):,} characters, and the limit is {self._limit:,}"
        if len(diff) > _LONGEST_DIFF:
            return "the difference is too long to be read at once; propose it in smaller steps"
        return ""


_WISH = Text("{name} wants to change my character for everyone, like this:")
_DONE = ToolResult(text="An owner approved it, and SOUL.md is changed. New sessions use it.")


def _refuse(why: str) -> ToolResult:
    return ToolResult(text=f"SOUL.md was not changed: {why}.", is_error=True)


def _write(arguments: Mapping[str, object], present: str) -> str:
    """Build the complete text that is proposed. Raises `ToolArgumentError`."""
    text, old = str(arguments.get("text", "")), str(arguments.get("old", ""))
    if old:
        count = present.count(old)
        if count != 1:
            found = "occurs several times" if count else "does not occur"
            raise ToolArgumentError(f"`old` {found}: give a passage of SOUL.md word for word")
        text = present.replace(old, text)
    if not text.strip():
        raise ToolArgumentError("`text` is empty: SOUL.md can't be empty")
    lines = (line.rstrip() for line in text.expandtabs(4).splitlines())
    return "\n".join(lines).strip() + "\n"


def _compare(base: FileText, text: str) -> str:
    """Format the diff.

    Its header has the hashes of both texts, so that the approval of one diff never counts for
    another.
    """
    names = (f"SOUL.md {base.hash[:_HASH]}", f"SOUL.md {hash_text(text)[:_HASH]}")
    return show_difference(base.text, text, names)
