"""A message that waits: edited, and answered where the newest was written."""

from adapters.ids import PlatformMessageId
from agent_core.chats import Place
from agent_core.ids import InboxId
from gateway.chats import make_chat
from gateway.queued_message import place_of_batch
from tests.gateway.queued_messages import DIRECT, inbound, pending


def test_an_edit_replaces_the_words_and_adds_its_event() -> None:
    waiting = pending(inbound("tow", room_title="Kitchen"), 1)
    waiting.amend("two", InboxId(2))
    assert (waiting.message.text, waiting.message.room_title) == ("two", "Kitchen")
    assert waiting.inbox_ids == (1, 2)


def test_a_turn_answers_its_newest_message() -> None:
    waiting = [pending(inbound(message_id=PlatformMessageId(str(number)))) for number in range(3)]
    assert place_of_batch(waiting) == Place(chat=make_chat("telegram", DIRECT), answers="2")
