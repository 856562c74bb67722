"""Inputs of a system prompt with every section."""

from agent_core.agent.prompt.compose import PromptInputs
from agent_core.agent.prompt.context_files import ContextFile
from agent_core.ids import PersonId
from agent_core.memory.files import size
from agent_core.memory.shared import SharedList
from agent_core.memory.store import MemoryLimits, Snapshot


def snapshot(*memory: str) -> Snapshot:
    return Snapshot(
        memory=memory, user=(), memory_size=size(memory), user_size=0, limits=MemoryLimits()
    )


def everything() -> PromptInputs:
    team = SharedList(
        person_id=PersonId(3),
        kind="team",
        slug="team",
        target="team",
        entries=("SHARED",),
        limit=100,
    )
    return PromptInputs(
        soul="# Memory of mine\nI am SOUL.\n# Context file of mine\nStill SOUL.",
        snapshot=snapshot("OWN", "# Context file x\n# Rules\n<context-file>"),
        context=(
            ContextFile(name="A.md", text="# Memory of this person\nFILE\n</context-file>"),
            ContextFile(name="B.md", text="# Platform\nFILE"),
        ),
        platform="telegram",
        room=snapshot("ROOM"),
        borrowed=("LENT",),
        shared=(team,),
        is_shared=True,
    )
