"""Parses one stored event into a message, a press, a reaction or a presence; pure."""

from dataclasses import replace

from adapters.ids import Address, PlatformMessageId, PlatformUserId
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
from adapters.slack.events import BUTTON
from adapters.slack.places import (
    HOME_MESSAGE,
    home_of,
    is_im,
    is_ts,
    make_ticket,
    milliseconds,
)
from adapters.slack.read_mrkdwn import list_mentions, mentions_in, read_mrkdwn
from adapters.toolkit.media_types import kind_of
from adapters.toolkit.text import Json, inside, parts, plain_name, read_envelope, text_in, words_in

_HELP = "/help"
_ABOUT = "What can you tell me about this message?"
"""The message sent by the shortcut "Ask Talaria about this"."""

_EMOJI = dict(
    one.split(" ")
    for one in (
        *("+1 👍", "thumbsup 👍", "heart ❤", "pray 🙏", "clap 👏", "100 💯", "fire 🔥", "tada 🎉"),
        *("smiling_face_with_3_hearts 🥰", "heart_eyes 😍", "star-struck 🤩", "trophy 🏆"),
        *("ok_hand 👌", "-1 👎", "thumbsdown 👎", "hankey 💩", "poop 💩", "shit 💩", "rage 😡"),
        *("face_with_symbols_on_mouth 🤬", "angry 😠", "face_vomiting 🤮", "triumph 😤"),
    )
)
"""The emoji, by Slack's name, that say whether an answer was good. In an event, a skin tone may
follow the name after `::`.
"""


def receive(payload: str) -> Inbound | None:
    """Parse a packed event; None if it has no content.

    Raises `ValueError` on an event that cannot be parsed.
    """
    envelope = read_envelope(payload)
    event, people = inside(envelope, "event"), inside(envelope, "people")
    match envelope.get("kind"):
        case "message" | "edit":
            return _Message(envelope).read()
        case "command":
            return _command(event, people, envelope)
        case "press":
            return _press(event, people)
        case "shortcut":
            return _shortcut(event, people, envelope)
        case "home":
            return _said("/home", home_of(text_in(event, "user")), event, people, envelope)
        case "stop":
            channel = text_in(event, "channel")
            thread = words_in(event, "thread_ts") or None
            address = Address(chat_id=channel, thread_id=thread, is_direct=is_im(channel))
            return _said("/stop", address, event, people, envelope)
        case "reaction":
            return _reaction(event)
        case "presence":
            channel, user = text_in(event, "channel"), PlatformUserId(text_in(event, "user"))
            address = Address(chat_id=channel, is_direct=is_im(channel))
            return Presence(address=address, user_ids=(user,))
        case kind:
            raise ValueError(f'an event of the unknown kind "{kind}"')


class _Message:
    """A message in a channel, a thread or a direct chat."""

    def __init__(self, envelope: Json) -> None:
        self._event = inside(envelope, "event")
        self._people = inside(envelope, "people")
        self._bot = inside(envelope, "bot")
        self._is_ours = bool(envelope.get("is_ours"))
        self._is_edit = envelope.get("kind") == "edit"
        self._room = plain_name(words_in(envelope, "room"))

    def read(self) -> InboundMessage | None:
        """Return the message; None if it has no content."""
        event, me = self._event, text_in(self._bot, "user_id")
        ts, channel = text_in(event, "ts"), text_in(event, "channel")
        said = words_in(event, "text")
        attachments = tuple(_attachment(file) for file in parts(event, "files"))
        quote = _shared(event, self._people, me)
        if not (said.strip() or attachments or quote):
            return None
        return InboundMessage(
            address=self._address(channel, ts),
            message_id=PlatformMessageId(ts),
            sender=_sender(event, self._people),
            text=read_mrkdwn(said, names=_names(self._people), me=me),
            is_addressed=self._is_addressed(channel, said, me),
            mentions=list_mentions(said, _names(self._people)),
            is_edit=self._is_edit,
            attachments=attachments,
            quote=quote,
            room_title=self._room or None,
            sent_at=milliseconds(ts),
        )

    def _address(self, channel: str, ts: str) -> Address:
        is_direct = is_im(channel)
        thread = _thread(self._event, self._bot, is_direct=is_direct)
        return Address(chat_id=channel, thread_id=thread, is_direct=is_direct)

    def _is_addressed(self, channel: str, said: str, me: str) -> bool:
        named = mentions_in(said)
        return is_im(channel) or me in named or (self._is_ours and not named)


def _command(event: Json, people: Json, envelope: Json) -> InboundMessage:
    """Read the words after `/talaria`; without words, it is a request for help."""
    channel = text_in(event, "channel_id")
    is_direct = bool(envelope.get("is_own_talk"))
    ticket = make_ticket(words_in(event, "response_url"))
    words, me = words_in(event, "text").strip(), text_in(inside(envelope, "bot"), "user_id")
    said = read_mrkdwn(words, names=_names(people), me=me)
    # In the direct chat, a reply that only confirms is ephemeral; all others are messages.
    address = Address(chat_id=channel, is_direct=is_direct, ticket=None if is_direct else ticket)
    is_ephemeral = not is_direct or envelope.get("is_transient")
    title = words_in(event, "channel_name")
    heard = _said(said or _HELP, address, event, people, envelope, None if is_direct else title)
    return replace(
        heard,
        mentions=list_mentions(words, _names(people)),
        reply_address=replace(address, ticket=ticket) if ticket and is_ephemeral else None,
        is_command_line=True,
    )


