"""Messages of the emulated Discord: written, edited, deleted, read, and sent as events."""

import time
from typing import Any

from tests.emulators.discord_rules import (
    MOST_BYTES,
    MOST_FILES,
    Refusal,
    check_message,
    malformed,
    pings,
    unknown,
)
from tests.emulators.discord_shapes import LOADING, SETTABLE, SUPPRESS_EMBEDS, Json, Message, Sent
from tests.emulators.discord_world import Channel, Event, Intents, Place, World, stamp, stamp_time

MOST_HISTORY = 100
"""Messages that one page has at most."""


class Messages:
    """All messages of a world."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.host = ""
        """The part of URLs before /attachments/."""
        self.nonce_window = 180.0
        self.files: dict[str, Sent] = {}
        """Attached files, by path."""
        self.typings: list[int] = []
        """Channels in which the bot typed, in order."""
        self._nonces: dict[tuple[int, int, str], tuple[float, int]] = {}

    # People and bot alike

    def get(self, channel_id: int, message_id: int) -> Message:
        """Return a visible message. Raises `Refusal`."""
        self.world.reach(channel_id)
        message = self.world.messages.get(message_id)
        if message is None or message.channel_id != channel_id or message.is_ephemeral:
            raise unknown("Message", 10008)
        return message

    def add(self, message: Message, *, files: list[Sent] | None = None) -> Message:
        """Write a message and send the event; ephemeral messages are neither listed nor sent."""
        message.attachments += [self._keep(message, file) for file in files or []]
        message.history.append(message.content)
        self.world.messages[message.id] = message
        channel = self.world.channels[message.channel_id]
        if not message.is_ephemeral:
            channel.order.append(message.id)
            self._notify("MESSAGE_CREATE", message, self.show(message, has_nonce=True))
        return message

    def rewrite(self, message: Message, content: str | None) -> None:
        """Change a message's text, if given, and send the edit event."""
        if content is not None:
            message.content = content
            message.history.append(content)
        message.edited_at = time.time()
        if not message.is_ephemeral:
            self._notify("MESSAGE_UPDATE", message, self.show(message))

    def unfurl(self, message: Message) -> None:
        """Add a link preview to a message: an update that is no edit."""
        embed = {"type": "link", "url": "https://example.org/", "title": "Example"}
        message.embeds.append(embed)
        self._notify("MESSAGE_UPDATE", message, self.show(message))

    def remove(self, message: Message) -> None:
        """Delete a message and send the event."""
        del self.world.messages[message.id]
        channel = self.world.channels[message.channel_id]
        if message.is_ephemeral:
            return
        channel.order.remove(message.id)
        data = {"id": str(message.id), "channel_id": str(channel.id)} | _of_guild(channel)
        self._notify_channel(
            channel, Event(name="MESSAGE_DELETE", data=data, intent=_notified(channel))
        )

    def ping(self, message: Message, allowed: Json | None) -> None:
        """Work out whom a message pings."""
        answered = self.world.messages.get(message.reference or 0)
        reached = pings(message.content, allowed, answered.author_id if answered else None)
        known = self.world.users
        message.mentions = [user_id for user_id in reached.users if user_id in known]
        message.mention_roles = reached.roles
        message.mention_everyone = reached.everyone

    # The bot's calls

    def send(
        self, channel_id: int, body: Json, files: list[Sent], *, message_id: int | None = None
    ) -> Message:
        """POST: a new message, or the first one of a repeated nonce. Raises `Refusal`."""
        channel = self.world.reach(channel_id)
        if channel.kind == Place.FORUM:
            raise Refusal(400, 50008, "Cannot send messages in a non-text channel")
        if channel.kind == Place.DM and channel.recipient in self.world.blocked_by:
            raise Refusal(403, 50007, "Cannot send messages to this user")
        if channel.is_locked:
            raise Refusal(400, 160005, "Thread is locked")
        check_message(body, has_files=bool(files), is_new=True)
        check_files(files)
        nonce = None if body.get("nonce") is None else str(body["nonce"])
        first = self._repeated(channel_id, nonce) if body.get("enforce_nonce") else None
        if first is not None:
            return first
        message = self.compose(channel_id, body)
        message.id = message_id or message.id
        message.flags &= SETTABLE
        message.nonce = nonce
        message.reference = self._reference(channel_id, body.get("message_reference"))
        self.ping(message, message.allowed_mentions)
        channel.is_archived = False
        self.add(message, files=_described(files, body))
        if nonce is not None:
            key = (channel_id, message.author_id, nonce)
            self._nonces[key] = (time.monotonic(), message.id)
        return message

    def compose(self, channel_id: int, body: Json) -> Message:
        """Return a message of the bot that is not written yet."""
        return Message(
            id=self.world.take_id(),
            channel_id=channel_id,
            author_id=self.world.bot_id,
            content=body.get("content") or "",
            components=numbered(body.get("components") or []),
            embeds=list(body.get("embeds") or []),
            flags=int(body.get("flags") or 0),
            allowed_mentions=body.get("allowed_mentions"),
        )

    def edit(self, message: Message, body: Json, files: list[Sent]) -> Message:
        """PATCH: what the body names changes. Raises `Refusal`."""
        if message.author_id != self.world.bot_id:
            raise Refusal(403, 50005, "Cannot edit a message authored by another user")
        check_message(body, has_files=bool(files), is_new=False)
        check_files(files)
        kept = message.attachments
        if "attachments" in body:
            named = {str(one.get("id")) for one in body["attachments"] or []}
            kept = [one for one in kept if one["id"] in named]
        content = (body["content"] or "") if "content" in body else None
        components = body.get("components", message.components) or []
        embeds = body.get("embeds", message.embeds) or []
        words = message.content if content is None else content
        if not (words.strip() or components or embeds or kept or files):
            raise Refusal(400, 50006, "Cannot send an empty message")
        message.components, message.embeds = numbered(components), list(embeds)
        message.attachments = kept + [self._keep(message, one) for one in _described(files, body)]
        if body.get("flags") is not None:
            message.flags = (message.flags & ~SUPPRESS_EMBEDS) | (body["flags"] & SUPPRESS_EMBEDS)
        message.flags &= ~LOADING
        if "allowed_mentions" in body:
            message.allowed_mentions = body["allowed_mentions"]
        if content is not None:
            message.content = content
            self.ping(message, message.allowed_mentions)
        self.rewrite(message, content)
        return message

    def delete(self, message: Message) -> None:
        """DELETE: in direct channels only the bot's own messages. Raises `Refusal`."""
        is_direct = self.world.channels[message.channel_id].kind == Place.DM
        if is_direct and message.author_id != self.world.bot_id:
            raise Refusal(403, 50003, "Cannot execute action on a DM channel")
        self.remove(message)

    def read(self, channel_id: int, query: dict[str, str]) -> list[Message]:
        """GET: up to 100 messages, newest first. Raises `Refusal`."""
        channel = self.world.reach(channel_id)
        limit = int(query.get("limit", 50))
        if not 1 <= limit <= MOST_HISTORY:
            raise malformed("limit", "NUMBER_TYPE_MAX", "int value should be between 1 and 100.")
        ids = channel.order
        if "before" in query:
            ids = [one for one in ids if one < int(query["before"])]
        elif "after" in query:
            # The page starts right after the id, not at the newest end.
            ids = [one for one in ids if one > int(query["after"])][:limit]
        elif "around" in query:
            middle = int(query["around"])
            older = [one for one in ids if one < middle][-(limit // 2) :]
            ids = older + [one for one in ids if one >= middle][: limit - len(older)]
        return [self.world.messages[one] for one in reversed(ids[-limit:])]

    def react(self, message: Message, emoji: str, user_id: int, *, is_on: bool) -> None:
        """PUT and DELETE of a reaction; both may be repeated."""
        who = message.reactions.setdefault(emoji, [])
        if (user_id in who) == is_on:
            return
        if is_on:
            who.append(user_id)
        else:
            who.remove(user_id)
        if not who:
            del message.reactions[emoji]
        channel = self.world.channels[message.channel_id]
        is_direct = channel.kind == Place.DM
        data = {
            "user_id": str(user_id),
            "channel_id": str(channel.id),
            "message_id": str(message.id),
            "emoji": _emoji(emoji),
            "burst": False,
            "type": 0,
        }
        if is_on:  # Discord says whose message it is only then
            data["message_author_id"] = str(message.author_id)
        self._notify_channel(
            channel,
            Event(
                name="MESSAGE_REACTION_ADD" if is_on else "MESSAGE_REACTION_REMOVE",
                data=data | _of_guild(channel),
                intent=Intents.DIRECT_REACTIONS if is_direct else Intents.GUILD_REACTIONS,
            ),
        )

    def type_in(self, channel_id: int) -> None:
        """Type as the bot. Raises `Refusal`."""
        self.typings.append(self.world.reach(channel_id).id)

    # As JSON

    def show(self, message: Message, *, has_nonce: bool = False, is_nested: bool = False) -> Json:
        """Return a message in full. Only the create event has its nonce."""
        world = self.world
        channel = world.channels.get(message.channel_id)
        shown: Json = {
            "id": str(message.id),
            "type": message.type,
            "channel_id": str(message.channel_id),
            "author": world.users[message.author_id],
            "content": message.content,
            "timestamp": stamp(message.id),
            "edited_timestamp": stamp_time(message.edited_at) if message.edited_at else None,
            "tts": False,
            "mention_everyone": message.mention_everyone,
            "mentions": [world.users[user_id] for user_id in message.mentions],
            "mention_roles": [str(role_id) for role_id in message.mention_roles],
            "attachments": message.attachments,
            "embeds": message.embeds,
            "components": message.components,
            "pinned": False,
            "flags": message.flags,
        }
        if message.reactions:
            shown["reactions"] = [
                {
                    "emoji": _emoji(emoji),
                    "count": len(who),
                    "count_details": {"burst": 0, "normal": len(who)},
                    "burst_colors": [],
                    "me_burst": False,
                    "me": world.bot_id in who,
                    "burst_me": False,
                    "burst_count": 0,
                }
                for emoji, who in message.reactions.items()
            ]
        if has_nonce and message.nonce is not None:
            shown["nonce"] = message.nonce
        if message.interaction is not None:
            shown["interaction_metadata"] = message.interaction
            shown["application_id"] = str(world.application_id)
            shown["webhook_id"] = str(world.application_id)
        if message.reference is not None and not is_nested:
            answered = world.messages.get(message.reference)
            shown["message_reference"] = {
                "type": 0,
                "message_id": str(message.reference),
                "channel_id": str(message.channel_id),
            } | (_of_guild(channel) if channel else {})
            shown["referenced_message"] = answered and self.show(answered, is_nested=True)
        return shown

    def show_to_app(self, message: Message, *, has_nonce: bool = False) -> Json:
        """As REST shows it: without the portal's switch, content of others is hidden."""
        shown = self.show(message, has_nonce=has_nonce)
        if not self.world.portal & Intents.MESSAGE_CONTENT:
            channel = self.world.channels[message.channel_id]
            shown = hide(shown, self.world.bot_id, is_direct=channel.kind == Place.DM)
        return shown

    # Internals

    def _repeated(self, channel_id: int, nonce: str | None) -> Message | None:
        seen = self._nonces.get((channel_id, self.world.bot_id, nonce or ""))
        if seen is None or time.monotonic() - seen[0] > self.nonce_window:
            return None
        return self.world.messages.get(seen[1])

    def _reference(self, channel_id: int, reference: Json | None) -> int | None:
        if not reference:
            return None
        answered = self.world.messages.get(int(reference["message_id"]))
        if answered is not None and answered.channel_id == channel_id and not answered.is_ephemeral:
            return answered.id
        if reference.get("fail_if_not_exists", True):
            raise malformed("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
        return None

    def _keep(self, message: Message, file: Sent) -> Json:
        number = self.world.take_id()
        path = f"/attachments/{message.channel_id}/{number}/{file.name}"
        self.files[path] = file
        url = f"{self.host}{path}?ex=6a000000&is=69000000&hm=00"
        return {
            "id": str(number),
            "filename": file.name,
            "size": len(file.data),
            "url": url,
            "proxy_url": url,
            "content_type": file.content_type,
        } | ({"description": file.description} if file.description else {})

    def _notify(self, name: str, message: Message, data: Json) -> None:
        channel = self.world.channels[message.channel_id]
        data = data | _of_guild(channel) | {"channel_type": int(channel.kind)}
        if channel.guild_id is not None:
            guild = self.world.guilds[channel.guild_id]
            data["member"] = self.world.show_member(guild, message.author_id, with_user=False)
        is_masked = channel.kind != Place.DM
        event = Event(name=name, data=data, intent=_notified(channel), is_masked=is_masked)
        self._notify_channel(channel, event)

    def _notify_channel(self, channel: Channel, event: Event) -> None:
        self.world.notify_guild(channel.guild_id, event)


def hide(shown: Json, bot_id: int, *, is_direct: bool) -> Json:
    """Return a message as an app without MESSAGE_CONTENT sees it."""
    is_own = shown["author"]["id"] == str(bot_id)
    is_mentioned = any(user["id"] == str(bot_id) for user in shown["mentions"])
    if is_direct or is_own or is_mentioned:
        return shown
    return shown | {"content": "", "attachments": [], "embeds": [], "components": []}


def check_files(files: list[Sent]) -> None:
    """Refuse too many or too big ones. Raises `Refusal`."""
    if len(files) > MOST_FILES:
        raise malformed("files", "BASE_TYPE_MAX_LENGTH", "Must be 10 or fewer in length.")
    if any(len(file.data) > MOST_BYTES for file in files):
        raise Refusal(413, 40005, "Request entity too large")


def numbered(components: list[Json]) -> list[Json]:
    """Return components with the ids that Discord adds."""
    count = 0

    def number(part: Json) -> Json:
        nonlocal count
        count += 1
        part = {"id": count, **part}
        if "components" in part:
            part["components"] = [number(inner) for inner in part["components"]]
        return part

    return [number(part) for part in components]


def _described(files: list[Sent], body: Json) -> list[Sent]:
    """Return files with the names and descriptions from the body."""
    about: dict[str, Any] = {str(one.get("id")): one for one in body.get("attachments") or []}
    return [
        Sent(
            name=about.get(str(place), {}).get("filename") or file.name,
            data=file.data,
            content_type=file.content_type,
            description=about.get(str(place), {}).get("description"),
        )
        for place, file in enumerate(files)
    ]


def _emoji(name: str) -> Json:
    return {"id": None, "name": name}


def _of_guild(channel: Channel) -> Json:
    return {} if channel.guild_id is None else {"guild_id": str(channel.guild_id)}


def _notified(channel: Channel) -> Intents:
    return Intents.DIRECT_MESSAGES if channel.kind == Place.DM else Intents.GUILD_MESSAGES
