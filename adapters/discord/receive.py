"""Parses one stored event into a message, a press, a reaction or a presence; pure."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from adapters.discord.places import DiscordChannel, can_write, is_forward, read_place, write_place
from adapters.discord.snowflakes import id_in, list_mentions, name_of, spell, time_of
from adapters.ids import PlatformMessageId, PlatformUserId
from adapters.messages import (
    Attachment,
    ButtonPress,
    EmojiReaction,
    Inbound,
    InboundMessage,
    Presence,
    Quote,
    Sender,
)
from adapters.toolkit.media_types import kind_of, summary_of
from adapters.toolkit.text import (
    Json,
    inside,
    number_in,
    part,
    parts,
    plain_name,
    plain_text,
    read_envelope,
    words_in,
)

BUTTON = "t:"
"""The prefix of our buttons' ids, which distinguishes them from other programs'."""
NO_MESSAGE = "i"
"""The prefix of a command's id, which cannot be answered or reacted to as a message."""
PRESS = 3
"""The interaction type of a button press."""

_WRITTEN = (0, 19)
"""Message types that a person writes: plain and reply; the others announce events."""
_COMMAND = 2
_SLASH = 1
_VOICE = 1 << 13
"""Flag of a voice message (Discord API, message flags)."""
_STICKERS = {1: ("png", "image/png"), 2: ("png", "image/png"), 4: ("gif", "image/gif")}
"""Sticker formats that are images; the others are animations (Lottie)."""
_STRANGER = "somebody"
"""The author of forwarded words, whom Discord does not name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The facts that parsing a message needs, as they were when it arrived."""

    bot: str
    """The bot's user id."""
    role: str = ""
    """The bot's role in the server, which people can mention as well."""
    threads: bool = False
    """Whether a mention opens a thread."""
    place: DiscordChannel | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    """Names of the roles and channels that the text mentions."""

    @property
    def ours(self) -> frozenset[str]:
        """The ids that refer to the bot in a text."""
        return frozenset((self.bot, self.role) if self.role else (self.bot,))


def pack(key: str, data: Json, context: Context) -> str:
    """Pack `data` as JSON under `key`: message, edit, interaction, reaction or mark."""
    packed = {
        "bot": context.bot,
        "role": context.role,
        "threads": context.threads,
        "place": write_place(context.place) if context.place else None,
        "names": dict(context.names),
    }
    return json.dumps({"context": packed, key: data})


def is_for_us(message: Json, context: Context) -> bool:
    """Return whether a person addressed the bot. Raises `ValueError`.

    `@everyone` does not address the bot. Nor does a message without a mention in a thread, whoever
    opened the thread: people talk to each other there.
    """
    if not is_written(message):
        return False
    if context.place.is_direct if context.place else not message.get("guild_id"):
        return True
    answered = inside(message, "referenced_message")
    roles = message.get("mention_roles")
    return (
        any(user.get("id") == context.bot for user in parts(message, "mentions"))
        or bool(context.role and isinstance(roles, list) and context.role in roles)
        or inside(answered, "author").get("id") == context.bot
    )


def is_written(message: Json) -> bool:
    """Return whether a person wrote the message. Raises `ValueError`."""
    author = part(message, "author")
    if author is None or author.get("bot") or message.get("webhook_id"):
        return False
    return number_in(message, "type", default=0) in _WRITTEN


def find_author(message: Json, bot: str) -> str:
    """Return the user who wrote a message, or who caused it by joining; "" for us.

    A webhook is an author, too. Raises `ValueError`.
    """
    author = part(message, "author")
    if author is None:
        return ""
    user = id_in(author, "id")
    return "" if user == bot else user


def receive(payload: str) -> Inbound | None:
    """Parse a packed event; None if it concerns no conversation.

    Raises `ValueError` on an event that cannot be parsed.
    """
    envelope = read_envelope(payload)
    context = _read_context(inside(envelope, "context"))
    for key in ("message", "edit"):
        message = part(envelope, key)
        if message is not None:
            return _read_message(message, context, is_edit=key == "edit")
    interaction = part(envelope, "interaction")
    if interaction is not None:
        return _read_interaction(interaction, context)
    reaction = part(envelope, "reaction")
    if reaction is not None and context.place is not None:
        return _read_reaction(reaction, context.place)
    presence = part(envelope, "presence")
    if presence is not None and context.place is not None:
        user_ids = (PlatformUserId(id_in(presence, "user")),)
        return Presence(address=context.place.address(), user_ids=user_ids)
    if part(envelope, "mark") is None:
        raise ValueError("there is nothing in it")
    return None