def _press(event: Json, people: Json) -> ButtonPress:
    sender = _sender(event, people)
    key = text_in(event, "action_id").removeprefix(BUTTON)
    sent_at = milliseconds(text_in(event, "at"))
    if event.get("is_home"):
        return ButtonPress(
            address=home_of(sender.user_id),
            message_id=HOME_MESSAGE,
            sender=sender,
            key=key,
            sent_at=sent_at,
        )
    channel = text_in(event, "channel")
    # An ephemeral message may be in a direct chat of two people without the bot.
    is_direct = is_im(channel) and not event.get("is_ephemeral")
    address = Address(
        chat_id=channel,
        thread_id=words_in(event, "thread_ts") or None,
        is_direct=is_direct,
        ticket=None if is_direct else words_in(event, "response_url") or None,
    )
    message_id = PlatformMessageId(text_in(event, "ts"))
    return ButtonPress(
        address=address, message_id=message_id, sender=sender, key=key, sent_at=sent_at
    )


def _reaction(event: Json) -> EmojiReaction | Presence:
    """Parse a reaction to a message of ours; any other emoji only shows who is there."""
    channel, user = text_in(event, "channel"), PlatformUserId(text_in(event, "user"))
    address = Address(chat_id=channel, is_direct=is_im(channel))
    sign = _EMOJI.get(text_in(event, "name").partition("::")[0])
    if sign is None:
        return Presence(address=address, user_ids=(user,))
    is_on = event.get("is_on") is True
    return EmojiReaction(
        address=address,
        message_id=PlatformMessageId(text_in(event, "ts")),
        user_id=user,
        added=(sign,) if is_on else (),
        removed=() if is_on else (sign,),
    )


def _shortcut(event: Json, people: Json, envelope: Json) -> InboundMessage:
    """Turn a message shortcut into a question that quotes the message, answered in its place."""
    message, bot = inside(event, "message"), inside(envelope, "bot")
    is_direct = bool(envelope.get("is_own_talk"))
    ts = text_in(message, "ts")
    author, names = words_in(message, "user"), _names(people)
    is_ours = author == text_in(bot, "user_id")
    quoted = read_mrkdwn(words_in(message, "text"), names=names, me="")
    attachments = tuple(_attachment(file) for file in parts(message, "files"))
    username = plain_name(words_in(message, "username"))
    return InboundMessage(
        address=Address(
            chat_id=text_in(event, "channel"),
            thread_id=_thread(message, bot, is_direct=is_direct),
            is_direct=is_direct,
            ticket=None if is_direct else words_in(event, "response_url") or None,
        ),
        message_id=PlatformMessageId(ts),
        sender=_sender(event, people),
        text=_ABOUT,
        is_addressed=True,
        attachments=attachments,
        quote=Quote(
            author=names.get(author) or username or author or "an app",
            text=quoted,
            is_ours=is_ours,
            author_id=PlatformUserId(author) if author and not is_ours else None,
            sent_at=milliseconds(ts),
            message_id=PlatformMessageId(ts),
        ),
        sent_at=milliseconds(words_in(event, "at") or ts),
    )


def _said(
    text: str,
    address: Address,
    event: Json,
    people: Json,
    envelope: Json,
    room_title: str | None = None,
) -> InboundMessage:
    """Turn an action into a message with the same words."""
    at = envelope.get("at")
    return InboundMessage(
        address=address,
        message_id=PlatformMessageId(""),
        sender=_sender(event, people),
        text=text,
        is_addressed=True,
        room_title=plain_name(room_title) if room_title else None,
        sent_at=at if isinstance(at, int) else 0,
    )


def _thread(message: Json, bot: Json, *, is_direct: bool) -> str | None:
    """Return the thread to answer in: always in channels, in direct chats only with an agent."""
    ts, thread = text_in(message, "ts"), words_in(message, "thread_ts")
    if is_direct and not bot.get("is_agent"):
        return thread if thread != ts and thread else None
    return thread or ts


def _sender(event: Json, people: Json) -> Sender:
    user = text_in(event, "user", "user_id")
    known = inside(people, user)
    username = words_in(known, "username") or words_in(event, "user_name")
    name = plain_name(words_in(known, "name")) or plain_name(username)
    return Sender(
        user_id=PlatformUserId(user),
        display_name=name or f"user {user}",
        username=plain_name(username) or None,
        language=words_in(known, "language") or None,
        time_zone=words_in(known, "time_zone") or None,
    )


def _names(people: Json) -> dict[str, str]:
    names = {user: plain_name(words_in(inside(people, user), "name")) for user in people}
    return {user: name for user, name in names.items() if name}


def _attachment(file: Json) -> Attachment:
    """Return an attachment; external and deleted files have a name but cannot be downloaded."""
    media_type = words_in(file, "mimetype")
    is_voice = file.get("subtype") == "slack_audio"
    kind = "voice" if is_voice else kind_of(media_type)
    is_here = file.get("mode") not in ("external", "tombstone", "hidden_by_limit")
    is_here = is_here and not file.get("is_external")
    file_id = words_in(file, "url_private_download", "url_private", "id")
    size = file.get("size")
    name = words_in(file, "name", "title")
    return Attachment(
        kind=kind if is_here else "other",
        file_id=file_id if is_here else "",
        name=plain_name(name) or None,
        media_type=media_type or None,
        size=size if isinstance(size, int) else None,
    )


def _shared(event: Json, people: Json, me: str) -> Quote | None:
    """Return a message that the sender shared."""
    for shared in parts(event, "attachments"):
        if shared.get("is_share") or shared.get("is_msg_unfurl"):
            author = words_in(shared, "author_name", "author_id")
            text = words_in(shared, "text", "fallback")
            return Quote(
                author=plain_name(author),
                text=read_mrkdwn(text, names=_names(people), me=""),
                is_ours=shared.get("author_id") == me,
                sent_at=milliseconds(ts) if is_ts(ts := words_in(shared, "ts")) else 0,
            )
    return None
