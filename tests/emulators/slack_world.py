"""Slack's data: people, channels and messages, as the Web API shows them."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.emulators.slack_shapes import Json, Refusal, SlackMessage, Stream, rich_text


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
    """The app, its bot, and the workspace."""

    bot_token: str = "xoxb-emulated-bot-token"
    app_token: str = "xapp-1-A0TALARIA-emulated-app-token"
    signing_secret: str = "emulated-signing-secret"
    team_id: str = "T0WORKSPACE"
    team_name: str = "Workspace"
    bot_user_id: str = "U0TALARIA"
    bot_id: str = "B0TALARIA"
    app_id: str = "A0TALARIA"
    bot_name: str = "talaria"
    scopes: tuple[str, ...] = ()
    """What the bot's token may do, in a header of every answer; not sent if empty."""


@dataclass(kw_only=True)
class Channel:
    """A channel; `kind` as events call it: im, channel, group, mpim."""

    id: str
    kind: str
    name: str = ""
    members: list[str] = field(default_factory=list)
    is_archived: bool = False
    messages: dict[str, SlackMessage] = field(default_factory=dict)
    """By ts, oldest first."""
    buried: set[str] = field(default_factory=set)
    """The ts of deleted messages, whose threads continue."""
    ephemerals: list[tuple[str, SlackMessage]] = field(default_factory=list)
    """Ephemeral messages, with their person."""


