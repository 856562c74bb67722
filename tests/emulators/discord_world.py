"""Discord's data: people, servers and channels, as REST and gateway show them."""

import base64
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum, IntFlag

from tests.emulators.discord_rules import Refusal, unknown
from tests.emulators.discord_shapes import Json, Message

EPOCH = 1_420_070_400_000
"""Milliseconds of the Unix clock at snowflake zero."""
_OLD = 300_000_000_000 << 22
"""People and their direct channels are as old as 2024, so that all messages come later."""
PERMISSIONS = str((1 << 49) - 1 - (1 << 3))
"""Everything but administrator."""


class Intents(IntFlag):
    """The events a session may get."""

    GUILDS = 1 << 0
    MEMBERS = 1 << 1
    PRESENCES = 1 << 8
    GUILD_MESSAGES = 1 << 9
    GUILD_REACTIONS = 1 << 10
    GUILD_TYPING = 1 << 11
    DIRECT_MESSAGES = 1 << 12
    DIRECT_REACTIONS = 1 << 13
    DIRECT_TYPING = 1 << 14
    MESSAGE_CONTENT = 1 << 15
    NONE = 0


PRIVILEGED = Intents.MEMBERS | Intents.PRESENCES | Intents.MESSAGE_CONTENT


class Place(IntEnum):
    """Types of channels."""

    TEXT = 0
    DM = 1
    THREAD = 11
    FORUM = 15


@dataclass(kw_only=True)
class Channel:
    """A channel."""

    id: int
    kind: Place
    name: str = ""
    guild_id: int | None = None
    recipient: int | None = None
    parent_id: int | None = None
    owner_id: int | None = None
    is_archived: bool = False
    is_locked: bool = False
    is_hidden: bool = False
    """Listed for the bot, which may not read it."""
    order: list[int] = field(default_factory=list)
    """Ids of its messages, oldest first."""


