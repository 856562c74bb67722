"""Updates of Telegram as its documentation and its servers show them."""

from typing import Any

from adapters.messages import ButtonPress, EmojiReaction, InboundMessage, Presence
from adapters.telegram.receive import BotIdentity, pack, receive

ME = BotIdentity(user_id=4242, username="Talaria_Bot")
ANNA = {
    "id": 11,
    "is_bot": False,
    "first_name": "Anna",
    "last_name": "Lee",
    "username": "anna",
    "language_code": "de",
}
PRIVATE = {"id": 11, "first_name": "Anna", "type": "private"}
GROUP = {"id": -100777, "title": "Friends", "type": "supergroup"}
BOT = {"id": 4242, "is_bot": True, "first_name": "Talaria", "username": "Talaria_Bot"}


def message(text: str | None = None, /, **fields: Any) -> dict[str, Any]:
    """A direct message of Anna's, unless the fields say otherwise."""
    reported: dict[str, Any] = {
        "message_id": 5,
        "from": ANNA,
        "chat": PRIVATE,
        "date": 1_763_000_000,
    }
    if text is not None:
        reported["text"] = text
    return reported | fields


def read(update: Any) -> InboundMessage | None:
    """Pack an update as the adapter does, and read it again."""
    found = receive(pack(update, ME, now=1_763_000_000_500))
    assert not isinstance(found, ButtonPress | EmojiReaction | Presence)
    return found


def read_presence(update: Any) -> Presence | None:
    """Read an update that shows people in a group and says nothing to the bot."""
    found = receive(pack(update, ME, now=1_763_000_000_500))
    assert found is None or isinstance(found, Presence)
    return found


def read_message(text: str | None = None, /, **fields: Any) -> InboundMessage:
    """Read a message that is one of a person."""
    found = read({"update_id": 1, "message": message(text, **fields)})
    assert found is not None
    return found


def in_group(text: str, *entities: tuple[str, int, int], **fields: Any) -> InboundMessage:
    """Read a message in a group with entities as (type, offset, length)."""
    reported = [{"type": kind, "offset": at, "length": length} for kind, at, length in entities]
    return read_message(text, chat=GROUP, entities=reported, **fields)
