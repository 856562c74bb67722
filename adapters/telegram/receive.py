"""Parses one stored update into a message, a press, a reaction or a presence; pure."""

import json
from dataclasses import dataclass
from typing import Any

from adapters.ids import Address, PlatformMessageId, PlatformUserId
from adapters.messages import (
    Attachment,
    AttachmentKind,
    ButtonPress,
    ChatMove,
    EmojiReaction,
    Inbound,
    InboundMessage,
    Presence,
    Quote,
    Sender,
)
from adapters.telegram.payloads import read_key
from adapters.telegram.read_entities import Words, read_linked, read_words
from adapters.telegram.read_rich import read_rich
from adapters.toolkit.media_types import kind_of, summary_of
from adapters.toolkit.text import (
    Json,
    number_in,
    part,
    parts,
    plain_name,
    plain_text,
    read_envelope,
    text_in,
    words_in,
)

_NAMELESS_SENDERS = (1087968824, 136817688)
"""GroupAnonymousBot and Channel_Bot, which stand for anonymous administrators and for channels."""


def name_of(author: Json) -> str:
    """Return the display name of a user or chat, or its number if no name is readable."""
    own = words_in(author, "first_name") + " " + words_in(author, "last_name")
    return (
        plain_name(own)
        or plain_name(words_in(author, "title"))
        or f"user {author.get('id', 'unknown')}"
    )


_FILES: tuple[tuple[str, AttachmentKind, str | None], ...] = (
    ("voice", "voice", "audio/ogg"),
    ("audio", "audio", None),
    ("video", "video", "video/mp4"),
    ("video_note", "video", "video/mp4"),
    ("animation", "video", "video/mp4"),
    ("live_photo", "video", "video/mp4"),
    ("document", "document", None),
)
_NAMED_BY = (("game", "title"), ("checklist", "title"))
_UNREADABLE = ("story", "paid_media", "giveaway")


def read_attachments(message: Json) -> tuple[Attachment, ...]:
    """Return a message's attachments, at most one per kind. Raises `ValueError`."""
    found: list[Attachment] = []
    photo = parts(message, "photo")
    if photo:
        largest = max(photo, key=lambda size: number_in(size, "width"))
        found.append(_file(largest, "image", "image/jpeg"))
    for key, kind, media_type in _FILES:
        file = part(message, key)
        # An animation is also sent as a document, for programs that do not know animations.
        if file is not None and not (key == "document" and "animation" in message):
            found.append(_file(file, kind, media_type))
    sticker = part(message, "sticker")
    if sticker is not None:
        found.append(_sticker(sticker))
    description = _describe(message)
    if description is not None:
        found.append(Attachment(kind="described", file_id="", name=plain_text(description)))
    found += [
        Attachment(kind="other", file_id="", name=key) for key in _UNREADABLE if key in message
    ]
    return tuple(found)


def _file(file: Json, kind: AttachmentKind, media_type: str | None) -> Attachment:
    media_type = words_in(file, "mime_type") or media_type
    if kind == "document":
        kind = kind_of(media_type)
    name = words_in(file, "file_name") or words_in(file, "title")
    return Attachment(
        kind=kind,
        file_id=text_in(file, "file_id"),
        name=plain_name(name) or None,
        media_type=media_type,
        size=number_in(file, "file_size") if "file_size" in file else None,
    )


def _sticker(sticker: Json) -> Attachment:
    media_type = "image/webp"
    if sticker.get("is_animated"):
        media_type = "application/x-tgsticker"
    elif sticker.get("is_video"):
        media_type = "video/webm"
    return Attachment(
        kind="sticker",
        file_id=text_in(sticker, "file_id"),
        name=plain_name(words_in(sticker, "emoji")) or None,
        media_type=media_type,
        size=number_in(sticker, "file_size") if "file_size" in sticker else None,
    )


def _describe(message: Json) -> str | None:
    """Describe content that is no file in words, so that the person gets an answer."""
    for key, field in _NAMED_BY:
        thing = part(message, key)
        if thing is not None:
            return f"{key}: {words_in(thing, field)}"
    poll = part(message, "poll")
    if poll is not None:
        options = "".join(f"\n- {words_in(option, 'text')}" for option in parts(poll, "options"))
        return f"poll: {words_in(poll, 'question')}{options}"
    # A venue also has a location.
    venue, location = part(message, "venue"), part(message, "location")
    place = f"{location.get('latitude')}, {location.get('longitude')}" if location else ""
    if venue is not None:
        named = (words_in(venue, "title"), words_in(venue, "address"), place)
        return f"venue: {', '.join(filter(None, named))}"
    if location is not None:
        return f"location: {place}"
    contact = part(message, "contact")
    if contact is not None:
        return f"contact: {name_of(contact)}, {words_in(contact, 'phone_number')}"
    dice = part(message, "dice")
    if dice is not None:
        return f"dice: {words_in(dice, 'emoji')} {dice.get('value')}"
    return None


