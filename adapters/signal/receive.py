"""Parses a stored envelope into an inbound message or reaction; pure."""

import json
from dataclasses import dataclass

from adapters.ids import Address, PlatformUserId
from adapters.messages import (
    Attachment,
    EmojiReaction,
    Inbound,
    InboundMessage,
    Mention,
    Presence,
    Quote,
    Sender,
)
from adapters.signal.places import group_address, name_message, person_address
from adapters.toolkit.media_types import kind_of, summary_of
from adapters.toolkit.text import (
    Json,
    inside,
    join_around_name,
    number_in,
    part,
    parts,
    plain_name,
    plain_text,
    read_envelope,
    words_in,
)

_LONG_TEXT = "text/x-signal-plain"
"""The part of a long message that does not fit; signal-cli has joined it to the text already."""
_VIEW_ONCE = "something to be viewed once, which Talaria does not keep"


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """Our own account: as signal-cli is asked for it, and its account id if that is known."""

    name: str
    aci: str = ""
    is_shared: bool = False
    """A person uses the account, too: only their notes to self are for us."""

    def is_me(self, *names: str) -> bool:
        """Return whether one of the names of an account is ours."""
        return any(name and name in (self.name, self.aci) for name in names)

    @property
    def user_id(self) -> str:
        """The name that other people's apps show in mentions and quotes."""
        return self.aci or self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """The message of an envelope, its author, and the message that it replaces, if any."""

    data: Json
    sender: str
    number: str
    name: str
    sent_at: int
    replaces: int | None = None
    is_own: bool = False
    """A note to self, written on another device of our account."""


def pack(envelope: Json, me: Account, *, original: int | None = None) -> str:
    """Write an envelope and what reading it needs; `original` is the message that it edits."""
    about = {"name": me.name, "aci": me.aci, "is_shared": me.is_shared}
    return json.dumps({"me": about, "envelope": envelope, "original": original})


def receive(payload: str) -> Inbound | None:
    """Parse a packed envelope. Raises `ValueError`."""
    packed = read_envelope(payload)
    about = inside(packed, "me")
    me = Account(
        name=words_in(about, "name"),
        aci=words_in(about, "aci"),
        is_shared=about.get("is_shared") is True,
    )
    envelope = part(packed, "envelope")
    if envelope is None:
        raise ValueError("an event without an envelope")
    spoken = read_spoken(envelope, me)
    if spoken is None:
        return None
    original = number_in(packed, "original", default=0) or spoken.replaces
    if reaction := part(spoken.data, "reaction"):
        return _read_reaction(reaction, spoken, me)
    if _is_told(spoken.data):
        return _read_message(spoken, me, original=original)
    return _read_presence(spoken)


def read_spoken(envelope: Json, me: Account) -> Spoken | None:
    """Return what an envelope says to us; None for receipts, typing, calls, stories and syncs."""
    data, edit = part(envelope, "dataMessage"), part(envelope, "editMessage")
    is_own = False
    if sent := part(inside(envelope, "syncMessage"), "sentMessage"):
        if not me.is_me(words_in(sent, "destinationUuid"), words_in(sent, "destinationNumber")):
            return None
        data, edit, is_own = sent, part(sent, "editMessage"), True
    replaces = number_in(edit, "targetSentTimestamp") if edit else None
    data = part(edit, "dataMessage") if edit else data
    uuid, number = words_in(envelope, "sourceUuid"), words_in(envelope, "sourceNumber")
    sender = uuid or number or words_in(envelope, "source")
    if data is None or not sender or (me.is_me(uuid, number) and not is_own):
        return None
    if me.is_shared and not is_own:
        return None
    return Spoken(
        data=data,
        sender=sender,
        number=number,
        name=words_in(envelope, "sourceName"),
        sent_at=number_in(envelope, "timestamp"),
        replaces=replaces,
        is_own=is_own,
    )


def _is_told(data: Json) -> bool:
    """Return whether a message tells anything: words, a file, a picture, a contact, a poll."""
    told = ("message", "attachments", "sticker", "contacts", "pollCreate", "payment")
    return any(data.get(key) for key in told) and not part(data, "remoteDelete")


def _read_message(spoken: Spoken, me: Account, *, original: int | None) -> InboundMessage:
    data = spoken.data
    address, title = _place(spoken)
    text, mentions, is_named = _read_words(data, me)
    quote = _read_quote(data, me)
    is_answer = quote is not None and quote.is_ours
    return InboundMessage(
        address=address,
        message_id=name_message(original or spoken.sent_at, spoken.sender),
        sender=_sender(spoken),
        text=text,
        mentions=mentions,
        is_addressed=address.is_direct or is_named or is_answer,
        is_edit=spoken.replaces is not None,
        attachments=_read_attachments(data, address),
        quote=quote,
        room_title=title,
        sent_at=spoken.sent_at,
        expires_in=max(number_in(data, "expiresInSeconds", default=0), 0),
    )


def _read_reaction(reaction: Json, spoken: Spoken, me: Account) -> EmojiReaction | None:
    emoji = words_in(reaction, "emoji")
    author = (words_in(reaction, "targetAuthorUuid"), words_in(reaction, "targetAuthorNumber"))
    if not emoji:
        return None
    target = number_in(reaction, "targetSentTimestamp")
    is_removed = reaction.get("isRemove") is True
    return EmojiReaction(
        address=_place(spoken)[0],
        message_id=name_message(target, "" if me.is_me(*author) else author[0] or author[1]),
        user_id=PlatformUserId(spoken.sender),
        added=() if is_removed else (emoji,),
        removed=(emoji,) if is_removed else (),
    )


