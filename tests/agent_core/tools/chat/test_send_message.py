"""Messages to other chats of a person."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from agent_core.chats import Chat
from agent_core.errors import ToolArgumentError
from agent_core.ids import CallId, PersonId
from agent_core.state.conversations import turns
from agent_core.state.engine.database import Connection
from agent_core.state.queues import outbox
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from agent_core.tools.chat.send_message import MOST_MESSAGES, Destination, SendMessageTool
from agent_core.tools.policy.shapes import shape_of
from agent_core.tools.policy.verdicts import Facts, judge
from tests.agent_core.tools.chat.conftest import Desk

OWN = ("me", "telegram")
CHATS = tuple(
    Destination(name=name, chat=Chat(platform="telegram", address=name))
    for name in (*OWN, "home", "#Kitchen")
)


@dataclass
class Shelf:
    """Puts messages into a real outbox, and notes which were given to the dispatcher."""

    known: tuple[Destination, ...] = CHATS
    delivered: list[str] = field(default_factory=list)

    def list_destinations(
        self, connection: Connection, *, person_id: PersonId, now: int
    ) -> Sequence[Destination]:
        return self.known

    def enqueue(
        self,
        connection: Connection,
        destination: Destination,
        text: str,
        *,
        person_id: PersonId,
        now: int,
        file: tuple[str, str] | None = None,
    ) -> Sequence[OutboxRow]:
        outgoing = NewOutboxMessage(
            chat=destination.chat,
            body=text,
            person_id=person_id,
        )
        return [outbox.enqueue(connection, outgoing, now=now)]

    def deliver(self, rows: Sequence[OutboxRow]) -> None:
        self.delivered += [row.body for row in rows]


async def queued(desk: Desk) -> list[tuple[str, str]]:
    return await desk.database.read(
        lambda c: [(row.chat.address, row.body) for row in outbox.list_open(c)]
    )


async def test_a_message_goes_to_the_outbox_and_to_the_dispatcher(desk: Desk) -> None:
    shelf = Shelf()
    result = await desk.call(SendMessageTool(desk.database, shelf), {"to": "Me", "text": "Hello"})
    assert (result.text, result.is_error) == ("Sent to me.", False)
    assert await queued(desk) == [("me", "Hello")]
    assert shelf.delivered == ["Hello"]


async def test_a_repeat_of_the_call_after_a_crash_sends_nothing_again(desk: Desk) -> None:
    shelf = Shelf()
    tool = SendMessageTool(desk.database, shelf)
    first = await desk.call(tool, {"to": "me", "text": "Hello"})
    again = await desk.call(SendMessageTool(desk.database, shelf), {"to": "me", "text": "Hello"})
    assert again == first
    assert await queued(desk) == [("me", "Hello")]
    steps = await desk.database.read(lambda c: turns.list_steps(c, turn_id=desk.context.turn_id))
    assert [(step.call_id, step.outcome) for step in steps] == [("c1", "Sent to me.")]


async def test_an_unknown_chat_is_answered_with_all_names(desk: Desk) -> None:
    tool = SendMessageTool(desk.database, Shelf())
    result = await desk.call(tool, {"to": "signal", "text": "Hello"})
    assert result.is_error
    assert "`to` can be `me`, `telegram`, `home`, `#Kitchen`." in result.text
    assert await queued(desk) == []


async def test_without_any_chat_it_says_so(desk: Desk) -> None:
    result = await desk.call(
        SendMessageTool(desk.database, Shelf(known=())), {"to": "me", "text": "Hello"}
    )
    assert "there is no chat that a message can be sent to" in result.text


async def test_a_turn_sends_so_many_messages_and_no_more(desk: Desk) -> None:
    tool = SendMessageTool(desk.database, Shelf())
    for number in range(MOST_MESSAGES):
        result = await desk.call(tool, {"to": "me", "text": "Hello"}, call_id=f"c{number}")
        assert not result.is_error
    result = await desk.call(tool, {"to": "me", "text": "Hello"}, call_id="more")
    assert result.is_error
    assert len(await queued(desk)) == MOST_MESSAGES
    await desk.begin_turn()
    assert not (await desk.call(tool, {"to": "me", "text": "Hello"}, call_id="next")).is_error


def test_an_approval_of_texts_for_a_group_covers_no_file(desk: Desk) -> None:
    tool = SendMessageTool(desk.database, Shelf())
    context = replace(desk.context, evidence="post it to Kitchen")
    text = tool.list_actions({"to": "#Kitchen", "text": "Hello"}, context)
    grants = {shape_of("send_message", one): True for one in text}
    with_file = {"to": "#Kitchen", "text": "Hello", "path": "keys.txt"}
    for arguments, effect in (({"to": "#Kitchen", "text": "Hi"}, "allow"), (with_file, "ask")):
        actions = tool.list_actions(arguments, context)
        verdict = judge("send_message", actions, Facts(grants=grants), is_proposed=False)
        assert verdict.effect == effect


@pytest.mark.parametrize("name", OWN)
def test_a_message_to_the_person_alone_leads_not_outward(desk: Desk, name: str) -> None:
    tool = SendMessageTool(desk.database, Shelf())
    (action,) = tool.list_actions({"to": name, "text": "Hello"}, desk.context)
    assert (action.kind, action.target, action.is_outward) == ("send", name, False)


@pytest.mark.parametrize(
    ("name", "said"),
    [("home", ""), ("#Kitchen", "tell the KITCHEN about it"), ("#The  Plan", "ask the\nplan!")],
)
def test_a_message_that_others_read_leads_outward(desk: Desk, name: str, said: str) -> None:
    tool = SendMessageTool(desk.database, Shelf())
    context = replace(desk.context, evidence=said)
    (action,) = tool.list_actions({"to": name, "text": "Hello"}, context)
    assert action.is_outward


@pytest.mark.parametrize("said", ["", "tell them", "kitchens are nice", "the bitkitchen"])
def test_a_group_that_the_person_has_not_named_is_refused(desk: Desk, said: str) -> None:
    tool = SendMessageTool(desk.database, Shelf())
    context = replace(desk.context, evidence=said, call_id=CallId("c1"))
    with pytest.raises(ToolArgumentError, match="has not named #Kitchen"):
        tool.list_actions({"to": "#Kitchen", "text": "Hello"}, context)


def test_no_own_chat_can_have_the_name_of_a_group(desk: Desk) -> None:
    assert [one.name for one in CHATS if one.has_others] == ["home", "#Kitchen"]
