"""Outgoing payloads of Discord's API; pure."""

import hashlib
from base64 import urlsafe_b64encode
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from adapters.abilities import MenuEntry, MenuText
from adapters.discord.places import DiscordChannel, can_write
from adapters.discord.receive import BUTTON, PRESS
from adapters.discord.render import render
from adapters.errors import Rejected
from adapters.messages import Button, ButtonStyle, OutboundMessage
from adapters.toolkit.text import Json, inside, words_in

MOST_BUTTONS = 25
"""Five rows of five (Discord API, action rows)."""
MOST_FILE_BYTES = 10 * 1024 * 1024
"""Upload limit of a bot on an unboosted server (Discord API, uploading files)."""

NO_PREVIEWS = 1 << 2
EPHEMERAL = 1 << 6
SILENT = 1 << 12

EYES = "👀"

_LATER_MESSAGE, _LATER_UPDATE = 5, 6
"""Kinds of interaction responses (Discord API, interaction callback types)."""
_ROW = 5
_ACTION_ROW, _BUTTON = 1, 2
_LINK = 5
"""The style of a button that opens an address (Discord, Message Components)."""
_STYLES: dict[ButtonStyle, int] = {"plain": 2, "good": 3, "danger": 4}
_TEXT_OPTION = 3
_LONGEST_DESCRIPTION = 100
_EVERYWHERE = (0, 1, 2)
"""Servers, the direct chat with the bot, other direct chats and groups."""
_WITHOUT_US = 2


def make_content(message: OutboundMessage) -> Json:
    """Build the fields that a new message and an edit share. Raises `Rejected`."""
    content = render(message.text)
    if not content and message.file is None:
        raise Rejected("The message is empty, and Discord takes no empty messages.")
    return {
        "content": content,
        "components": make_rows(message.buttons),
        "flags": NO_PREVIEWS,
        "allowed_mentions": {"parse": []},
    }


def make_message(message: OutboundMessage, *, bot: str) -> Json:
    """Build a new message. Raises `Rejected`."""
    made = make_content(message)
    if message.is_silent:
        made["flags"] |= SILENT
    if message.key:
        made |= {"nonce": make_nonce(message.key, bot=bot), "enforce_nonce": True}
    reply_to = answered_by(message)
    if reply_to is not None:
        made["message_reference"] = {"message_id": reply_to, "fail_if_not_exists": False}
    made["allowed_mentions"]["replied_user"] = reply_to is not None
    if message.file is not None:
        made["attachments"] = [{"id": 0, "filename": message.file.name}]
    return made


def answered_by(message: OutboundMessage) -> str | None:
    """Return the message to reply to, if it is in the same channel."""
    reply_to = message.reply_to
    if reply_to is None or not (reply_to.isascii() and reply_to.isdecimal()):
        return None  # the id of a command, or of another platform's message
    # A thread already shows its opening message above it and as its title.
    return None if reply_to == message.address.thread_id else reply_to


def make_acknowledgement(
    interaction: Json, place: DiscordChannel, *, transient: Collection[str] = ()
) -> Json:
    """Build the acknowledgement that Discord expects within 3 s; the answer takes its place.

    A press changes nothing yet. A command gets a deferred response, which later becomes the answer.
    The response is ephemeral, except in the direct chat. There, only responses to `transient`
    commands are ephemeral.
    """
    if interaction.get("type") == PRESS:
        return {"type": _LATER_UPDATE}
    is_transient = words_in(inside(interaction, "data"), "name") in transient
    if place.is_direct and can_write(interaction, place) and not is_transient:
        return {"type": _LATER_MESSAGE}
    return {"type": _LATER_MESSAGE, "data": {"flags": EPHEMERAL}}


def make_nonce(key: str, *, bot: str) -> str:
    """Build the nonce by which Discord recognises a repeated message: at most 25 characters."""
    digest = hashlib.blake2b(f"{bot}/{key}".encode(), digest_size=15).digest()
    return urlsafe_b64encode(digest).decode()


def make_rows(buttons: Sequence[Button]) -> list[Json]:
    """Arrange the buttons in rows of five. Raises `Rejected` if there are too many."""
    if len(buttons) > MOST_BUTTONS:
        raise Rejected(f"Discord shows {MOST_BUTTONS} buttons at most, not {len(buttons)}.")
    made = [
        {"type": _BUTTON, "label": button.label}
        | (
            {"style": _LINK, "url": button.url}
            if button.url
            else {"style": _STYLES[button.style], "custom_id": BUTTON + button.key}
        )
        for button in buttons
    ]
    return [
        {"type": _ACTION_ROW, "components": made[start : start + _ROW]}
        for start in range(0, len(made), _ROW)
    ]


def make_menu(entries: Sequence[MenuEntry], *, is_for_users: bool) -> list[Json]:
    """Build the slash commands, each with an optional text argument.

    `is_for_users` lets people use the bot in places where it is not a member.
    """
    contexts = [place for place in _EVERYWHERE if is_for_users or place != _WITHOUT_US]
    return [
        {
            "type": 1,
            "name": entry.name,
            "name_localizations": {tag: one.name for tag, one in entry.translations.items()},
            **_describe(entry, entry.translations, lambda text: text.description),
            "options": [
                {"type": _TEXT_OPTION, "name": "text"}
                | _describe(entry, entry.translations, lambda text: text.argument)
            ],
            "contexts": contexts,
            "integration_types": [0, 1] if is_for_users else [0],
        }
        for entry in entries
        if entry.is_listed
    ]


def _describe(
    text: MenuText, translations: Mapping[str, MenuText], read: Callable[[MenuText], str]
) -> Json:
    """Return a description with its translations, none of them empty or too long."""

    def fit(one: MenuText) -> str:
        return read(one)[:_LONGEST_DESCRIPTION] or one.name

    return {
        "description": fit(text),
        "description_localizations": {tag: fit(one) for tag, one in translations.items()},
    }


def fingerprint(commands: Sequence[Json]) -> str:
    """Build a fingerprint that ignores the fields that Discord adds."""
    reported = sorted(
        repr((
            _identify(command),
            [(option.get("type"), _identify(option)) for option in command.get("options") or ()],
            sorted(command.get("contexts") or ()),
            sorted(command.get("integration_types") or ()),
        ))
        for command in commands
    )  # fmt: skip
    return hashlib.blake2b("\n".join(reported).encode(), digest_size=16).hexdigest()


def _identify(part: Json) -> tuple[Any, ...]:
    """Return the texts of a command or option in all languages."""
    return (
        part.get("name"),
        part.get("description"),
        sorted((part.get("name_localizations") or {}).items()),
        sorted((part.get("description_localizations") or {}).items()),
    )