def _read_presence(spoken: Spoken) -> Presence | None:
    """Return who shows up in a group by changing it, or by something that needs no answer."""
    address, _ = _place(spoken)
    if address.is_direct:
        return None
    return Presence(address=address, user_ids=(PlatformUserId(spoken.sender),))


def _place(spoken: Spoken) -> tuple[Address, str | None]:
    """Return where something was said, and the title of that group."""
    group = part(spoken.data, "groupInfo") or part(spoken.data, "groupV2")
    if group is None:
        return person_address(spoken.sender), None
    title = plain_name(words_in(group, "groupName", "name"))
    return group_address(words_in(group, "groupId", "id")), title or None


def _sender(spoken: Spoken) -> Sender:
    shown = plain_name(spoken.name) or spoken.number or spoken.sender
    return Sender(
        user_id=PlatformUserId(spoken.sender),
        display_name=shown,
        username=spoken.number or None,
    )


def _read_words(data: Json, me: Account) -> tuple[str, tuple[Mention, ...], bool]:
    """Return the text with its mentions spelled out, and whether it names us."""
    units = words_in(data, "message").encode("utf-16-le", "surrogatepass")
    pieces, mentions, end, is_named = [""], [], 0, False
    for one in sorted(parts(data, "mentions"), key=lambda one: number_in(one, "start")):
        start, length = number_in(one, "start"), number_in(one, "length")
        if not end <= start <= start + length <= len(units) // 2:
            continue
        pieces[-1] += _decode(units, end, start)
        end = start + length
        uuid, number = words_in(one, "uuid"), words_in(one, "number")
        if me.is_me(uuid, number):
            pieces.append("")
            is_named = True
            continue
        name = plain_name(number or words_in(one, "name") or uuid)
        pieces[-1] += f"@{name}"
        mentions.append(Mention(shown=f"@{name}", name=name, neutral=f"@user {uuid or number}"))
    pieces[-1] += _decode(units, end, len(units) // 2)
    text = join_around_name(pieces) if is_named else pieces[0]
    return plain_text(text), tuple(mentions), is_named


def _decode(units: bytes, start: int, end: int) -> str:
    return units[2 * start : 2 * end].decode("utf-16-le", "surrogatepass")


def _read_quote(data: Json, me: Account) -> Quote | None:
    quoted = part(data, "quote")
    if quoted is None:
        return None
    uuid, number = words_in(quoted, "authorUuid"), words_in(quoted, "authorNumber", "author")
    is_ours = me.is_me(uuid, number)
    sent_at = number_in(quoted, "id")
    text, _, _ = _read_words({**quoted, "message": words_in(quoted, "text")}, me)
    return Quote(
        author=plain_name(number or uuid),
        text=text or summary_of(_read_quoted_files(quoted)),
        is_ours=is_ours,
        sent_at=sent_at,
        message_id=name_message(sent_at, "" if is_ours else uuid or number),
        author_id=None if is_ours else PlatformUserId(uuid or number),
    )


def _read_quoted_files(quoted: Json) -> tuple[Attachment, ...]:
    return tuple(
        Attachment(
            kind=kind_of(words_in(one, "contentType")),
            file_id="",
            name=words_in(one, "filename") or None,
        )
        for one in parts(quoted, "attachments")
    )


def _read_attachments(data: Json, address: Address) -> tuple[Attachment, ...]:
    if data.get("viewOnce") is True:
        return (_describe(_VIEW_ONCE),)
    found = [
        _read_attachment(one, address)
        for one in parts(data, "attachments")
        if words_in(one, "contentType") != _LONG_TEXT
    ]
    if sticker := part(data, "sticker"):
        emoji = words_in(sticker, "emoji")
        found.append(Attachment(kind="sticker", file_id="", name=f"a sticker {emoji}".strip()))
    for contact in parts(data, "contacts"):
        found.append(_describe(f"the contact {_name_contact(contact)}"))
    if poll := part(data, "pollCreate"):
        found.append(_describe(f"the poll {words_in(poll, 'question')}"))
    if part(data, "payment"):
        found.append(_describe("a payment"))
    return tuple(found)


def _read_attachment(one: Json, address: Address) -> Attachment:
    media_type, name = words_in(one, "contentType"), plain_name(words_in(one, "filename"))
    kind = kind_of(media_type)
    # signal-cli does not tell a voice note from a file, but only a voice note has no name.
    is_voice = kind == "audio" and not name
    return Attachment(
        kind="voice" if is_voice else kind,
        file_id=f"{words_in(one, 'id')} {address.chat_id}".strip() if one.get("id") else "",
        name=name or None,
        media_type=media_type or None,
        size=number_in(one, "size", default=0) or None,
    )


def _describe(what: str) -> Attachment:
    return Attachment(kind="described", file_id="", name=plain_name(what))


def _name_contact(contact: Json) -> str:
    name = inside(contact, "name")
    whole = " ".join(filter(None, (words_in(name, "given"), words_in(name, "family"))))
    phones = ", ".join(words_in(one, "value") for one in parts(contact, "phone"))
    return f"{words_in(name, 'display') or whole} {phones}".strip()
