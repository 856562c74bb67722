"""Parses stored events of the Cloud API; pure.

An event is one message, or one status of a message of ours, with the number that received it.
"""

import json
from collections.abc import Mapping
from typing import Any

from adapters.errors import AdapterStopped, ChatGone, ChatWaits, RateLimited, Unreachable
from adapters.ids import Address, PlatformMessageId, PlatformUserId
from adapters.messages import (
    Attachment,
    AttachmentKind,
    ButtonPress,
    DeliveryOutcome,
    DeliveryReport,
    EmojiReaction,
    Inbound,
    InboundMessage,
    Quote,
    Sender,
)
from adapters.toolkit.text import (
    Json,
    inside,
    join_around_name,
    part,
    parts,
    plain_name,
    plain_text,
    read_envelope,
    text_in,
    words_in,
)
from adapters.whatsapp.errors import translate

_MEDIA: Mapping[str, AttachmentKind] = {
    "image": "image",
    "audio": "audio",
    "video": "video",
    "document": "document",
    "sticker": "sticker",
}
_RATINGS = ("👍", "👎", "❤", "❤️", "😂", "😮", "😢", "🙏")
"""The signs that WhatsApp offers first. A person has one on a message, so another ends it; and
WhatsApp does not say which one was taken back.
"""
_SOMEBODY = "somebody"
"""The author of a forwarded message, whom WhatsApp does not name."""
_ARRIVED = ("sent", "delivered", "read", "played")
_SILENT = ("system", "revoke", "request_welcome", "ephemeral")
"""Types of messages that are no words of a person."""


def pack(message: Json, contact: Json, number: Json) -> str:
    """Pack a message with its author and the number that received it, as JSON text."""
    return json.dumps({"number": number, "contact": contact, "message": message})


def pack_status(status: Json, number: Json) -> str:
    """Pack a status of a message of ours, as JSON text."""
    return json.dumps({"number": number, "status": status})


def receive(payload: str) -> Inbound | None:
    """Parse a packed event; None if it concerns no conversation.

    Raises `ValueError` on an event that cannot be parsed.
    """
    envelope = read_envelope(payload)
    status = part(envelope, "status")
    if status is not None:
        return read_status(status)
    message = part(envelope, "message")
    if message is None:
        raise ValueError("there is no message")
    kind = text_in(message, "type")
    if kind in _SILENT:
        return None
    contact, number = inside(envelope, "contact"), inside(envelope, "number")
    sender, address = _read_sender(message, contact), find_address(message)
    if kind == "reaction":
        return _read_reaction(inside(message, "reaction"), sender, address)
    if kind == "interactive":
        press = _read_press(message, sender, address)
        if press is not None:
            return press
    return _read_message(message, sender, address, number)


def find_address(message: Json) -> Address:
    """Return the chat of a message: a group, or the person's own number or id."""
    group = words_in(message, "group_id")
    if group:
        return Address(chat_id=group, is_direct=False)
    return Address(chat_id=text_in(message, "from", "from_user_id"), is_direct=True)


def read_time(message: Json) -> int:
    """Return when a message was sent, in milliseconds UTC. Raises `ValueError`."""
    stamp = text_in(message, "timestamp")
    if not (stamp.isascii() and stamp.isdecimal() and len(stamp) <= len("9999999999")):
        raise ValueError('"timestamp" should be seconds')
    return int(stamp) * 1000


def read_status(status: Json) -> DeliveryReport | None:
    """Return what a status says of a message; None if it says nothing new."""
    key, state = words_in(status, "biz_opaque_callback_data"), text_in(status, "status")
    is_group = words_in(status, "recipient_type") == "group"
    chat = text_in(status, "recipient_id", "recipient_user_id")
    outcome: DeliveryOutcome = "sent"
    reason = ""
    if state == "failed":
        errors = parts(status, "errors")
        outcome, reason = _judge(errors[0] if errors else {})
    elif state not in _ARRIVED:
        return None
    if not key:
        return None
    return DeliveryReport(
        address=Address(chat_id=chat, is_direct=not is_group),
        message_id=PlatformMessageId(text_in(status, "id")),
        key=key,
        outcome=outcome,
        reason=reason,
    )


def _judge(error: Json) -> tuple[DeliveryOutcome, str]:
    found = translate(error)
    if isinstance(found, ChatWaits):
        return "waits", str(found)
    if isinstance(found, ChatGone):
        return "gone", str(found)
    if isinstance(found, RateLimited | Unreachable | AdapterStopped):
        return "again", str(found)
    return "refused", str(found)


def _read_sender(message: Json, contact: Json) -> Sender:
    """Return the author. Who has a username may have no number; then an id of Meta names them."""
    profile = inside(contact, "profile")
    user_id = text_in(message, "from", "from_user_id")
    return Sender(
        user_id=PlatformUserId(user_id),
        display_name=plain_name(words_in(profile, "name")) or user_id,
        username=plain_name(words_in(profile, "username").lstrip("@")) or None,
    )


