"""A frozen text taken apart: every section is counted once, and where it belongs."""

from agent_core.agent.prompt.compose import PromptInputs, compose, split_parts
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


def test_every_section_is_where_it_belongs() -> None:
    text = compose(everything())
    parts = split_parts(text)
    assert sorted("".join(parts.values())) == sorted(text)
    for word in ("OWN", "ROOM", "LENT", "SHARED", "MEMORY.md of this room"):
        assert word in parts["memory"], word
        assert word not in parts["identity"] + parts["files"], word
    assert parts["files"].count("FILE") == 2
    assert parts["identity"].count("SOUL") == 2
    for word in ("# Rules\n- Answer", "# Tools", "# This room", "# Platform\nYour words"):
        assert word in parts["identity"], word


def test_what_is_not_there_is_empty() -> None:
    bare = PromptInputs(soul="I.", snapshot=None, context=(), platform="x", tools=())
    parts = split_parts(compose(bare))
    assert (parts["memory"], parts["files"]) == ("", "")
    assert parts["identity"] == compose(bare)
    assert split_parts("") == {"identity": "", "memory": "", "files": ""}
