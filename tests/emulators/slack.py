"""A small, faithful Slack on loopback: Web API, Socket Mode, files, and controls for tests.

In a test: `async with SlackEmulator() as slack:`.
"""

import asyncio
import contextlib
import functools
import time
from collections.abc import Iterable
from typing import Any, TypeVar

from aiohttp import web

from tests.emulators import slack_payloads as payloads
from tests.emulators.server import LoopbackServer
from tests.emulators.slack_chat import SECONDS_PER_URL, ResponseUrl, answer
from tests.emulators.slack_delivery import Ack, NobodyListens, OutboxDispatcher
from tests.emulators.slack_faults import Fault, FaultKind
from tests.emulators.slack_files import SlackFile, attach
from tests.emulators.slack_post import Post
from tests.emulators.slack_shapes import Json, Refusal, SlackMessage, elements_of, escaped
from tests.emulators.slack_sockets import Sockets
from tests.emulators.slack_web import Endpoints
from tests.emulators.slack_world import App, Channel, World

T = TypeVar("T")
Shared = tuple[str, bytes, str] | SlackFile
_STREAMS = ("chat.startStream", "chat.appendStream", "chat.stopStream")
_SHORTCUT = "ask_about_message"

__all__ = ["Ack", "NobodyListens", "SlackEmulator", "SlackFile", "SlackMessage"]