_NAMELESS = "somebody"
"""The name of an author whose own name is unreadable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BotIdentity:
    """The bot's identity; `username` is without the @."""

    user_id: int
    username: str
    joins_groups: bool = True
    """Whether people may add it to groups."""


def pack(update: Any, me: BotIdentity, *, now: int) -> str:
    """Pack an update with its arrival time and the bot's identity, as JSON text.

    `now` is in milliseconds since the epoch; it is needed because a press has no time. The identity
    decides which messages address the bot, and a stored update may be parsed before the bot knows
    its identity.
    """
    bot = {"id": me.user_id, "username": me.username}
    return json.dumps({"bot": bot, "at": now, "update": update})


def receive(payload: str) -> Inbound | None:
    """Parse a packed update; None if it concerns no conversation.

    Raises `ValueError` on an update that cannot be parsed.
    """
    envelope = read_envelope(payload)
    bot = part(envelope, "bot") or {}
    me = BotIdentity(user_id=number_in(bot, "id"), username=text_in(bot, "username"))
    update = part(envelope, "update")
    if update is None:
        raise ValueError("there is no update")
    for key in ("message", "edited_message"):
        message = part(update, key)
        if message is not None:
            return _read(message, me, is_edit=key == "edited_message")
    for key in ("message_reaction", "chat_member"):
        change = part(update, key)
        if change is not None:
            return _read_reaction(change) or _read_presence(change, me)
    query = part(update, "callback_query")
    return _read_press(query, at=number_in(envelope, "at")) if query is not None else None


def _read(
    message: Json, me: BotIdentity, *, is_edit: bool
) -> InboundMessage | Presence | ChatMove | None:
    chat = part(message, "chat")
    if chat is None:
        raise ValueError("a message without a chat")
    if (move := _read_move(chat, message, me)) is not None:
        return move
    sender = part(message, "from")
    if sender is None or chat.get("type") == "channel":
        return None  # posts in channels
    has_text = any(key in message for key in ("text", "caption", "rich_message"))
    attachments = read_attachments(message)
    # Telegram puts a bot of its own in place of an administrator or channel (Bot API: sender_chat).
    nameless = part(message, "sender_chat") if sender.get("id") in _NAMELESS_SENDERS else None
    is_foreign = (sender.get("is_bot") and not nameless) or message.get("is_automatic_forward")
    if is_foreign or not (has_text or attachments):
        return _read_presence(message, me)  # a person joined, a message was pinned, and so on
    quote = _read_quote(message, me)
    words = _read_words(message, me)
    is_for_us = words.is_named or (quote is not None and quote.is_ours)
    address = _address_of(chat, message)
    is_direct = address.is_direct
    is_addressed = is_direct or (is_for_us and not words.is_for_another_bot)
    if nameless and not is_addressed:
        return _read_presence(message, me)
    return InboundMessage(
        address=address,
        message_id=PlatformMessageId(str(number_in(message, "message_id"))),
        sender=_sender_of(sender),
        is_anonymous=nameless is not None,
        text=words.text,
        mentions=words.mentions,
        is_addressed=is_addressed,
        is_edit=is_edit,
        attachments=attachments,
        quote=quote,
        room_title=None if is_direct else plain_name(words_in(chat, "title")),
        forwarded_from=_read_author(message),
        sent_at=number_in(message, "date") * 1000,
    )


def _read_move(chat: Json, message: Json, me: BotIdentity) -> ChatMove | None:
    """Parse the last message of a group, or the first one of the supergroup that it became."""
    here = number_in(chat, "id")
    if "migrate_to_chat_id" in message:
        old, new = here, number_in(message, "migrate_to_chat_id")
    elif "migrate_from_chat_id" in message:
        old, new = number_in(message, "migrate_from_chat_id"), here
    else:
        return None
    shown = _read_presence(message, me)
    return ChatMove(
        address=_address_of(chat, message),
        old_chat_id=str(old),
        new_chat_id=str(new),
        user_ids=shown.user_ids if shown else (),
    )


def _read_reaction(change: Json) -> EmojiReaction | None:
    """Parse a change of reactions, which names no topic; None without a user or emoji."""
    chat, user = part(change, "chat"), part(change, "user")
    before, after = (
        tuple(filter(None, (words_in(one, "emoji") for one in parts(change, key))))
        for key in ("old_reaction", "new_reaction")
    )
    if chat is None or user is None or not (before or after):
        return None
    return EmojiReaction(
        address=_address_of(chat, change),
        message_id=PlatformMessageId(str(number_in(change, "message_id"))),
        user_id=PlatformUserId(str(number_in(user, "id"))),
        added=tuple(one for one in after if one not in before),
        removed=tuple(one for one in before if one not in after),
    )


