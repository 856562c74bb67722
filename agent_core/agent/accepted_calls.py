"""Run tool calls that a person has accepted after their turn."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from agent_core.agent.prompt.visibility import PromptContext
from agent_core.agent.toolboxes import Toolboxes
from agent_core.errors import ToolArgumentError
from agent_core.ids import PersonId
from agent_core.schedule.resources import JobTurn
from agent_core.state.conversations.sessions import Conversation
from agent_core.state.conversations.turns import StoredTurn
from agent_core.state.people.people import Person
from agent_core.state.people.rooms import Room
from agent_core.tools.contract import ToolContext, ToolResult
from agent_core.tools.selection.renamed_calls import renew
from agent_core.tools.toolbox import Toolbox
from agent_core.transcript import ToolCallPart, UntrustedSource


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedCall:
    """A proposed call, its turn, and the current state of what the turn depends on.

    `evidence` are the person's messages in the turn, and `sources` those that the proposal named.
    """

    call: ToolCallPart
    turn: StoredTurn
    conversation: Conversation
    person: Person
    room: Room | None
    job_turn: JobTurn | None
    evidence: str
    sources: tuple[UntrustedSource, ...]


class AcceptedCalls:
    """Runs accepted calls with the tools and the rights that their turn would have now."""

    def __init__(self, toolboxes: Toolboxes, now: Callable[[], int]) -> None:
        self._toolboxes = toolboxes
        self._now = now

    async def run(self, accepted: AcceptedCall) -> ToolResult:
        """Run a call. It can be repeated after a crash: no change is made twice. Raises
        `QuestionPending`.
        """
        toolbox, context = await self._open(accepted)
        return await toolbox.run(renew(accepted.call), context)

    async def preview(self, accepted: AcceptedCall) -> str:
        """Describe the change that a call would make now; "" if it would make none.

        Raises `StoreError`.
        """
        toolbox, context = await self._open(accepted)
        try:
            shown = await toolbox.preview(renew(accepted.call), context)
        except (ToolArgumentError, ValueError):
            return ""
        return shown if isinstance(shown, str) else ""

    def find_owner(self, accepted: AcceptedCall) -> PersonId | None:
        """Return whose memory a call may change; None if nobody's."""
        owner = _place(accepted).memory_owner
        return owner.person_id if owner else None

    async def _open(self, accepted: AcceptedCall) -> tuple[Toolbox, ToolContext]:
        place = _place(accepted)
        context = place.make_tool_context(
            accepted.turn.id,
            accepted.call.call_id,
            memory_owner=place.memory_owner,
            now=self._now(),
            evidence=accepted.evidence,
            sources=accepted.sources,
        )
        toolbox = self._toolboxes.open(place, accepted.job_turn)
        await toolbox.load([accepted.call.name], context.person_id, context.owner_id)
        return toolbox, replace(context, is_accepted=True)


def _place(accepted: AcceptedCall) -> PromptContext:
    return PromptContext(
        conversation=accepted.conversation,
        person=accepted.person,
        room=accepted.room,
        platform=accepted.turn.place.chat.platform,
    )