class SlackEmulator(LoopbackServer):
    """One workspace with one app. Users have small numbers and are created on first use.

    `world` has Slack's data and more settings: `world.stream_seconds`, `world.tells_own`.
    """

    def __init__(self, *, port: int = 0) -> None:
        super().__init__(port=port)
        app = App()
        self.bot_token, self.app_token = app.bot_token, app.app_token
        self.signing_secret, self.team_id, self.app_id = app.signing_secret, app.team_id, app.app_id
        self.bot_user_id, self.bot_id = app.bot_user_id, app.bot_id
        self.world = World(app, self._emit)
        self._sockets = Sockets(app.app_id, self._stir)
        self.delivery = OutboxDispatcher(self._sockets, self._stir)
        self._sockets.delivery = self.delivery
        self._endpoints = Endpoints(self.world, self._sockets, self._stir)
        self._post: Post | None = None
        self.is_agent = self.is_assistant = self.can_stream = True

    def application(self) -> web.Application:
        return self._endpoints.application()

    async def start(self) -> None:
        self._endpoints.closing.clear()
        await super().start()
        self.world.address = self.url

    async def stop(self) -> None:
        """Close the port and every connection. `start` opens the same port again."""
        self.delivery.pause()
        self._endpoints.closing.set()
        if self._post is not None:
            await self._post.close()
        self._sockets.close()
        await super().stop()
        self.delivery.pause()

    # Settings and records

    @property
    def base_url(self) -> str:
        """For `AsyncWebClient(base_url=...)`."""
        return f"{self.url}/api/"

    @property
    def is_agent(self) -> bool:
        """Whether the app is declared as an agent: agents.sessions.setStatus works."""
        return "agents.sessions.setStatus" not in self._endpoints.closed

    @is_agent.setter
    def is_agent(self, is_so: bool) -> None:
        self._allow(("agents.sessions.setStatus",), is_so, "not_an_agent")

    @property
    def is_assistant(self) -> bool:
        """Whether assistant.threads.setStatus works."""
        return "assistant.threads.setStatus" not in self._endpoints.closed

    @is_assistant.setter
    def is_assistant(self, is_so: bool) -> None:
        self._allow(("assistant.threads.setStatus",), is_so, "feature_not_enabled")

    @property
    def can_stream(self) -> bool:
        """Whether chat.startStream and related methods work."""
        return "chat.startStream" not in self._endpoints.closed

    @can_stream.setter
    def can_stream(self, is_so: bool) -> None:
        self._allow(_STREAMS, is_so, "feature_not_enabled")

    @property
    def sockets(self) -> int:
        """Open connections."""
        return len(self._sockets.open)

    @property
    def connections_opened(self) -> int:
        """Connections that received their hello."""
        return self._sockets.opened

    @property
    def calls(self) -> list[tuple[str, Json]]:
        """Every request with its parameters, including "upload" and "response_url"."""
        return self._endpoints.calls

    @property
    def acks(self) -> list[Ack]:
        """What the app acknowledged, in order."""
        return self.delivery.acks

    @property
    def redelivers_unacked(self) -> bool:
        """Events without an ack are sent again, three times, `after_seconds` after each attempt."""
        return self.delivery.redelivers_unacked

    @redelivers_unacked.setter
    def redelivers_unacked(self, is_so: bool) -> None:
        self.delivery.redelivers_unacked = is_so

    @property
    def after_seconds(self) -> float:
        """Seconds allowed for an ack."""
        return self.delivery.after_seconds

    @after_seconds.setter
    def after_seconds(self, seconds: float) -> None:
        self.delivery.after_seconds = seconds

    @property
    def holds_seconds(self) -> float:
        """Seconds an event waits while no socket is open; with 0 it is lost at once."""
        return self.delivery.holds_seconds

    @holds_seconds.setter
    def holds_seconds(self, seconds: float) -> None:
        self.delivery.holds_seconds = seconds

    @property
    def limits(self) -> dict[str, tuple[int, float]]:
        """Calls per seconds by method, such as {"chat.postMessage": (1, 1.0)}; none by default."""
        return self._endpoints.limits

    @property
    def late(self) -> int:
        """Calls whose connection broke and that are not applied yet."""
        return self._endpoints.late

    def unacked(self) -> list[str]:
        """The newest envelope of each unacknowledged event; "" if none was sent yet."""
        return [(p.envelope_ids or [""])[-1] for p in self.delivery.unacked()]

    # People and places

    def user(self, number: int, name: str = "", **fields: str) -> str:
        """Return a person's id (U...). Fields change users.info: real_name, tz, locale."""
        user_id = f"U{number:010d}"
        self.world.user(user_id, name or f"person{number}").update(fields)
        return user_id

    def dm(self, number: int) -> str:
        """Return a person's direct chat with the bot (D...)."""
        return self.world.dm(self.user(number))

    def channel(
        self, name: str = "general", members: Iterable[int] = (), *, kind: str = "channel"
    ) -> str:
        """Return a room with the bot (C..., G...); kind: channel, group (private), mpim."""
        return self.world.room(name, [self.user(number) for number in members], kind)

    def archives(self, channel: str) -> None:
        """Archive a channel."""
        self.world.channels[channel].is_archived = True
        self._emit({"type": "channel_archive", "channel": channel, "event_ts": self._now()})

    def removes_bot(self, channel: str) -> None:
        """Remove the bot from a channel, and send the event."""
        place = self.world.channels[channel]
        place.members.remove(self.bot_user_id)
        kind = "channel_left" if place.kind == "channel" else "group_left"
        self._emit({"type": kind, "channel": channel, "event_ts": self._now()})

    def invites_bot(self, channel: str) -> None:
        """Add the bot to a channel again, and send the event."""
        place = self.world.channels[channel]
        place.members.append(self.bot_user_id)
        self._emit(
            {"type": "member_joined_channel", "user": self.bot_user_id, "channel": channel}
            | {"channel_type": place.id[0], "team": self.team_id, "event_ts": self._now()}
        )

    # What people do

    async def says(
        self,
        number: int,
        text: str,
        *,
        channel: str | None = None,
        thread_ts: str | None = None,
        mention: bool = False,
        files: Iterable[Shared] = (),
    ) -> str:
        """Write as a person, in their direct chat by default; returns the ts.

        `mention` puts the bot's name in front. A file is (name, bytes, type) or a `SlackFile`.
        """
        user = self.user(number)
        place = self._place(user, channel)
        if thread_ts is not None and thread_ts not in place.messages.keys() | place.buried:
            raise LookupError(f"there is no message {thread_ts} to answer")
        words = f"<@{self.bot_user_id}> {text}" if mention else text
        message = SlackMessage(
            channel=place.id,
            ts=self._now(),
            user=user,
            thread_ts=thread_ts,
            text=escaped(words),
            client_msg_id=self.world.next_id("client"),
            files=[attach(self.world, _file(file), user) for file in files],
        )
        self.world.put(message)
        names_bot = f"<@{self.bot_user_id}>" in message.text
        if names_bot and place.kind != "im" and self.bot_user_id in place.members:
            self._emit(payloads.mention_of(self.world.event_of(message)))
        return message.ts

    async def edits(self, channel: str, ts: str, text: str) -> None:
        """Change a message's text as its author."""
        message = self.world.channels[channel].messages[ts]
        before = self.world.shown(message)
        message.text = escaped(text)
        message.edited = {"user": message.user, "ts": self._now()}
        self.world.change(message, before)

    async def deletes(self, channel: str, ts: str) -> None:
        """Delete a message."""
        self.world.remove(self.world.channels[channel].messages[ts])

    async def reacts(
        self, number: int, channel: str, ts: str, name: str, *, is_on: bool = True
    ) -> None:
        """Add an emoji to a message as a person, or remove it. Raises `ValueError`."""
        message = self.world.channels[channel].messages[ts]
        if is_on:
            message.reactions.append((name, self.user(number)))
        else:
            message.reactions.remove((name, self.user(number)))
        item = {"type": "message", "channel": channel, "ts": ts}
        kind = "reaction_added" if is_on else "reaction_removed"
        self._emit(
            {"type": kind, "user": self.user(number), "reaction": name, "item": item}
            | {"item_user": message.user, "event_ts": self._now()}
        )

    async def joins(self, number: int, channel: str) -> None:
        """Let a person join a channel."""
        self.world.channels[channel].members.append(self.user(number))
        self._emit(
            {"type": "member_joined_channel", "user": self.user(number), "channel": channel}
            | {"channel_type": "G", "team": self.world.app.team_id, "event_ts": self._now()}
        )

    async def presses(
        self, number: int, channel: str, ts: str, action_id: str, *, option: str | None = None
    ) -> None:
        """Press a button as a person, or choose the option with that value.

        Raises `LookupError` if they see no such element, and `NobodyListens`.
        """
        user = self.user(number)
        message = self._seen(user, channel, ts)
        element = _element(message.blocks, action_id)
        action = payloads.action_of(element, self._now(), option)
        url = self._response_url(channel, user, message)
        self.delivery.push("interactive", payloads.click(self.world, message, user, action, url))

    async def presses_home(self, number: int, action_id: str, *, option: str | None = None) -> None:
        """Press or choose as a person in their home tab. Raises like `presses`."""
        user = self.user(number)
        element = _element(self.world.views[user]["blocks"], action_id)
        action = payloads.action_of(element, self._now(), option)
        self.delivery.push("interactive", payloads.home_click(self.world, user, action))

    async def commands(self, number: int, text: str, *, channel: str | None = None) -> str:
        """Type `/talaria <text>` as a person; returns the envelope's id. Raises `NobodyListens`.

        `ephemerals` has what the app puts into its ack or posts to the response_url.
        """
        user = self.user(number)
        place = self._place(user, channel)
        where = ResponseUrl(channel=place.id, user=user, source=None, until=_soon())
        payload = payloads.command(
            self.world, place, user, text, self._endpoints.response_url(where)
        )
        hear = functools.partial(self._hear, where)
        return self.delivery.push("slash_commands", payload, hear).envelope_ids[-1]

    async def shortcut(
        self, number: int, channel: str, ts: str, callback_id: str = _SHORTCUT
    ) -> None:
        """Choose a shortcut from a message's menu as a person. Raises like `presses`."""
        user = self.user(number)
        message = self._seen(user, channel, ts)
        url = self._response_url(channel, user, message)
        payload = payloads.shortcut(self.world, message, user, callback_id, url)
        self.delivery.push("interactive", payload)

    async def opens_home(self, number: int) -> None:
        """Open the app's home tab as a person."""
        user = self.user(number)
        event: Json = {"type": "app_home_opened", "user": user, "channel": self.dm(number)}
        view = self.world.views.get(user)
        self._emit(
            event
            | {"tab": "home", "event_ts": self._now()}
            | ({"view": view} if view is not None else {})
        )

    async def stops_session(self, number: int, channel: str, thread_ts: str) -> None:
        """Press Slack's own Stop as a person: closes the bot's open streams in the thread."""
        stopped = []
        for message in self.world.channels[channel].messages.values():
            stream = self.world.age(message)
            if stream is not None and stream.is_open and message.thread_ts == thread_ts:
                stream.is_open, stream.stopped_by_user = False, True
                stopped.append(message.ts)
        self._emit(
            {"type": "agent_session_stopped", "user": self.user(number), "channel": channel}
            | {"thread_ts": thread_ts, "streaming_message_ts": stopped, "event_ts": self._now()}
        )

    # What people see

    def texts(self, channel: str, thread_ts: str | None = None) -> list[str]:
        """Return the bot's current texts, in a channel with its threads or in a thread."""
        return [
            message.shown
            for message in self.messages(channel)
            if message.bot is not None and thread_ts in (None, message.thread_ts)
        ]

    def called(self, method: str) -> list[dict[str, Any]]:
        """Return the parameters of all calls of a method so far."""
        return [parameters for name, parameters in self.calls if name == method]

    def messages(self, channel: str) -> list[SlackMessage]:
        """Return all messages of a channel and its threads, oldest first."""
        found = list(self.world.channels[channel].messages.values())
        for message in found:
            self.world.age(message)
        return found

    def ephemerals(self, number: int) -> list[SlackMessage]:
        """Return what only this person sees, oldest first, with answers to their commands."""
        user = self.user(number)
        places = self.world.channels.values()
        found = [m for place in places for who, m in place.ephemerals if who == user]
        return sorted(found, key=lambda message: message.ts)

    def home(self, number: int) -> Json | None:
        """Return the home tab that the app published for a person."""
        return self.world.views.get(self.user(number))

    def status(self, channel: str, thread_ts: str) -> str:
        """Return the status of the agent session there, or the assistant's; "" without one."""
        session = self.world.sessions.get((channel, thread_ts))
        if session is not None:
            return str(session["status"])
        return self.world.assistant.get((channel, thread_ts), "")

    # Controls

    def fail(self, method: str, *, kind: FaultKind, times: int = 1, **detail: Any) -> None:
        """Let the next calls of a method fail; also "upload", "download", and "*" for any.

        See `Fault` for the detail that a kind takes.
        """
        fault = Fault(kind=FaultKind(kind), **detail)
        self._endpoints.faults.setdefault(method, []).extend([fault] * times)

    def clear_faults(self) -> None:
        """Drop the remaining planned faults."""
        self._endpoints.faults.clear()

    async def redeliver(self, times: int = 1, *, with_new_event_id: bool = False) -> None:
        """Send every event so far again, marked as a repetition."""
        known = [parcel for parcel in self.delivery.parcels if parcel.kind == "events_api"]
        for _ in range(times):
            for parcel in known:
                fresh = parcel.payload | {"event_id": self.world.next_id("Ev")}
                self.delivery.again(parcel, fresh if with_new_event_id else None)

    async def drop_sockets(self) -> None:
        """Reset every connection without a close frame."""
        for socket in list(self._sockets.open):
            socket.break_off()

    def refuse_sockets(self, reason: str | None) -> None:
        """Refuse new connections: an error code of apps.connections.open, or too_many_websockets.

        None accepts connections again.
        """
        self._sockets.refusal = reason

    async def send_disconnect(
        self, reason: str = "refresh_requested", may_close: asyncio.Event | None = None
    ) -> None:
        """Tell every client to reconnect; a "warning" leaves the connection open.

        The others close once the event is set, or 0.1 seconds later without one.
        """
        await self._sockets.leave(reason, may_close)

    def mute_sockets(self) -> None:
        """Make the current connections half-open: nothing is sent, not even pongs."""
        for socket in self._sockets.open:
            socket.is_mute = True

    async def post_event(self, url: str | None) -> None:
        """Use HTTP mode: send everything to this address; None returns to sockets.

        Raises `slack_post.Unverified` if the address doesn't answer the challenge.
        """
        if self._post is not None:
            await self._post.close()
        self._post = None
        if url is not None:
            post = Post(url, self.signing_secret, self.delivery)
            await post.verify()
            self._post = post
        self.delivery.carrier = self._post or self._sockets
        self.delivery.resume()

    # Internals

    def _emit(self, event: Json) -> None:
        event_id = self.world.next_id("Ev")
        self.delivery.push("events_api", payloads.event_callback(self.world.app, event, event_id))

    def _hear(self, where: ResponseUrl, given: Json) -> None:
        """Handle an app's ack; if it can't be shown, only the person sees an error."""
        with contextlib.suppress(Refusal):
            answer(self.world, where, given)

    def _now(self) -> str:
        return self.world.next_ts()

    def _place(self, user: str, channel: str | None) -> Channel:
        place = self.world.channels[channel or self.world.dm(user)]
        if user not in place.members:
            place.members.append(user)
        return place

    def _seen(self, user: str, channel: str, ts: str) -> SlackMessage:
        place = self.world.channels[channel]
        whispered = {m.ts: m for who, m in place.ephemerals if who == user}
        return place.messages.get(ts) or whispered[ts]

    def _response_url(self, channel: str, user: str, source: SlackMessage) -> str:
        url = ResponseUrl(channel=channel, user=user, source=source, until=_soon())
        return self._endpoints.response_url(url)

    def _allow(self, methods: Iterable[str], is_so: bool, code: str) -> None:
        for method in methods:
            self._endpoints.closed.pop(method, None)
            if not is_so:
                self._endpoints.closed[method] = code


def _soon() -> float:
    return time.monotonic() + SECONDS_PER_URL


def _file(file: Shared) -> SlackFile:
    if isinstance(file, SlackFile):
        return file
    name, content, mimetype = file
    return SlackFile(name=name, content=content, mimetype=mimetype)


def _element(blocks: list[Json], action_id: str) -> Json:
    for element in elements_of(blocks):
        if element["action_id"] == action_id:
            return element
    raise LookupError(f"there is no {action_id!r} to press")
