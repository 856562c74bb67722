"""The `propose_identity` tool: a change of SOUL.md that only an owner can let happen."""

import json
from collections.abc import Mapping

from agent_core.errors import ToolArgumentError
from agent_core.memory.approval import PATIENCE, Approval, show_difference
from agent_core.memory.files import FileText, digest, find_flaw
from agent_core.memory.soul.soul import SoulFile
from agent_core.memory.tool.tool import EVIDENCE_LIMIT
from agent_core.state.memory.ledger import Origin
from agent_core.tools.contract import Effect, ToolContext, ToolResult
from agent_core.tools.secret_scan import find_secret
from agent_core.transcript import ToolSpec

_LONGEST_DIFF = 6000
"""Characters of a difference that an owner can be asked to read."""
_HASH = 12

_SPEC = ToolSpec(
    name="propose_identity",
    description=(
        "Propose a change of SOUL.md, the text that says who you are; an owner decides."
        " `text` is the new whole, or, with `old`, what that passage becomes."
    ),
    schema=json.dumps(
        {
            "type": "object",
            "properties": {"text": {"type": "string"}, "old": {"type": "string"}},
            "required": ["text"],
            "additionalProperties": False,
        },
        separators=(",", ":"),
    ),
)


class ProposeSoulTool:
    """The `propose_identity` tool. It waits for an owner: `patience`, in seconds."""

    spec = _SPEC
    effect: Effect = "idempotent"
    is_cheap = True
    patience = PATIENCE

    def __init__(self, identity: SoulFile, approval: Approval, limit: int) -> None:
        """`limit` is in characters of SOUL.md."""
        self._identity = identity
        self._approval = approval
        self._limit = limit

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Ask an owner for one change, and make it if they approve.

        What they approve is just this text in place of just that one. Raises
        `ToolArgumentError`, `StoreError`, `OSError` if the file can't be read or written, and
        `QuestionPending`.
        """
        call_key = f"{context.turn_id}:{context.call_id}"
        if await self._identity.is_made(call_key):
            return _DONE
        base = await self._identity.read()
        text = _write(arguments, base.text)
        if text == base.text:
            return ToolResult(text="Nothing to do: SOUL.md reads so already.")
        diff = _compare(base, text)
        if why := self._complain(text, diff):
            return _refuse(why)
        why = await self._approval.ask(
            context, "wants me to be somebody else: SOUL.md would change so, for everybody.", diff
        )
        if why:
            return _refuse(why)
        approver = await self._approval.find_approver(context)
        origin = Origin(
            actor=f"turn:{context.turn_id}",
            now=context.now,
            evidence=f"approved by {approver}; proposed on: {context.evidence}"[:EVIDENCE_LIMIT],
            call_key=call_key,
        )
        if not await self._identity.change(base, text, origin):
            return _refuse("it was changed by somebody else meanwhile; read it and propose again")
        return _DONE

    def _complain(self, text: str, diff: str) -> str:
        """Why a text can't be proposed, or nothing."""
        if flaw := find_flaw(text):
            return flaw
        if secret := find_secret(text):
            return f"it holds what looks like {secret}"
        if len(text) > self._limit:
            return f"it would have {len(text):,} of {self._limit:,} characters"
        if len(diff) > _LONGEST_DIFF:
            return "the difference is too long to be read at once; propose it in smaller steps"
        return ""


_DONE = ToolResult(
    text="An owner approved it, and SOUL.md reads so now. It holds from the next fresh prompt on."
)


def _refuse(why: str) -> ToolResult:
    return ToolResult(text=f"SOUL.md was not changed: {why}.", is_error=True)


def _write(arguments: Mapping[str, object], present: str) -> str:
    """The whole text that is proposed. Raises `ToolArgumentError`."""
    text, old = str(arguments.get("text", "")), str(arguments.get("old", ""))
    if old:
        count = present.count(old)
        if count != 1:
            found = "stands there several times" if count else "does not stand there"
            raise ToolArgumentError(f"`old` {found}: give a passage of SOUL.md word for word")
        text = present.replace(old, text)
    if not text.strip():
        raise ToolArgumentError("`text` is empty: an assistant has to be somebody")
    lines = (line.rstrip() for line in text.expandtabs(4).splitlines())
    return "\n".join(lines).strip() + "\n"


def _compare(base: FileText, text: str) -> str:
    """The difference as people read it; its heading names both texts by their hashes, so that
    an approval of one difference is never taken for that of another.
    """
    names = (f"SOUL.md {base.hash[:_HASH]}", f"SOUL.md {digest(text)[:_HASH]}")
    return show_difference(base.text, text, names)