class World:
    """One workspace. Events for apps go through `emit`, one at a time."""

    def __init__(self, app: App, emit: Callable[[Json], None]) -> None:
        self.app = app
        self.emit = emit
        self.users: dict[str, Json] = {}
        self.channels: dict[str, Channel] = {}
        self.views: dict[str, Json] = {}
        """The published home of each user."""
        self.sessions: dict[tuple[str, str], Json] = {}
        """Agent sessions by channel and thread."""
        self.assistant: dict[tuple[str, str], str] = {}
        """The older assistant's status by channel and thread."""
        self.files: dict[str, Json] = {}
        self.contents: dict[str, bytes] = {}
        self.address = ""
        """The base URL, without a trailing slash."""
        self.stream_seconds = 300.0
        """Seconds a stream accepts text after its start (measured by others: about 300)."""
        self.reports_own = True
        """The app gets events for its own bot's messages, as with message events enabled."""
        self._last = 0
        self._number = 0
        self.user(app.bot_user_id, app.bot_name, is_bot=True)

    # Names and numbers

    def next_ts(self) -> str:
        """Return a new ts, larger than all before and equally wide."""
        self._last = max(self._last + 1, time.time_ns() // 1000)
        return f"{self._last // 1_000_000}.{self._last % 1_000_000:06d}"

    def next_id(self, prefix: str) -> str:
        """Return a unique id."""
        self._number += 1
        return f"{prefix}0{self._number:09d}"

    # People and places

    def user(self, user_id: str, name: str, *, is_bot: bool = False) -> Json:
        """Return users.info of a user, created at the first call."""
        if user_id not in self.users:
            self.users[user_id] = {
                "id": user_id,
                "team_id": self.app.team_id,
                "name": name,
                "deleted": False,
                "real_name": name.title(),
                "tz": "Europe/Berlin",
                "tz_label": "Central European Time",
                "tz_offset": 3600,
                "locale": "en-GB",
                "is_bot": is_bot,
                "profile": {"real_name": name.title(), "display_name": name},
            }
        return self.users[user_id]

    def dm(self, user_id: str) -> str:
        """Return the direct chat of a user and the bot."""
        channel_id = f"D{user_id[1:]}"
        if channel_id not in self.channels:
            members = [user_id, self.app.bot_user_id]
            self.channels[channel_id] = Channel(id=channel_id, kind="im", members=members)
        return channel_id

    def room(self, name: str, members: list[str], kind: str = "channel") -> str:
        """Return a channel by name with the bot in it; later calls add members."""
        for channel in self.channels.values():
            if channel.name == name and channel.kind == kind:
                break
        else:
            prefix = "C" if kind == "channel" else "G"
            channel = Channel(id=self.next_id(prefix), kind=kind, name=name)
            channel.members.append(self.app.bot_user_id)
            self.channels[channel.id] = channel
        channel.members += [user for user in members if user not in channel.members]
        return channel.id

    # What the bot may do

    def place(self, parameters: Json, key: str = "channel", *, writes: bool = True) -> Channel:
        """Return the named channel; a user's id means their direct chat. Raises `Refusal`."""
        channel_id = str(parameters.get(key) or "")
        if writes and channel_id in self.users:
            channel_id = self.dm(channel_id)
        channel = self.channels.get(channel_id)
        if channel is None:
            raise Refusal("channel_not_found")
        if self.app.bot_user_id not in channel.members:
            raise Refusal("not_in_channel" if channel.kind == "channel" else "channel_not_found")
        if writes and channel.is_archived:
            raise Refusal("is_archived")
        return channel

    def thread_in(self, channel: Channel, parameters: Json) -> str | None:
        """Return the named thread, if any. Raises `Refusal`."""
        thread_ts = parameters.get("thread_ts")
        if not thread_ts:
            return None
        if not isinstance(thread_ts, str) or not thread_ts.replace(".", "", 1).isdecimal():
            raise Refusal("invalid_thread_ts")
        root = channel.messages.get(thread_ts)
        if root is None and thread_ts not in channel.buried:
            raise Refusal("thread_not_found")
        if root is not None and root.thread_ts not in (None, thread_ts):
            raise Refusal("cannot_reply_to_message")
        return thread_ts

    def own(self, channel: Channel, ts: object, refusal: str) -> SlackMessage:
        """Return a message of the bot. Raises `Refusal`."""
        message = channel.messages.get(str(ts or ""))
        if message is None:
            raise Refusal("message_not_found")
        if message.bot != self.app.bot_id:
            raise Refusal(refusal)
        self.age(message)
        return message

    def age(self, message: SlackMessage) -> Stream | None:
        """Close a stream that is too old."""
        stream = message.stream
        if stream is not None and stream.is_open:
            stream.is_open = time.monotonic() - stream.started < self.stream_seconds
        return stream

    # Messages

    def put(self, message: SlackMessage) -> SlackMessage:
        """Add a message."""
        channel = self.channels[message.channel]
        message.note()
        channel.messages[message.ts] = message
        if message.bot is not None:
            self.assistant.pop((message.channel, message.thread_ts or ""), None)
        self.notify(message, self.event_of(message))
        return message

    def change(self, message: SlackMessage, before: Json) -> None:
        """Report a changed message; `before` is how it was shown."""
        message.note()
        self.notify(message, self._about(message, "message_changed", before))

    def remove(self, message: SlackMessage) -> None:
        """Remove a message."""
        channel = self.channels[message.channel]
        before = self.shown(message)
        del channel.messages[message.ts]
        channel.buried.add(message.ts)
        self.notify(message, self._about(message, "message_deleted", before))

    def notify(self, message: SlackMessage, event: Json) -> None:
        """Send an event to the app, if it is in the channel and asked for it."""
        members = self.channels[message.channel].members
        if self.app.bot_user_id in members and (message.bot is None or self.reports_own):
            self.emit(event)

    def shown(self, message: SlackMessage, *, with_metadata: bool = False) -> Json:
        """Return a message as the Web API shows it."""
        words = message.markdown_text or message.text
        blocks = message.blocks
        if words and not blocks:
            blocks = [rich_text(words, "rt0")]
        about: Json = {
            "type": "message",
            "user": message.user,
            "ts": message.ts,
            "text": words,
            "team": self.app.team_id,
            "blocks": blocks,
        }
        if message.bot is not None:
            about |= {"bot_id": message.bot, "app_id": self.app.app_id}
            about["bot_profile"] = {"id": message.bot, "name": self.app.bot_name}
        if message.client_msg_id is not None:
            about["client_msg_id"] = message.client_msg_id
        if message.files:
            about |= {"subtype": "file_share", "files": message.files, "upload": False}
        if message.edited is not None:
            about["edited"] = message.edited
        if message.metadata is not None and with_metadata:
            about["metadata"] = message.metadata
        if message.stream is not None:
            about["streaming_state"] = "in_progress" if message.is_streaming else "completed"
        if message.thread_ts is not None:
            about |= {"thread_ts": message.thread_ts, "parent_user_id": self._root_of(message)}
        return about | self._replies_to(message) | self._reactions(message)

    def event_of(self, message: SlackMessage) -> Json:
        """Return a new message as an event."""
        channel = self.channels[message.channel]
        event = self.shown(message, with_metadata=True)
        return event | {
            "channel": channel.id,
            "event_ts": message.ts,
            "channel_type": channel.kind,
        }

    def replies(self, channel: Channel, thread_ts: str) -> list[SlackMessage]:
        """Return the replies in a thread, oldest first."""
        found = channel.messages.values()
        return [m for m in found if m.thread_ts == thread_ts and m.ts != thread_ts]

    def _about(self, message: SlackMessage, subtype: str, before: Json) -> Json:
        channel = self.channels[message.channel]
        ts = self.next_ts()
        event: Json = {
            "type": "message",
            "subtype": subtype,
            "hidden": True,
            "channel": channel.id,
            "channel_type": channel.kind,
            "ts": ts,
            "event_ts": ts,
            "previous_message": before,
        }
        if subtype == "message_deleted":
            return event | {"deleted_ts": message.ts}
        return event | {"message": self.shown(message, with_metadata=True)}

    def _root_of(self, message: SlackMessage) -> str:
        root = self.channels[message.channel].messages.get(message.thread_ts or "")
        return root.user if root is not None else "USLACKBOT"

    def _replies_to(self, message: SlackMessage) -> Json:
        if message.thread_ts not in (None, message.ts):
            return {}
        answers = self.replies(self.channels[message.channel], message.ts)
        if not answers:
            return {}
        users = list(dict.fromkeys(answer.user for answer in answers))
        return {
            "thread_ts": message.ts,
            "reply_count": len(answers),
            "reply_users": users,
            "reply_users_count": len(users),
            "latest_reply": answers[-1].ts,
            "is_locked": False,
        }

    def _reactions(self, message: SlackMessage) -> Json:
        if not message.reactions:
            return {}
        names = dict.fromkeys(name for name, _ in message.reactions)
        users = {n: [user for name, user in message.reactions if name == n] for n in names}
        return {"reactions": [{"name": n, "users": u, "count": len(u)} for n, u in users.items()]}
