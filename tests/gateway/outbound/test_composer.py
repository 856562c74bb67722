"""What a platform gets of an outbox row."""

import pytest

from adapters.ids import Address
from agent_core.ids import OutboxId
from agent_core.state.queues.outbox import OutboxRow
from gateway.chats import make_chat
from gateway.outbound.composer import make_message
from tests.gateway.queued_messages import DIRECT, ROOM


def row(address: Address, *, part: int = 0, answers: str | None = "9") -> OutboxRow:
    return OutboxRow(
        id=OutboxId(4),
        key="k4",
        chat=make_chat("telegram", address),
        turn_id=None,
        person_id=None,
        part=part,
        body="body",
        answers=answers,
        is_silent=part > 0,
        is_live=False,
        state="owed",
        message_id=None,
        shown=None,
        anchor=None,
        attempts=0,
        reason="",
        created_at=1,
        kind="message",
        buttons=(),
        question_id=None,
        file=None,
        is_whole=True,
    )


@pytest.mark.parametrize(
    ("queued", "reply_to"),
    [
        pytest.param(row(ROOM), "9", id="room"),
        pytest.param(row(ROOM, part=1), None, id="second part"),
        pytest.param(row(ROOM, answers=None), None, id="answers nothing"),
        pytest.param(row(DIRECT), None, id="direct"),
    ],
)
def test_only_the_first_part_in_a_room_is_a_reply(queued: OutboxRow, reply_to: str | None) -> None:
    message = make_message(queued, text="shown", is_live=True)
    assert message.reply_to == reply_to
    assert (message.text, message.is_live, message.key) == ("shown", True, "k4")
    assert message.is_silent == queued.is_silent