def _read_presence(change: Json, me: BotIdentity) -> Presence | None:
    """Return the accounts that an update shows in a group: authors, members, other bots.

    A reaction in the name of a channel has an `actor_chat` instead of a `user`. The first message
    of a supergroup names the group that it was, whose members are unknown: the group counts as one.
    """
    chat = part(change, "chat")
    if chat is None:
        raise ValueError("a change without a chat")
    shown = [part(change, key) for key in ("from", "user", "actor_chat", "left_chat_member")]
    shown += [
        part(part(change, "new_chat_member") or {}, "user"),
        *parts(change, "new_chat_members"),
    ]
    numbers = dict.fromkeys(number_in(account, "id") for account in shown if account is not None)
    if "migrate_from_chat_id" in change:
        numbers[number_in(change, "migrate_from_chat_id")] = None
    user_ids = tuple(PlatformUserId(str(one)) for one in numbers if one != me.user_id)
    address = _address_of(chat, change)
    return (
        Presence(address=address, user_ids=user_ids) if user_ids and not address.is_direct else None
    )


def _read_press(query: Json, *, at: int) -> ButtonPress | None:
    """Parse a press of one of our buttons.

    A press has no topic if Telegram no longer keeps its message for bots. It has no message if the
    message was sent through inline mode.
    """
    key = read_key(words_in(query, "data"))
    message = part(query, "message")
    sender = part(query, "from")
    if key is None or message is None or sender is None:
        return None
    chat = part(message, "chat")
    if chat is None:
        raise ValueError("a press without a chat")
    return ButtonPress(
        address=_address_of(chat, message),
        message_id=PlatformMessageId(str(number_in(message, "message_id"))),
        sender=_sender_of(sender),
        key=plain_text(key),
        sent_at=at,
    )


def _address_of(chat: Json, message: Json) -> Address:
    return Address(
        chat_id=str(number_in(chat, "id")),
        thread_id=_thread_of(message),
        is_direct=chat.get("type") == "private",
    )


def _sender_of(sender: Json) -> Sender:
    return Sender(
        user_id=PlatformUserId(str(number_in(sender, "id"))),
        display_name=name_of(sender),
        username=plain_name(words_in(sender, "username")) or None,
        language=words_in(sender, "language_code") or None,
    )


def _thread_of(message: Json) -> str | None:
    """Return the topic.

    In plain supergroups, a chain of replies also has a thread id, but no message can be sent to it.
    A forum's General topic has none.
    """
    if not message.get("is_topic_message") or "message_thread_id" not in message:
        return None
    return str(number_in(message, "message_thread_id"))


def _read_words(message: Json, me: BotIdentity) -> Words:
    rich = part(message, "rich_message")
    if rich is not None and "text" not in message:
        return read_rich(rich, username=me.username)
    key = "text" if "text" in message else "caption"
    text = words_in(message, key)
    entities = parts(message, "entities" if key == "text" else "caption_entities")
    if not entities:
        return Words(text=plain_text(text))
    return read_words(text, entities, user_id=me.user_id, username=me.username)


def _read_quote(message: Json, me: BotIdentity) -> Quote | None:
    """Return the message that this one replies to."""
    chosen = part(message, "quote")
    chosen_text = _read_linked(chosen, "text") if chosen else ""
    answered = part(message, "reply_to_message")
    if answered is None:
        elsewhere = part(message, "external_reply")
        if elsewhere is None:
            return None
        author = _origin_of(part(elsewhere, "origin")) or ""
        return Quote(author=author, text=chosen_text or _summary(elsewhere), is_ours=False)
    if "forum_topic_created" in answered:  # each message of a topic refers to its first one
        return None
    author_of = part(answered, "from") or part(answered, "sender_chat") or {}
    is_ours = author_of.get("id") == me.user_id
    is_named = "id" in author_of and not is_ours
    return Quote(
        author=name_of(author_of),
        text=chosen_text or _summary(answered),
        is_ours=is_ours,
        author_id=PlatformUserId(str(number_in(author_of, "id"))) if is_named else None,
        sent_at=number_in(answered, "date") * 1000 if "date" in answered else 0,
        message_id=_id_of(answered),
    )


def _id_of(answered: Json) -> PlatformMessageId | None:
    has_id = "message_id" in answered
    return PlatformMessageId(str(number_in(answered, "message_id"))) if has_id else None


def _summary(message: Json) -> str:
    """Return a message's words, or a bracketed description when it has none."""
    words = _read_linked(message, "text") or _read_linked(message, "caption")
    if not words and (rich := part(message, "rich_message")) is not None:
        words = read_rich(rich, username="").text
    return words or summary_of(read_attachments(message))


def _read_linked(message: Json, key: str) -> str:
    entities = "caption_entities" if key == "caption" else "entities"
    return read_linked(words_in(message, key), parts(message, entities))


def _read_author(message: Json) -> str | None:
    """Return who wrote the words that a person passed on; None for the person's own.

    An inline bot writes the words that its user sends (Bot API: via_bot).
    """
    bot = part(message, "via_bot")
    return _origin_of(part(message, "forward_origin")) or (name_of(bot) if bot else None)


def _origin_of(origin: Json | None) -> str | None:
    """Return the author of forwarded or externally quoted words (Bot API: MessageOrigin)."""
    if origin is None:
        return None
    for key in ("sender_user", "sender_chat", "chat"):
        author = part(origin, key)
        if author is not None:
            return name_of(author)
    return plain_name(words_in(origin, "sender_user_name")) or _NAMELESS
