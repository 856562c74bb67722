"""Parses lines that a console client writes; pure.

A client writes one JSON object per line:

- `{"type": "open", "user": ...}`: whose conversation this connection is; the first line, or none.
  The server of the pages writes it, which knows who is logged in. Without it, it is the owner's;
- `{"type": "hello", "buttons": ...}`: a client is present and can receive waiting messages;
  `buttons` is true if it shows buttons, others get a numbered list;
- `{"type": "message", "id": ..., "text": ..., "files": [{"key": ..., "name": ..., "type": ...}]}`:
  a message; the client chooses the id and reuses it when it repeats the line. The files are
  optional; their bytes are in the gateway's store already, under these keys;
- `{"type": "press", "id": ..., "message": ..., "key": ...}`: a press of the button with this key
  on the message with this id; the press has its own id, as messages have;
- `{"type": "got", "key": ...}`: the client has shown the line with this key.

A message or a press may have a `language`, the BCP 47 tag of the client's own texts.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

from adapters.console.settings import OWNER, find_account_name, write_event
from adapters.ids import Address, PlatformMessageId, PlatformUserId
from adapters.messages import (
    Attachment,
    AttachmentKind,
    ButtonPress,
    Inbound,
    InboundMessage,
    RawEvent,
    Sender,
)

_NAME = find_account_name()
"""The owner's name, as the system knows it."""
_USER = re.compile(r"local|[1-9][0-9]{0,17}")
_ID = re.compile(r"[A-Za-z0-9._:-]{1,100}")
_FILE_KEY = re.compile(r"[0-9a-f]{64}")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}")
_MOST_FILES = 10
_LONGEST_NAME = 200
_KINDS: dict[str, AttachmentKind] = {"image": "image", "audio": "audio", "video": "video"}


def find_address(user: str) -> Address:
    """Return the chat of a user: all their clients share one conversation."""
    return Address(chat_id=user, is_direct=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Open:
    """The connection is this user's."""

    user: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Hello:
    """A client is present."""

    shows_buttons: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A message or a press; `receive` can parse the stored event again."""

    event: RawEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class Got:
    """A client has shown a line."""

    key: str


def read_line(line: str, *, user: str = OWNER, now: int) -> Open | Said | Got | Hello:
    """Parse a line of a user's client. `now` is in milliseconds since the epoch.

    Raises `ValueError` with a sentence for the author of the line.
    """
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError("That line is not JSON.") from error
    kind = fields.get("type") if isinstance(fields, dict) else None
    if kind == "open":
        named = fields.get("user")
        if not isinstance(named, str) or not _USER.fullmatch(named):
            raise ValueError('The "user" of a connection is "local" or a number.')
        return Open(user=named)
    if kind == "hello":
        return Hello(shows_buttons=fields.get("buttons") is True)
    if kind == "got" and isinstance(fields.get("key"), str):
        return Got(key=fields["key"])
    if kind == "message":
        found: dict[str, Any] = {"text": _text_in(fields, "text", "A message")}
        if fields.get("files"):
            found["files"] = _files_in(fields["files"])
    elif kind == "press":
        names = ("message", "key")
        found = {"press": True} | {name: _text_in(fields, name, "A press") for name in names}
    else:
        raise ValueError('A line is {"type": "hello" | "message" | "press" | "got", ...}.')
    event_id = fields.get("id")
    if not isinstance(event_id, str) or not _ID.fullmatch(event_id):
        raise ValueError(f'A {kind} needs an "id": 1 to 100 of the letters A-Z a-z 0-9 . _ : -')
    language = fields.get("language")
    if isinstance(language, str) and _LANGUAGE.fullmatch(language):
        found["language"] = language
    return Said(event=write_event(user, event_id, found, now=now))


def receive(event: RawEvent) -> Inbound:
    """Parse the message or press of a stored event. Raises `ValueError` on anything else."""
    try:
        fields = json.loads(event.payload)
        user = str(fields.get("user", OWNER))
        sender = Sender(
            user_id=PlatformUserId(user),
            display_name=_NAME if user == OWNER else "",
            language=fields.get("language"),
        )
        if fields.get("press"):
            return ButtonPress(
                address=find_address(user),
                message_id=PlatformMessageId(_clean(str(fields["message"]))),
                sender=sender,
                key=_clean(str(fields["key"])),
                sent_at=int(fields["at"]),
            )
        return InboundMessage(
            address=find_address(user),
            message_id=PlatformMessageId(str(fields["id"])),
            sender=sender,
            text=_clean(str(fields["text"])),
            is_addressed=True,
            attachments=tuple(_attachment(one) for one in fields.get("files", ())),
            sent_at=int(fields["at"]),
        )
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"a stored event of the console lacks {error}") from error


def _text_in(fields: dict[str, Any], name: str, what: str) -> str:
    text = fields.get(name)
    if not isinstance(text, str):
        raise ValueError(f'{what} needs a "{name}".')
    return text


def _files_in(value: object) -> list[dict[str, object]]:
    """Check the files of a message. Raises `ValueError` with a sentence."""
    files = value if isinstance(value, list) else []
    found = [
        {"key": one["key"], "name": one["name"][:_LONGEST_NAME], "type": one["type"]}
        | ({"spoken": True} if one.get("spoken") is True else {})
        for one in files[:_MOST_FILES]
        if isinstance(one, dict)
        and all(isinstance(one.get(name), str) for name in ("key", "name", "type"))
        and _FILE_KEY.fullmatch(one["key"])
    ]
    if not found or len(found) != len(files):
        raise ValueError(f'"files" are 1 to {_MOST_FILES} of {{"key": ..., "name": ..., ...}}.')
    return found


def _attachment(file: dict[str, str]) -> Attachment:
    """Build an attachment; sound that a person has just `spoken` is a voice note."""
    kind = _KINDS.get(file["type"].partition("/")[0], "document")
    return Attachment(
        kind="voice" if kind == "audio" and "spoken" in file else kind,
        file_id=file["key"],
        name=_clean(file["name"]) or None,
        media_type=file["type"],
        is_stored=True,
    )


def _clean(text: str) -> str:
    """Remove NUL and unpaired surrogates, which no text may contain."""
    whole = text.encode("utf-8", "replace").decode()
    return whole.replace("\0", "\N{REPLACEMENT CHARACTER}")