def _read_reaction(reaction: Json, sender: Sender, address: Address) -> EmojiReaction:
    """Parse a reaction. WhatsApp leaves out the emoji of one that was taken back."""
    emoji = plain_text(words_in(reaction, "emoji"))
    return EmojiReaction(
        address=address,
        message_id=PlatformMessageId(text_in(reaction, "message_id")),
        user_id=sender.user_id,
        added=(emoji,) if emoji else (),
        removed=tuple(one for one in _RATINGS if one != emoji),
    )


def _read_press(message: Json, sender: Sender, address: Address) -> ButtonPress | None:
    interactive = inside(message, "interactive")
    reply = part(interactive, "button_reply") or part(interactive, "list_reply")
    answered = words_in(inside(message, "context"), "id")
    if reply is None or not answered:
        return None
    return ButtonPress(
        address=address,
        message_id=PlatformMessageId(answered),
        sender=sender,
        key=plain_text(text_in(reply, "id")),
        sent_at=read_time(message),
    )


def _read_message(message: Json, sender: Sender, address: Address, number: Json) -> InboundMessage:
    is_edit = message.get("type") == "edit"
    edit = inside(message, "edit") if is_edit else {}
    content = inside(edit, "message") if is_edit else message
    shown_as = edit if is_edit else message
    message_id = words_in(shown_as, "original_message_id") or text_in(message, "id")
    context = inside(content, "context")
    is_forwarded = bool(context.get("forwarded") or context.get("frequently_forwarded"))
    kind = text_in(content, "type")
    text = plain_text(_read_words(content, kind))
    ours = words_in(number, "display_phone_number")
    quote = _read_quote(context, ours)
    pieces = text.split(f"@{ours}") if ours and not address.is_direct else [text]
    is_named = len(pieces) > 1 or text.startswith("/") or (quote is not None and quote.is_ours)
    return InboundMessage(
        address=address,
        message_id=PlatformMessageId(message_id),
        sender=sender,
        text=join_around_name(pieces),
        is_addressed=address.is_direct or is_named,
        is_edit=is_edit,
        attachments=_read_attachments(content, kind),
        quote=quote,
        forwarded_from=_SOMEBODY if is_forwarded else None,
        sent_at=read_time(message),
    )


def _read_words(content: Json, kind: str) -> str:
    if kind == "text":
        return text_in(inside(content, "text"), "body")
    if kind == "button":  # a reply to a template
        return text_in(inside(content, "button"), "text")
    if kind == "interactive":
        interactive = inside(content, "interactive")
        chosen = part(interactive, "button_reply") or part(interactive, "list_reply")
        return words_in(chosen, "title") if chosen else words_in(interactive, "type")
    return words_in(inside(content, kind), "caption") if kind in _MEDIA else ""


def _read_quote(context: Json, ours: str) -> Quote | None:
    """Return the message that this one answers; WhatsApp tells its id and not its words."""
    message_id = words_in(context, "id")
    if not message_id:
        return None
    author = words_in(context, "from", "from_user_id")
    return Quote(
        author=author,
        text="",
        is_ours=bool(author) and author == ours,
        message_id=PlatformMessageId(message_id),
        author_id=PlatformUserId(author) if author and author != ours else None,
    )


def _read_attachments(content: Json, kind: str) -> tuple[Attachment, ...]:
    if kind in ("text", "button", "interactive"):
        return ()
    if kind in _MEDIA:
        return (_read_media(inside(content, kind), kind),)
    described = _describe(content, kind)
    return (Attachment(kind="described", file_id="", name=described),)


def _read_media(media: Json, kind: str) -> Attachment:
    found = _MEDIA[kind]
    if kind == "audio" and media.get("voice") is True:
        found = "voice"
    return Attachment(
        kind=found,
        file_id=text_in(media, "id"),
        name=plain_name(words_in(media, "filename")) or None,
        media_type=words_in(media, "mime_type") or None,
    )


def _describe(content: Json, kind: str) -> str:
    """Say what a message shows that is neither text nor a file."""
    if kind == "location":
        place = inside(content, "location")
        spot = f"{place.get('latitude')}, {place.get('longitude')}"
        named = [words_in(place, "name"), words_in(place, "address"), spot]
        return plain_name(f"a location: {', '.join(filter(None, named))}")
    if kind == "contacts":
        return plain_name(f"contacts: {'; '.join(map(_name_contact, parts(content, kind)))}")
    if kind == "order":
        order = inside(content, "order")
        return f"an order of {len(parts(order, 'product_items'))} products"
    told = words_in(inside(content, "unsupported"), "type")
    return plain_name(f"a message that WhatsApp does not pass on ({told or kind})")


def _name_contact(contact: Json) -> str:
    name = words_in(inside(contact, "name"), "formatted_name", "first_name")
    phones: list[Any] = [words_in(phone, "phone") for phone in parts(contact, "phones")]
    return " ".join([name, *phones])
