"""The tools of each place, and of the turn that begins there."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from agent_core.agent.named.definition import NamedAgent
from agent_core.agent.prompt.visibility import PromptContext
from agent_core.execution.selected import find_place
from agent_core.memory.archive.inventory import Inventory
from agent_core.schedule.resources import JobTurn
from agent_core.state.conversations.sessions import Conversation
from agent_core.state.conversations.turns import Step
from agent_core.tools.client_tools import NO_CLIENT_TOOLS, ClientTools
from agent_core.tools.selection.call_rules import Caller
from agent_core.tools.toolbox import Toolbox


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolboxes:
    """The tools by place: a room's toolbox has no tool that shows private data."""

    private: Toolbox
    room: Toolbox
    inventory: Inventory
    """Counts of what the search tools can find."""
    helper: Toolbox | None = None
    """The toolbox of helpers: nothing that asks, remembers, schedules, sends or delegates."""
    asked: Toolbox | None = None
    """The toolbox of a named agent that another agent asks: the helpers' tools, and messages."""
    private_job: Toolbox | None = None
    room_job: Toolbox | None = None
    """Toolboxes for jobs; separate, because every conversation pays for the tools in its prompt."""
    purposes: Mapping[str, Toolbox] = field(default_factory=dict)
    """Toolboxes of private jobs whose commands run elsewhere, by `job:TITLE`, `skill:NAME`, or
    `backend:NAME` for what the file of a skill names.
    """
    name_backend: Callable[[str], str] = lambda skill: ""
    """Reads which backend a skill names; "" for none. Blocks for a small file."""

    def open(
        self,
        context: PromptContext,
        job_turn: JobTurn | None,
        steps: Sequence[Step] = (),
        client: ClientTools = NO_CLIENT_TOOLS,
    ) -> Toolbox:
        """Make the toolbox of one turn; a job may restrict it further.

        Leaves out the tools that the person has switched off or, in a group or channel, those
        switched off there. A named agent gets only the tools that it may use. `steps` are the
        turn's calls so far; `client` are the tools of the program that asks.
        """
        conversation = context.conversation
        room = None if conversation.is_private else context.room
        off, agent = (room or context.person).tools_off, context.agent
        earlier = ((step.name, step.outcome is not None and not step.is_error) for step in steps)
        box = self.select(conversation, job_turn, agent)
        if agent:
            off = (*off, *agent.disabled)
        return box.open(
            _name_caller(conversation, job_turn),
            off,
            earlier,
            person=context.person.slug,
            agent=agent.name if agent else "",
            rules=agent.rules if agent else (),
        ).add_client_tools(client)

    def select(
        self,
        conversation: Conversation,
        job_turn: JobTurn | None,
        agent: NamedAgent | None = None,
    ) -> Toolbox:
        """Choose the tools of a conversation; a job and a named agent may restrict them further."""
        box = self._choose(conversation, job_turn)
        if agent is None:
            return box
        usable = [name for name in box.names if agent.may_use(name)]
        return box.restrict_to(usable, keeps_sources=agent.tools is None)

    def _choose(self, conversation: Conversation, job_turn: JobTurn | None) -> Toolbox:
        if conversation.is_helper:
            return (self.asked if conversation.agent else self.helper) or self.room.restrict_to(())
        if conversation.is_private:
            box = self._choose_for_job(job_turn) if job_turn else self.private
        else:
            box = self.room_job or self.room if job_turn else self.room
        return box.restrict_to(job_turn.tools) if job_turn and job_turn.tools else box

    def _choose_for_job(self, job_turn: JobTurn) -> Toolbox:
        usual = self.private_job or self.private
        if not self.purposes:
            return usual
        own, skills = f"job:{job_turn.title}", job_turn.skills
        rows = (own, *(f"skill:{name}" for name in skills))
        if row := next((name for name in rows if name in self.purposes), ""):
            return self.purposes[row]
        found = (find_place(self.purposes, name, self.name_backend(name)) for name in skills)
        return self.purposes.get(next(filter(None, found), ""), usual)


def _name_caller(conversation: Conversation, job_turn: JobTurn | None) -> Caller:
    if conversation.is_helper:
        return "helper"
    if job_turn:
        return "job"
    return "direct" if conversation.is_private else "group"
