"""The gate in front of every call: it runs, is proposed, or needs a person's permission."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace

from agent_core.ids import SessionId, TurnId
from agent_core.tools.contract import Pause, Proposable, Tool, ToolContext, ToolResult
from agent_core.tools.own_words.contract import StatesEssentials
from agent_core.tools.own_words.evidence import is_evidenced
from agent_core.tools.policy.approval_requests import (
    LONGEST_SHOWN,
    ApprovalRequest,
    Decision,
    canonicalize,
    list_reach,
    show_call,
)
from agent_core.tools.policy.contract import Action, DeclaresActions
from agent_core.tools.policy.policy import Policy, make_facts
from agent_core.tools.policy.verdicts import Verdict, judge
from agent_core.tools.results import bound, fail
from agent_core.tools.user_questions import NeedsApproval, Proposal, UserPrompter
from agent_core.transcript import ToolCallPart, flatten, quote

PROPOSED = (
    "Proposed, not done: words of others are in this conversation, so the person decides with a"
    " button below your answer. Don't repeat the call, and don't say that it is done."
)
"""The result of a call that was proposed instead of run."""
_TOO_LONG = (
    "too much for a person to read before they allow it. Write it to a file in parts, or do less"
    " at once."
)
_MOST_EVIDENCED = 10
"""Changes of a turn that own words prove; no message wishes for more."""
_LONGEST_REASON = 2000
_NAMED = 200
_REASONS = {
    "interrupted": "They did not decide, but wrote something else: read it before you go on. If you"
    " don't see it, it comes after this answer: end here, shortly.",
    "late": "Nobody answered in time, which means no.",
    "unreachable": "Nobody who may allow it can be asked now.",
    "used": "Its approval was used up or has expired; ask again only if it is still needed.",
    "changed": "It differs from what was shown when it was allowed; call it again.",
}
Begin = Callable[[ApprovalRequest | None], Awaitable[bool]]
"""Records that a call runs, and uses up the approval of its request, if any, in one transaction.
Returns False, and records nothing, if the approval was used or has expired.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """The permission to run a call; `request` is the request that a person has allowed, if any.

    A command that `is_offline` gets no network.
    """

    request: ApprovalRequest | None = None
    is_offline: bool = False


def was_kept_back(name: str, outcome: str) -> bool:
    """Return whether a call with this result was only proposed, or refused."""
    return outcome == PROPOSED or outcome.startswith(f"`{name}` was not run")