@dataclass(kw_only=True)
class Guild:
    """A server. Its managed role belongs to the bot alone."""

    id: int
    name: str
    role_id: int
    members: list[int]
    has_bot: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A gateway event for sessions that asked for its kind."""

    name: str
    data: Json
    intent: Intents = Intents.NONE
    """Zero is sent to everyone."""
    is_masked: bool = False
    """Its content is only for those with MESSAGE_CONTENT."""


class World:
    """One bot account and everyone around it."""

    def __init__(self, *, token: str) -> None:
        first = token.partition(".")[0]
        self.bot_id = int(base64.b64decode(first + "=" * (-len(first) % 4)))
        self.application_id = (
            self.bot_id + 1
        )  # different, as with old bots, so that mixing them up shows
        self.users: dict[int, Json] = {self.bot_id: _user(self.bot_id, "talaria", is_bot=True)}
        self.channels: dict[int, Channel] = {}
        self.guilds: dict[int, Guild] = {}
        self.messages: dict[int, Message] = {}
        self.blocked_by: set[int] = set()
        self.hides_counts = False
        """Leave the numbers of members out, as Discord may."""
        self.portal = PRIVILEGED
        """Privileged intents that are switched on."""
        self.notify: Callable[[Event], None] = lambda _: None
        self._last = 0

    def take_id(self) -> int:
        """Return a snowflake of now, above all others."""
        now = int(time.time() * 1000) - EPOCH
        self._last = max(self._last + 1, now << 22)
        return self._last

    # People and places

    def user(self, number: int) -> int:
        """A person by their number."""
        user_id = _OLD + (number << 22) + 1
        if user_id not in self.users:
            self.users[user_id] = _user(user_id, f"person{number}", is_bot=False)
        return user_id

    def dm(self, user_id: int) -> Channel:
        """The direct channel with a person."""
        channel_id = user_id + 1
        if channel_id not in self.channels:
            self.channels[channel_id] = Channel(id=channel_id, kind=Place.DM, recipient=user_id)
        return self.channels[channel_id]

    def guild(self, name: str, members: list[int], *, has_bot: bool = True) -> Guild:
        """A new server."""
        guild = Guild(
            id=self.take_id(), name=name, role_id=self.take_id(), members=members, has_bot=has_bot
        )
        self.guilds[guild.id] = guild
        if has_bot:
            self.notify(Event(name="GUILD_CREATE", data=self.show_guild(guild)))
        return guild

    def channel(
        self,
        guild_id: int,
        name: str,
        kind: Place = Place.TEXT,
        *,
        parent_id: int | None = None,
        owner_id: int | None = None,
        channel_id: int | None = None,
    ) -> Channel:
        """A new channel of a server, or a thread of one of its channels."""
        channel = Channel(
            id=self.take_id() if channel_id is None else channel_id,
            kind=kind,
            name=name,
            guild_id=guild_id,
            parent_id=parent_id,
            owner_id=owner_id,
        )
        self.channels[channel.id] = channel
        data = self.show_channel(channel)
        if kind == Place.THREAD:
            event = Event(
                name="THREAD_CREATE", data=data | {"newly_created": True}, intent=Intents.GUILDS
            )
        else:
            event = Event(name="CHANNEL_CREATE", data=data, intent=Intents.GUILDS)
        self.notify_guild(guild_id, event)
        return channel

    def notify_guild(self, guild_id: int | None, event: Event) -> None:
        """Send an event of a server, if the bot is in it."""
        if guild_id is None or self.guilds[guild_id].has_bot:
            self.notify(event)

    def reach(self, channel_id: int) -> Channel:
        """Return the channel that the bot named. Raises `Refusal`."""
        channel = self.channels.get(channel_id)
        if channel is None:
            raise unknown("Channel", 10003)
        is_out = channel.guild_id is not None and not self.guilds[channel.guild_id].has_bot
        if is_out or channel.is_hidden:
            raise Refusal(403, 50001, "Missing Access")
        return channel

    def join(self, guild_id: int, user_id: int, *, is_there: bool) -> None:
        """Let a person join a server, or leave it."""
        guild = self.guilds[guild_id]
        about = {"guild_id": str(guild_id)}
        if is_there:
            guild.members.append(user_id)
            data = self.show_member(guild, user_id) | about
            event = Event(name="GUILD_MEMBER_ADD", data=data, intent=Intents.MEMBERS)
        else:
            guild.members.remove(user_id)
            data = {"user": self.users[user_id]} | about
            event = Event(name="GUILD_MEMBER_REMOVE", data=data, intent=Intents.MEMBERS)
        self.notify_guild(guild_id, event)

    def kick(self, guild_id: int) -> None:
        """Remove the bot from a server."""
        guild = self.guilds[guild_id]
        guild.has_bot = False
        # Without `unavailable`: that would be an outage.
        self.notify(Event(name="GUILD_DELETE", data={"id": str(guild_id)}))

    def delete_channel(self, channel_id: int) -> None:
        """Delete a channel with its threads, or a thread."""
        channel = self.channels.pop(channel_id)
        if channel.guild_id is None:
            return  # bots get no event for a deleted direct channel
        name = "THREAD_DELETE" if channel.kind == Place.THREAD else "CHANNEL_DELETE"
        data = self.show_channel(channel)
        self.notify_guild(channel.guild_id, Event(name=name, data=data, intent=Intents.GUILDS))
        for thread in [c for c in self.channels.values() if c.parent_id == channel_id]:
            del self.channels[thread.id]

    # As JSON

    def show_channel(self, channel: Channel) -> Json:
        """A channel or thread."""
        last = channel.order[-1] if channel.order else None
        shown: Json = {
            "id": str(channel.id),
            "type": int(channel.kind),
            "last_message_id": str(last) if last is not None else None,
            "flags": 0,
        }
        if channel.kind == Place.DM:
            assert channel.recipient is not None
            return shown | {"recipients": [self.users[channel.recipient]]}
        shown |= {
            "guild_id": str(channel.guild_id),
            "name": channel.name,
            "parent_id": str(channel.parent_id) if channel.parent_id is not None else None,
            "rate_limit_per_user": 0,
        }
        if channel.kind == Place.THREAD:
            return shown | {
                "owner_id": str(channel.owner_id),
                "message_count": len(channel.order),
                "total_message_sent": len(channel.order),
                "member_count": 2,
                "thread_metadata": {
                    "archived": channel.is_archived,
                    "auto_archive_duration": 4320,
                    "archive_timestamp": stamp(channel.id),
                    "create_timestamp": stamp(channel.id),
                    "locked": channel.is_locked,
                },
            }
        everyone = {"id": str(channel.guild_id), "type": 0, "allow": "0", "deny": "1024"}
        hidden = [everyone] if channel.is_hidden else []
        shown |= {"position": 0, "permission_overwrites": hidden, "topic": None, "nsfw": False}
        if channel.kind == Place.FORUM:
            shown |= {
                "available_tags": [],
                "default_reaction_emoji": None,
                "default_sort_order": None,
                "default_forum_layout": 0,
            }
        return shown

    def show_archived(self, parent: Channel, query: Mapping[str, str]) -> Json:
        """The archived threads of a channel, the newest first; `before` is a timestamp."""
        limit, before = int(query.get("limit", 50)), query.get("before")
        inside = [c for c in self.channels.values() if c.parent_id == parent.id and c.is_archived]
        inside = [c for c in inside if not before or stamp(c.id) < before]
        inside.sort(key=lambda one: -one.id)
        shown = [self.show_channel(c) for c in inside[:limit]]
        return {"threads": shown, "members": [], "has_more": len(inside) > limit}

    def show_guild(self, guild: Guild) -> Json:
        """A server as GUILD_CREATE tells it."""
        inside = [c for c in self.channels.values() if c.guild_id == guild.id]
        threads = [c for c in inside if c.kind == Place.THREAD and not c.is_archived]
        rooms = [c for c in inside if c.kind != Place.THREAD]
        return {
            "id": str(guild.id),
            "name": guild.name,
            "icon": None,
            "owner_id": str(guild.members[0] if guild.members else self.user(0)),
            "region": "deprecated",
            "afk_channel_id": None,
            "afk_timeout": 300,
            "verification_level": 1,
            "default_message_notifications": 1,
            "explicit_content_filter": 0,
            "mfa_level": 0,
            "nsfw_level": 0,
            "premium_tier": 0,
            "premium_progress_bar_enabled": False,
            "system_channel_flags": 0,
            "preferred_locale": "en-US",
            "features": [],
            "emojis": [],
            "stickers": [],
            "roles": self._roles(guild),
            "member_count": len(guild.members) + 1,
            "approximate_member_count": len(guild.members) + 1,
            "approximate_presence_count": len(guild.members) + 1,
            "large": False,
            "joined_at": stamp(guild.id),
            "channels": [self.show_channel(c) for c in rooms],
            "threads": [self.show_channel(c) for c in threads],
            "members": [self.show_member(guild, self.bot_id)],  # others must be requested
            "presences": [],
            "voice_states": [],
            "stage_instances": [],
            "guild_scheduled_events": [],
            "soundboard_sounds": [],
        }

    def _roles(self, guild: Guild) -> list[Json]:
        plain: Json = {
            "id": str(guild.id),
            "name": "@everyone",
            "color": 0,
            "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
            "hoist": False,
            "icon": None,
            "unicode_emoji": None,
            "position": 0,
            "permissions": PERMISSIONS,
            "managed": False,
            "mentionable": False,
            "flags": 0,
        }
        own = plain | {
            "id": str(guild.role_id),
            "name": "Talaria",
            "position": 1,
            "managed": True,
            "tags": {"bot_id": str(self.bot_id)},
        }
        return [plain, own]

    def show_member(self, guild: Guild, user_id: int, *, with_user: bool = True) -> Json:
        """A person, or the bot, as a member."""
        shown: Json = {
            "roles": [str(guild.role_id)] if user_id == self.bot_id else [],
            "nick": None,
            "avatar": None,
            "joined_at": stamp(guild.id),
            "premium_since": None,
            "deaf": False,
            "mute": False,
            "flags": 0,
            "pending": False,
            "communication_disabled_until": None,
        }
        return shown | {"user": self.users[user_id]} if with_user else shown

    def show_application(self) -> Json:
        """The application behind the bot, with the switches of its portal as flags."""
        flags = 0
        if self.portal & Intents.PRESENCES:
            flags |= 1 << 13
        if self.portal & Intents.MEMBERS:
            flags |= 1 << 15
        if self.portal & Intents.MESSAGE_CONTENT:
            flags |= 1 << 19
        return {
            "id": str(self.application_id),
            "name": "Talaria",
            "icon": None,
            "description": "",
            "bot_public": False,
            "bot_require_code_grant": False,
            "verify_key": "0" * 64,
            "flags": flags,
            "owner": self.users[self.user(0)],
            "team": None,
            "rpc_origins": [],
            "redirect_uris": [],
            "interactions_endpoint_url": None,
            "role_connections_verification_url": None,
            "integration_types_config": {"0": {}, "1": {}},
            "approximate_guild_count": sum(guild.has_bot for guild in self.guilds.values()),
            "approximate_user_install_count": 0,
            "bot": self.users[self.bot_id],
        }


def stamp(snowflake: int) -> str:
    """Return an id's creation time in Discord's format; ids of one millisecond differ in it."""
    whole, thousandths = divmod((snowflake >> 22) + EPOCH, 1000)
    return _write_time(whole, thousandths * 1000 + (snowflake & 0x3FFFFF) % 1000)


def stamp_time(seconds: float) -> str:
    """Return a Unix time in Discord's format."""
    whole, thousandths = divmod(round(seconds * 1000), 1000)
    return _write_time(whole, thousandths * 1000)


def _write_time(seconds: int, microseconds: int) -> str:
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{whole}.{microseconds:06d}+00:00"


def _user(user_id: int, name: str, *, is_bot: bool) -> Json:
    return {
        "id": str(user_id),
        "username": name,
        "discriminator": "0000" if is_bot else "0",
        "global_name": None if is_bot else name.capitalize(),
        "avatar": None,
        "bot": is_bot,
        "system": False,
        "public_flags": 0,
        "flags": 0,
    }
