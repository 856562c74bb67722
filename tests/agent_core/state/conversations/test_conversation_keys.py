"""The keys of named agents' conversations."""

from agent_core.ids import CallId, TurnId
from agent_core.state.conversations.delegated_turns import name_helper
from agent_core.state.conversations.sessions import (
    find_agent,
    name_conversation,
    strip_agent,
    strip_all,
)


def test_a_key_names_its_agent_and_the_conversation_beside_it() -> None:
    key = name_conversation("coder", "room:telegram:-100:5:7")
    assert find_agent(key) == find_agent(f"aside:12:{key}") == "coder"
    assert strip_agent(key) == strip_all(f"aside:12:{key}") == "room:telegram:-100:5:7"


def test_other_keys_have_no_agent() -> None:
    for key in ("direct:7", "aside:12:direct:7", "job:3:7", "room:discord:agent:x:7"):
        assert find_agent(key) == ""
        assert strip_agent(key) == key
    assert name_conversation("", "direct:7") == strip_all("aside:12:direct:7") == "direct:7"


def test_an_asked_agent_is_in_the_key_of_a_helper_and_no_call_can_name_one() -> None:
    assert find_agent(name_helper(TurnId(4), CallId("c"), 2, "coder")) == "coder"
    assert find_agent(name_helper(TurnId(4), CallId("x/coder:y"), 2)) == ""