def _read_context(packed: Json) -> Context:
    place = part(packed, "place")
    names: dict[str, Any] = inside(packed, "names")
    return Context(
        bot=id_in(packed, "bot"),
        role=words_in(packed, "role"),
        threads=packed.get("threads") is True,
        place=read_place(place) if place else None,
        names={key: name for key, name in names.items() if isinstance(name, str)},
    )


def _read_message(message: Json, context: Context, *, is_edit: bool) -> InboundMessage | None:
    author, place = part(message, "author"), context.place
    if author is None or place is None:
        raise ValueError("a message without an author or a place")
    message_id = id_in(message, "id")
    is_addressed = is_for_us(message, context)
    attachments = read_attachments(message, place.channel_id, message_id)
    passed_on = snapshots(message) if is_forward(message) else []
    text = "\n\n".join(
        spell(words_in(one, "content"), _names(one, context), context.ours)
        for one in (passed_on or [message])
    )
    if author.get("bot") or not (text or attachments or is_addressed):
        return None
    username = plain_name(words_in(author, "username"))
    return InboundMessage(
        address=place.address(opener=message_id if context.threads and is_addressed else None),
        message_id=PlatformMessageId(message_id),
        sender=Sender(
            user_id=PlatformUserId(id_in(author, "id")),
            display_name=name_of(author, part(message, "member")),
            username=username or None,
        ),
        text=text,
        mentions=tuple(
            mention
            for one in (passed_on or [message])
            for mention in list_mentions(words_in(one, "content"), _names(one, context))
        ),
        is_addressed=is_addressed,
        is_edit=is_edit,
        attachments=attachments,
        quote=None if passed_on else _read_quote(message, context),
        room_title=place.title,
        forwarded_from=_STRANGER if passed_on else None,
        sent_at=_edited_at(message) if is_edit else time_of(message_id),
    )


def _names(message: Json, context: Context) -> dict[str, str]:
    """Return the names of everything that the text mentions."""
    people = {
        id_in(user, "id"): name_of(user, part(user, "member"))
        for user in parts(message, "mentions")
    }
    return {**context.names, **people}


def _edited_at(message: Json) -> int:
    moment = words_in(message, "edited_timestamp")
    return int(datetime.fromisoformat(moment).timestamp() * 1000)


def _read_quote(message: Json, context: Context) -> Quote | None:
    answered = part(message, "referenced_message")
    author = part(answered, "author") if answered else None
    if answered is None or author is None:
        return None
    words = spell(words_in(answered, "content"), _names(answered, context), frozenset())
    words = words or summary_of(read_attachments(answered, "", ""))
    author_id = find_author(answered, context.bot) if "id" in author else ""
    return Quote(
        author=name_of(author),
        text=words,
        is_ours=author.get("id") == context.bot,
        author_id=PlatformUserId(author_id) if author_id else None,
        sent_at=time_of(id_in(answered, "id")) if "id" in answered else 0,
        message_id=PlatformMessageId(id_in(answered, "id")) if "id" in answered else None,
    )


