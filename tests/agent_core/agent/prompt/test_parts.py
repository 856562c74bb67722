"""A frozen text taken apart: every section is counted once, and where it belongs."""

from agent_core.agent.prompt.compose import PromptInputs, compose, split_parts
from tests.agent_core.agent.prompt.inputs import everything


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
