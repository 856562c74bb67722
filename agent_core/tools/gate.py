"""The gate in front of every call: what is only proposed, and what a person must approve."""

from collections.abc import Mapping
from dataclasses import replace

from agent_core.localization import Text
from agent_core.state.conversations.questions import Choice
from agent_core.tools.contract import Proposable, Tool, ToolContext, ToolResult
from agent_core.tools.results import bound, fail
from agent_core.tools.user_questions import (
    NeedsApproval,
    Proposal,
    UserPrompt,
    UserPrompter,
    describe_no_answer,
)
from agent_core.transcript import ToolCallPart

_ALLOW, _REFUSE = Text("Allow"), Text("Don't")
_ALLOWED = "allow"

_LONGEST_PREVIEW = 6000
"""Characters of a change that a person can be expected to read before they accept it."""
PROPOSED = (
    "Proposed, not done: words of others are in this conversation, so the person decides with a"
    " button below your answer. Don't repeat the call, and don't say that it is done."
)
"""The result of a call that was proposed instead of run."""


class Gate:
    """Decides whether a call runs now, is proposed, or is refused."""

    def __init__(self, prompter: UserPrompter | None) -> None:
        """Without a `prompter`, whatever a person would have to decide is refused."""
        self._prompter = prompter

    async def check(
        self,
        tool: Tool,
        call: ToolCallPart,
        arguments: Mapping[str, object],
        context: ToolContext,
    ) -> ToolResult | None:
        """Return the result of a call that must not run now; None if it may run.

        Waits for the person if need be. Raises what a preview raises, `StoreError` and
        `QuestionPending`.
        """
        if proposed := await self._propose(tool, call, arguments, context):
            return proposed
        refusal = await self._ask(tool, arguments, context)
        return fail(refusal) if refusal else None

    async def _propose(
        self,
        tool: Tool,
        call: ToolCallPart,
        arguments: Mapping[str, object],
        context: ToolContext,
    ) -> ToolResult | None:
        """Propose a change after untrusted words; None if the call may run."""
        if not context.sources or context.is_accepted or not isinstance(tool, Proposable):
            return None
        shown = await tool.preview(arguments, context)
        if isinstance(shown, ToolResult):
            return replace(shown, text=bound(shown.text))
        if not shown:
            return None
        if len(shown) > _LONGEST_PREVIEW:
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
        if self._prompter is None or not await self._prompter.propose(proposal):
            return fail(f"`{call.name}` was not run: no more changes can be proposed now.")
        return ToolResult(text=PROPOSED)

    async def _ask(self, tool: Tool, arguments: Mapping[str, object], context: ToolContext) -> str:
        """The reason why a call may not run; empty if it may."""
        if not isinstance(tool, NeedsApproval):
            return ""
        if self._prompter is None:
            return f"`{tool.spec.name}` was not run: nobody is there who could allow it."
        answer = await self._prompter.ask(
            UserPrompt(
                person_id=context.person_id,
                turn_id=context.turn_id,
                call_id=context.call_id,
                kind="approval",
                text=tool.describe(arguments),
                choices=(
                    Choice(key=_ALLOWED, label=_ALLOW(), style="good"),
                    Choice(key="refuse", label=_REFUSE(), style="danger"),
                ),
            )
        )
        if isinstance(answer, Choice) and answer.key == _ALLOWED:
            return ""
        why = "The person refused." if isinstance(answer, Choice) else describe_no_answer(answer)
        return f"`{tool.spec.name}` was not run. {why}"
