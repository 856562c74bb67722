"""Names chats and messages, and finds them in signal-cli's terms; pure."""

from adapters.errors import Rejected
from adapters.ids import Address, PlatformMessageId
from adapters.toolkit.text import Json

_GROUP = "group."


def person_address(user_id: str) -> Address:
    """Return the direct chat with a person."""
    return Address(chat_id=user_id, is_direct=True)


def group_address(group_id: str) -> Address:
    """Return a group. Raises `ValueError` without its id."""
    if not group_id:
        raise ValueError("a group without an id")
    return Address(chat_id=f"{_GROUP}{group_id}", is_direct=False)


def group_of(address: Address) -> str | None:
    """Return the id of the group that an address is; None for a direct chat."""
    is_group = address.chat_id.startswith(_GROUP)
    return address.chat_id.removeprefix(_GROUP) if is_group else None


def to(address: Address) -> Json:
    """Return the parameters that name an address."""
    group = group_of(address)
    return {"recipient": [address.chat_id]} if group is None else {"groupId": group}


def name_message(sent_at: int, author: str) -> PlatformMessageId:
    """Return the id of a message: the time of its sending, and its author unless that is us.

    Two people may write in the same millisecond, and an answer must name whom it answers.
    """
    return PlatformMessageId(f"{sent_at}:{author}" if author else str(sent_at))


def read_message_id(message_id: str) -> tuple[int, str]:
    """Return the time and the author of a message, "" for ours. Raises `Rejected`."""
    sent_at, _, author = message_id.partition(":")
    if not (sent_at.isascii() and sent_at.isdecimal()):
        raise Rejected("There is no message with that id on Signal.")
    return int(sent_at), author
