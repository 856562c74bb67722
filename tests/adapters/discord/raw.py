"""Raw messages and interactions as Discord sends them, with a test's changes."""

from dataclasses import replace
from typing import Any

from adapters.discord.places import DiscordChannel
from adapters.discord.receive import Context

BOT, ROLE, ANNA, BEN = "100", "150", "200", "201"
DM = DiscordChannel(channel_id="300", kind=1)
ROOM = DiscordChannel(channel_id="400", kind=0, name="general", guild_id="500", guild="House")
THREAD = DiscordChannel(
    channel_id="450", kind=11, name="Dinner", parent_id="400", guild_id="500", guild="House"
)
BEGAN = 1_700_000_000_000
MESSAGE_ID = str((BEGAN - 1_420_070_400_000) << 22)


def person(user_id: str = ANNA, name: str = "Anna") -> dict[str, Any]:
    return {"id": user_id, "username": name.lower(), "global_name": name}


def bot() -> dict[str, Any]:
    return {"id": BOT, "username": "talaria", "bot": True}


def written(text: str, **fields: Any) -> dict[str, Any]:
    """A message of Anna."""
    message = {"id": MESSAGE_ID, "type": 0, "content": text, "author": person(), "mentions": []}
    return message | fields


def mentioning(text: str, **fields: Any) -> dict[str, Any]:
    """A message of Anna that names the bot."""
    return written(text, mentions=[bot()], **fields)


def seen(place: DiscordChannel = DM, **fields: Any) -> Context:
    """Return what is known when a message arrives."""
    known = Context(bot=BOT, role=ROLE if place.guild_id else "", place=place)
    return replace(known, **fields)


def used(name: str = "status", **fields: Any) -> dict[str, Any]:
    """A slash command of Anna's in the direct chat."""
    interaction = {
        "id": MESSAGE_ID,
        "type": 2,
        "token": "tok",
        "application_id": "99",
        "channel": {"id": "300", "type": 1},
        "channel_id": "300",
        "context": 1,
        "locale": "de",
        "user": person(),
        "data": {"id": "7", "name": name, "type": 1},
        "authorizing_integration_owners": {"0": "0"},
        "app_permissions": str(1 << 11),
    }
    return interaction | fields


def used_in_room(*, owners: dict[str, str], permissions: int, **fields: Any) -> dict[str, Any]:
    """A slash command of Anna's in a channel of a server."""
    return used(
        channel={"id": "400", "type": 0, "name": "general"},
        guild_id="500",
        context=0,
        member={"nick": "Annie", "user": person()},
        authorizing_integration_owners=owners,
        app_permissions=str(permissions),
        **fields,
    )
