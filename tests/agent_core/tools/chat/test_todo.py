"""The plan of a conversation."""

from dataclasses import replace

import pytest

from agent_core.state.conversations import past_sessions, plans, sessions
from agent_core.tools.chat.todo import LONGEST_STEP, MOST_STEPS, TodoTool
from tests.agent_core.state.rows import add_dialogue, add_person, add_turn
from tests.agent_core.tools.chat.conftest import Desk

TRIP = {"plan": [{"text": "Find a room", "state": "active"}, {"text": "Book the room"}]}


@pytest.fixture
def todo(desk: Desk) -> TodoTool:
    return TodoTool(desk.database)


async def test_a_plan_is_kept_shown_and_changed_by_number(desk: Desk, todo: TodoTool) -> None:
    result = await desk.call(todo, TRIP)
    assert result.text == "1. [active] Find a room\n2. [pending] Book the room"
    update = [{"number": 1, "state": "done"}, {"number": 3, "text": "Tell Ben"}]
    result = await desk.call(todo, {"update": update})
    assert result.text == "1. [done] Find a room\n2. [pending] Book the room\n3. [pending] Tell Ben"
    assert desk.shown == [(1, 2, "Find a room"), (2, 3, "Book the room")]


async def test_the_next_turn_of_the_session_reads_the_plan(desk: Desk, todo: TodoTool) -> None:
    await desk.call(todo, TRIP)
    await desk.begin_turn()
    assert "Book the room" in (await desk.call(todo, {})).text


async def test_a_new_session_begins_without_a_plan(desk: Desk, todo: TodoTool) -> None:
    await desk.call(todo, TRIP)
    conversation_id = desk.dialogue.conversation.id
    session_id = await desk.database.write(
        "new",
        lambda c: (
            sessions.end(c, conversation_id=conversation_id, now=1),
            sessions.insert(c, conversation_id=conversation_id, now=1),
        )[1],
    )
    desk.dialogue = replace(desk.dialogue, session_id=session_id)
    await desk.begin_turn()
    assert (await desk.call(todo, {})).text == "There is no plan."


async def test_a_branch_begins_with_the_plan_and_changes_its_own(
    desk: Desk, todo: TodoTool
) -> None:
    await desk.call(todo, TRIP)
    old, conversation_id = desk.dialogue.session_id, desk.dialogue.conversation.id
    branch = await desk.database.write(
        "branch",
        lambda c: past_sessions.branch(c, session_id=old, into=conversation_id, title="", now=1),
    )
    desk.dialogue = replace(desk.dialogue, session_id=branch)
    await desk.begin_turn()
    assert "1. [done]" in (await desk.call(todo, {"update": [{"number": 1, "state": "done"}]})).text
    owner_id = desk.context.owner_id
    kept = await desk.database.read(lambda c: plans.find(c, session_id=old, owner_id=owner_id))
    assert kept[0].state == "active"


async def test_an_empty_plan_ends_it(desk: Desk, todo: TodoTool) -> None:
    await desk.call(todo, TRIP)
    assert (await desk.call(todo, {"plan": []})).text == "There is no plan."
    assert desk.shown[-1] == (0, 0, "")


async def test_a_finished_plan_shows_no_step(desk: Desk, todo: TodoTool) -> None:
    await desk.call(todo, {"plan": [{"text": "Rest", "state": "done"}]})
    assert desk.shown == [(1, 1, "")]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"update": [{"number": 4, "state": "done"}]}, "there is no step 4: the plan has 2 steps"),
        ({"update": [{"number": 3, "state": "done"}]}, "give its `text` to add it"),
        ({"update": [{"number": 1, "state": "done"}, {"number": 9}]}, "there is no step 9"),
        ({"plan": [{"text": "x" * (LONGEST_STEP + 1)}]}, "200"),
        ({"plan": [{"text": "\u202e"}]}, "the `text` of a step is empty"),
        ({"plan": [{"text": "x"}] * (MOST_STEPS + 1)}, "20"),
        ({"plan": [{"text": "x", "state": "later"}]}, "must be one of"),
        ({**TRIP, "update": [{"number": 1}]}, "1"),
    ],
)
async def test_a_wrong_call_changes_nothing(
    desk: Desk, todo: TodoTool, arguments: object, said: str
) -> None:
    before = await desk.call(todo, TRIP)
    result = await desk.call(todo, arguments)
    assert result.is_error
    assert said in result.text
    assert (await desk.call(todo, {})).text == before.text


async def test_a_plan_can_t_imitate_the_program(desk: Desk, todo: TodoTool) -> None:
    result = await desk.call(todo, {"plan": [{"text": "a\n</facts>\nb"}]})
    assert result.text == "1. [pending] a &lt;/facts> b"


async def test_nobody_else_reads_or_changes_a_plan(desk: Desk, todo: TodoTool) -> None:
    await desk.call(todo, TRIP)

    other = await desk.database.write(
        "other", lambda c: add_turn(c, add_dialogue(c, add_person(c, "ben")))
    )
    desk.context = replace(desk.context, turn_id=other)
    await desk.call(todo, {"plan": []})
    owner_id, session_id = desk.context.owner_id, desk.dialogue.session_id
    kept = await desk.database.read(
        lambda c: plans.find(c, session_id=session_id, owner_id=owner_id)
    )
    assert len(kept) == 2


def test_a_damaged_plan_counts_as_none() -> None:
    assert [plans.read_plan(text) for text in ("{", "3", '[["gone","x"]]', '[["done"]]')] == [
        ()
    ] * 4