class Gate:
    """Decides whether a call runs now, is proposed, or is refused."""

    def __init__(self, prompter: UserPrompter | None, policy: Policy | None) -> None:
        """Without a `prompter`, every call that a person would have to decide is refused.

        Without a `policy`, there are no rules, and earlier approvals don't count.
        """
        self._prompter = prompter
        self._policy = policy
        self._evidenced: dict[tuple[str, str], TurnId] = {}
        """The calls that ran because of own words, with their turns: a wish happens once."""

    async def check(
        self,
        tool: Tool,
        call: ToolCallPart,
        arguments: Mapping[str, object],
        context: ToolContext,
        pause: Pause = nullcontext,
    ) -> ToolResult | Pass:
        """Return the result of a call that must not run now, or its pass.

        Waits for the person if necessary. Raises what a preview raises, `StoreError` and
        `QuestionPending`.
        """
        actions = _list_actions(tool, arguments, context)
        verdict, session_id = await self._judge(tool, actions, context)
        if verdict.effect == "deny":
            closed = flatten(verdict.denied, _NAMED)
            return fail(f"`{call.name}` was not run: {closed} is closed, and nobody can allow it.")
        if proposed := await self._propose(tool, call, arguments, context, pause):
            return proposed
        is_asked = verdict.effect == "ask" or isinstance(tool, NeedsApproval)
        if not is_asked or context.is_accepted:
            return Pass(is_offline=verdict.is_offline)
        request = _make_request(tool, arguments, context, actions, verdict, session_id)
        return await self._ask(request, pause)

    async def confirm(
        self,
        permit: Pass,
        tool: Tool,
        arguments: Mapping[str, object],
        context: ToolContext,
        begin: Begin | None,
    ) -> ToolResult | None:
        """Check a pass again right before the call runs, and use up its approval.

        `begin` is None for a call whose start is not recorded. Returns a result if the call must
        not run. Raises `StoreError`, and what `begin` raises.
        """
        request = permit.request
        if request is None:
            if begin:
                await begin(None)
            return None
        actions = _list_actions(tool, arguments, context)
        now = replace(request, arguments=canonicalize(arguments), actions=actions)
        if now.digest != request.digest or self._prompter is None:
            return _refuse(request, Decision(refusal="changed"))
        if not await (begin or self._prompter.use)(request):
            return _refuse(request, Decision(refusal="used"))
        return None

    async def _judge(
        self, tool: Tool, actions: tuple[Action, ...], context: ToolContext
    ) -> tuple[Verdict, SessionId | None]:
        if not actions:
            return Verdict(effect="allow"), None
        name, is_proposed = tool.spec.name, isinstance(tool, Proposable)
        if self._policy:
            return await self._policy.judge(name, actions, context, is_proposed=is_proposed)
        return judge(name, actions, make_facts(context), is_proposed=is_proposed), None

    async def _ask(self, request: ApprovalRequest, pause: Pause) -> ToolResult | Pass:
        if self._prompter is None:
            return _refuse(request, Decision(refusal="unreachable"))
        reach = sum(len(target) for _, target, _ in list_reach(request.asked, request.shown))
        if len(request.shown) + reach > LONGEST_SHOWN:
            return fail(f"`{request.tool}` was not run: it is {_TOO_LONG}")
        async with pause():
            decision = await self._prompter.approve(request)
        return _refuse(request, decision) if decision.refusal else Pass(request=request)

    async def _propose(
        self,
        tool: Tool,
        call: ToolCallPart,
        arguments: Mapping[str, object],
        context: ToolContext,
        pause: Pause,
    ) -> ToolResult | None:
        """Propose a change after untrusted words; return None if the call may run."""
        if not context.sources or context.is_accepted or not isinstance(tool, Proposable):
            return None
        if await self._is_own_wish(tool, arguments, context):
            return None
        shown = await tool.preview(arguments, context)
        if isinstance(shown, ToolResult):
            return replace(shown, text=bound(shown.text))
        if not shown:
            return None
        if len(shown) > LONGEST_SHOWN:
            return fail("Not done: the change is too long to be read at once. Make smaller ones.")
        proposal = Proposal(
            person_id=context.person_id,
            turn_id=context.turn_id,
            call_id=context.call_id,
            tool=call.name,
            arguments=call.arguments,
            shown=shown,
            sources=context.sources,
        )
        if self._prompter:
            async with pause():
                is_stored = await self._prompter.propose(proposal)
        if not self._prompter or not is_stored:
            return fail(f"`{call.name}` was not run: no more changes can be proposed now.")
        return ToolResult(text=PROPOSED)

    async def _is_own_wish(
        self, tool: Tool, arguments: Mapping[str, object], context: ToolContext
    ) -> bool:
        """Return whether the person's present words state this change, once."""
        words = context.own_words()
        wish, turn_id = (tool.spec.name, canonicalize(arguments)), context.turn_id
        if not words.sentences or not isinstance(tool, StatesEssentials):
            return False
        self._evidenced = {one: at for one, at in self._evidenced.items() if at == turn_id}
        if wish in self._evidenced or len(self._evidenced) >= _MOST_EVIDENCED:
            return False
        needs = await tool.list_essentials(arguments, context)
        if needs is None or not is_evidenced(needs, words):
            return False
        self._evidenced[wish] = turn_id
        return True


def _list_actions(
    tool: Tool, arguments: Mapping[str, object], context: ToolContext
) -> tuple[Action, ...]:
    """Return the actions of a call; () for a tool that doesn't declare any."""
    if not isinstance(tool, DeclaresActions):
        return ()
    return tuple(tool.list_actions(arguments, context))


def _make_request(
    tool: Tool,
    arguments: Mapping[str, object],
    context: ToolContext,
    actions: tuple[Action, ...],
    verdict: Verdict,
    session_id: SessionId | None,
) -> ApprovalRequest:
    name = tool.spec.name
    described = tool.describe(arguments) if isinstance(tool, NeedsApproval) else ""
    return ApprovalRequest(
        person_id=context.person_id,
        conversation_id=context.conversation_id,
        turn_id=context.turn_id,
        call_id=context.call_id,
        tool=name,
        arguments=canonicalize(arguments),
        actions=actions,
        asked=verdict.asked,
        shown=described or show_call(name, arguments),
        shapes=() if isinstance(tool, NeedsApproval) else verdict.shapes,
        is_for_owner=verdict.needs_owner,
        is_tainted=verdict.is_tainted,
        is_over=verdict.is_over,
        sources=context.sources,
        session_id=session_id,
    )


def _refuse(request: ApprovalRequest, decision: Decision) -> ToolResult:
    """Explain a refusal to the model."""
    reason = _REASONS.get(decision.refusal, "The person said no.")
    if decision.why:
        reason = f"The person said no, because: {quote(decision.why, _LONGEST_REASON)}"
    return fail(f"`{request.tool}` was not run. {reason}")