def _read_interaction(interaction: Json, context: Context) -> InboundMessage | ButtonPress | None:
    data, channel = part(interaction, "data"), part(interaction, "channel")
    if data is None or channel is None:
        return None  # a ping, or an interaction without a place
    place = context.place or read_place(channel, guild_id=words_in(interaction, "guild_id"))
    ticket = None if can_write(interaction, place) else make_ticket(interaction)
    address = place.address(ticket=ticket)
    member = part(interaction, "member")
    user = part(member, "user") if member else part(interaction, "user")
    if user is None:
        raise ValueError("nobody called upon the bot")
    interaction_id = id_in(interaction, "id")
    sender = Sender(
        user_id=PlatformUserId(id_in(user, "id")),
        display_name=name_of(user, member),
        username=plain_name(words_in(user, "username")) or None,
        language=words_in(interaction, "locale") or None,
    )
    kind = number_in(interaction, "type", default=0)
    if kind == PRESS and words_in(data, "custom_id").startswith(BUTTON):
        return ButtonPress(
            address=address,
            message_id=PlatformMessageId(id_in(inside(interaction, "message"), "id")),
            sender=sender,
            key=words_in(data, "custom_id").removeprefix(BUTTON),
            sent_at=time_of(interaction_id),
        )
    if kind != _COMMAND or number_in(data, "type", default=0) != _SLASH:
        return None
    return InboundMessage(
        address=address,
        message_id=PlatformMessageId(NO_MESSAGE + interaction_id),
        sender=sender,
        text=_command(data),
        is_addressed=True,
        reply_address=replace(address, ticket=make_ticket(interaction)),
        room_title=place.title,
        sent_at=time_of(interaction_id),
    )


def _read_reaction(reaction: Json, place: DiscordChannel) -> EmojiReaction:
    signs, is_on = (words_in(reaction, "sign"),), reaction.get("is_on") is True
    return EmojiReaction(
        address=place.address(),
        message_id=PlatformMessageId(id_in(reaction, "id")),
        user_id=PlatformUserId(id_in(reaction, "user")),
        added=signs if is_on else (),
        removed=() if is_on else signs,
    )


def make_ticket(interaction: Json) -> str:
    """Build the 15-minute token for answering a command. Raises `ValueError`."""
    return f"{id_in(interaction, 'id')}:{words_in(interaction, 'token')}"


def _command(data: Json) -> str:
    """Return a slash command as text."""
    words = [f"/{words_in(data, 'name')}"]
    words += [str(option.get("value", "")) for option in parts(data, "options")]
    return plain_text(" ".join(words)).strip()


def read_attachments(message: Json, channel_id: str, message_id: str) -> tuple[Attachment, ...]:
    """Return the attachments of a message and of messages forwarded in it. Raises `ValueError`.

    `channel_id` and `message_id` allow fetching a fresh address when one has expired.
    """
    place = f"{channel_id}/{message_id}"
    found: list[Attachment] = []
    for content in (message, *snapshots(message)):
        is_voice = bool(number_in(content, "flags", default=0) & _VOICE)
        found += [_file(file, place, is_voice) for file in parts(content, "attachments")]
        found += [_sticker(sticker, place) for sticker in parts(content, "sticker_items")]
        poll = part(content, "poll")
        if poll is not None:
            found.append(Attachment(kind="described", file_id="", name=_describe_poll(poll)))
    return tuple(found)


def _describe_poll(poll: Json) -> str:
    answers = (inside(answer, "poll_media") for answer in parts(poll, "answers"))
    shown = "".join(f"\n- {words_in(answer, 'text')}" for answer in answers)
    return plain_text(f"poll: {words_in(inside(poll, 'question'), 'text')}{shown}")


def snapshots(message: Json) -> list[Json]:
    """Return the forwarded messages in a message. Raises `ValueError`."""
    return [inside(item, "message") for item in parts(message, "message_snapshots")]


def _file(file: Json, place: str, is_voice: bool) -> Attachment:
    media_type = words_in(file, "content_type").partition(";")[0].strip().lower()
    return Attachment(
        kind="voice" if is_voice else kind_of(media_type),
        file_id=f"{place}/{id_in(file, 'id')}/{words_in(file, 'url')}",
        name=plain_name(words_in(file, "filename")) or None,
        media_type=media_type or None,
        size=number_in(file, "size", default=0) if "size" in file else None,
    )


def _sticker(sticker: Json, place: str) -> Attachment:
    sticker_id = id_in(sticker, "id")
    name = plain_name(words_in(sticker, "name")) or None
    known = _STICKERS.get(number_in(sticker, "format_type", default=0))
    if known is None:
        return Attachment(kind="sticker", file_id="", name=name)
    ending, media_type = known
    return Attachment(
        kind="sticker",
        file_id=f"{place}/{sticker_id}/https://media.discordapp.net/stickers/{sticker_id}.{ending}",
        name=name,
        media_type=media_type,
    )
