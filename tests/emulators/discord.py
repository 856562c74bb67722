"""A small, faithful Discord on loopback: REST, gateway, and controls for tests.

In a test: `async with DiscordEmulator() as api:`.
"""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from aiohttp import web

from tests.emulators.discord_faults import Fault, Kind
from tests.emulators.discord_gateway import RECONNECT, Gateway
from tests.emulators.discord_interactions import Interactions
from tests.emulators.discord_messages import Messages
from tests.emulators.discord_rest import VERSION, Hook, Rest
from tests.emulators.discord_shapes import IS_VOICE, Interaction, Json, Message, Sent
from tests.emulators.discord_world import PRIVILEGED, Channel, Intents, Place, World
from tests.emulators.server import LoopbackServer
from tests.patience import PATIENCE

TOKEN = "MTAwMDAwMDAwMDAwMDAwMDAx.Gemul8.ated-token-of-a-bot-for-tests-only-xxx"
"""The first part is the bot's id, as in real tokens."""
T = TypeVar("T")
_BODY_LIMIT = 120_000_000
"""Bytes of a request: more than ten files of the largest size."""
_TICK = 0.005


class DiscordEmulator(LoopbackServer):
    """One bot account and one server; REST and gateway share a port."""

    def __init__(self, *, token: str = TOKEN, port: int = 0) -> None:
        super().__init__(port=port)
        self.token = token
        self.world = World(token=token)
        self.wire = Messages(self.world)
        self.gateway = Gateway(self.world, token, self._stir)
        self.rest = Rest(Interactions(self.wire), token, self._stir)
        self.world.notify = self.gateway.notify

    def application(self) -> web.Application:
        application = web.Application(client_max_size=_BODY_LIMIT)
        application.router.add_get("/gateway", self.gateway.serve)
        application.router.add_get("/gateway/", self.gateway.serve)
        application.router.add_get("/attachments/{path:.+}", self.rest.serve_file)
        application.router.add_route("*", VERSION + "/{path:.*}", self.rest.serve)
        return application

    async def start(self) -> None:
        await super().start()
        self.wire.host = self.url
        self.gateway.url = self.rest.gateway_url = self.gateway_url

    async def stop(self) -> None:
        """Break every connection and close the port. `start` opens the same port again."""
        for line in list(self.gateway.lines):
            line.close(1006)
        await super().stop()

    # Identity and addresses

    @property
    def user_id(self) -> int:
        """The bot's id."""
        return self.world.bot_id

    @property
    def application_id(self) -> int:
        """Differs from the bot's id, so that mixing them up shows."""
        return self.world.application_id

    @property
    def api_base_url(self) -> str:
        """For `discord.http.Route.BASE`."""
        return self.url + VERSION

    @property
    def gateway_url(self) -> str:
        """For `DiscordWebSocket.DEFAULT_GATEWAY`."""
        return f"ws://127.0.0.1:{self.port}/gateway"

    def user(self, number: int) -> int:
        """Return a person's snowflake, created on first use; the same in every run."""
        return self.world.user(number)

    def other_bot(self, number: int) -> int:
        """Return the id of another bot."""
        user_id = self.world.user(number)
        self.world.users[user_id]["bot"] = True
        return user_id

    def dm(self, number: int) -> int:
        """Return the id of the direct channel with that person; the same in every run."""
        return self._dm(number).id

    def guild(self, name: str = "Guild", members: Sequence[int] = ()) -> int:
        """Create a server with the bot and these people (their numbers)."""
        return self.world.guild(name, [self.user(number) for number in members]).id

    def role(self, guild_id: int) -> int:
        """Return the bot's own role in a server."""
        return self.world.guilds[guild_id].role_id

    def channel(self, guild_id: int, name: str = "general") -> int:
        """Create a text channel of a server."""
        return self.world.channel(guild_id, name).id

    def forum(self, guild_id: int, name: str = "forum") -> int:
        """Create a forum of a server; its posts are threads."""
        return self.world.channel(guild_id, name, Place.FORUM).id

    async def thread(
        self, channel_id: int, name: str, number: int, *, text: str | None = None
    ) -> int:
        """Open a thread as a person; in a forum a post, whose first message is the text or name."""
        parent = self.world.channels[channel_id]
        assert parent.guild_id is not None
        thread = self.world.channel(
            parent.guild_id,
            name,
            Place.THREAD,
            parent_id=channel_id,
            owner_id=self.user(number),
        )
        if parent.kind == Place.FORUM or text is not None:
            first = name if text is None else text
            self._write(number, first, thread, message_id=thread.id)
        await asyncio.sleep(0)
        return thread.id

    # What people do

    async def says(
        self,
        number: int,
        text: str,
        *,
        channel: int | None = None,
        reply_to: int | None = None,
        mentions: Sequence[int] = (),
        files: Sequence[Sent] = (),
        role_mention: bool = False,
        is_voice: bool = False,
    ) -> int:
        """Write as a person, in their direct channel or another; returns the message's id.

        Mentions are snowflakes; those missing from the text are put in front of it, and so is the
        bot's role. A reply pings the author of the original. A voice note is a file alone.
        """
        place = self._dm(number) if channel is None else self.world.channels[channel]
        tags = [f"<@{user_id}>" for user_id in mentions]
        if role_mention:
            assert place.guild_id is not None
            tags.append(f"<@&{self.role(place.guild_id)}>")
        words = " ".join([tag for tag in tags if tag not in text] + [text]).strip()
        flags = IS_VOICE if is_voice else 0
        message = self._write(number, words, place, reply_to=reply_to, files=files, flags=flags)
        await asyncio.sleep(0)
        return message.id

    async def edits(self, message_id: int, text: str) -> None:
        """Change a message as its author."""
        message = self.world.messages[message_id]
        message.content = text
        self.wire.ping(message, None)
        self.wire.rewrite(message, text)
        await asyncio.sleep(0)

    async def unfurls(self, message_id: int) -> None:
        """Show the preview of a link: an update of the message that is no edit."""
        self.wire.unfurl(self.world.messages[message_id])
        await asyncio.sleep(0)

    async def notes(self, number: int, kind: int, *, channel: int) -> int:
        """Write a system message about a person: 6 a pin, 7 a join, 18 a new thread."""
        message = self._write(number, "", self.world.channels[channel], system_type=kind)
        await asyncio.sleep(0)
        return message.id

    async def deletes(self, message_id: int) -> None:
        """Delete a message."""
        self.wire.remove(self.world.messages[message_id])
        await asyncio.sleep(0)

    async def reacts(self, number: int, message_id: int, emoji: str, *, is_on: bool = True) -> None:
        """React as a person, or remove the reaction."""
        message = self.world.messages[message_id]
        self.wire.react(message, emoji, self.user(number), is_on=is_on)
        await asyncio.sleep(0)

    async def joins(self, number: int, guild_id: int, *, is_there: bool = True) -> None:
        """Let a person join a server, or leave it."""
        self.world.join(guild_id, self.user(number), is_there=is_there)
        await asyncio.sleep(0)

    async def presses(self, number: int, message_id: int, custom_id: str) -> int:
        """Press a button as a person; returns the interaction's id. `KeyError`: no such button."""
        pressed = self.rest.interactions.press(self.user(number), message_id, custom_id)
        await asyncio.sleep(0)
        return pressed.id

    async def commands(
        self,
        number: int,
        name: str,
        *,
        channel: int | None = None,
        options: dict[str, Any] | None = None,
        is_user_install: bool = False,
    ) -> int:
        """Use a slash command as a person; returns the interaction's id.

        A user install without a channel is used in a server without the bot: only the
        interaction's own token writes there.
        """
        if channel is not None:
            place = self.world.channels[channel]
        elif is_user_install:
            elsewhere = self.world.guild("Elsewhere", [self.user(number)], has_bot=False)
            place = self.world.channel(elsewhere.id, "general")
        else:
            place = self._dm(number)
        used = self.rest.interactions.command(
            self.user(number), name, place, options, is_user_install=is_user_install
        )
        await asyncio.sleep(0)
        return used.id

    # What people see

    def texts(self, channel: int) -> list[str]:
        """Return the current texts of the bot's visible messages, except those still loading."""
        return [one.content for one in self.messages(channel) if not one.is_loading]

    def messages(self, channel: int, *, author: int | None = None) -> list[Message]:
        """Return the visible messages of the bot, or of another author, in order."""
        author = self.user_id if author is None else author
        place = self.world.channels.get(channel)
        ids = place.order if place is not None else []
        return [one for one in map(self.message, ids) if one.author_id == author]

    def ephemerals(self, number: int) -> list[Message]:
        """Return what only this person sees, by interaction, except messages still loading."""
        ids = [
            answer.message_id
            for one in self.interactions
            if one.user_id == self.user(number)
            for answer in one.answers
        ]
        known = [self.world.messages.get(one or 0) for one in dict.fromkeys(ids)]
        return [one for one in known if one and one.is_ephemeral and not one.is_loading]

    def message(self, message_id: int) -> Message:
        """Return an existing message. Raises `KeyError`."""
        return self.world.messages[message_id]

    def reactions(self, message_id: int) -> list[str]:
        """Return the bot's reactions, in order."""
        message = self.world.messages[message_id]
        return [emoji for emoji, who in message.reactions.items() if self.user_id in who]

    def typings(self, channel: int) -> int:
        """Return how often the bot typed there."""
        return self.wire.typings.count(channel)

    @property
    def interactions(self) -> list[Interaction]:
        """All interactions, in order, with their answers."""
        return self.rest.interactions.all

    def interaction(self, interaction_id: int) -> Interaction:
        """Return an interaction."""
        return next(one for one in self.interactions if one.id == interaction_id)

    def synced_commands(self) -> list[Json]:
        """The application's global slash commands."""
        return self.rest.interactions.commands

    @property
    def calls(self) -> list[tuple[str, str]]:
        """Method and path (after /api/v10) of every REST call."""
        return self.rest.calls

    @property
    def identifies(self) -> int:
        """IDENTIFYs received, including refused ones."""
        return self.gateway.identifies

    @property
    def resumes(self) -> int:
        """RESUMEs received, including refused ones."""
        return self.gateway.resumes

    @property
    def heartbeats(self) -> int:
        """Heartbeats received."""
        return self.gateway.heartbeats

    @property
    def live_sessions(self) -> int:
        """Sessions with a connection."""
        return len(self.gateway.live)

    async def wait_for(self, predicate: Callable[[], T], timeout: float = PATIENCE) -> T:
        """Return the predicate's value once it is true. Raises `TimeoutError`.

        It is checked after each change here and every few milliseconds, because the client
        changes too.
        """
        async with asyncio.timeout(timeout):
            while not (value := predicate()):
                changed = self._changed
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), _TICK)
        return value

    # Controls

    def fail(self, route: str, *, kind: Kind, times: int = 1, **detail: Any) -> None:
        """Let the next calls of a route fail; `discord_faults` has routes and details."""
        self.rest.mishaps.plan(Fault(kind=Kind(kind), route=route, times=times, **detail))

    def clear_faults(self) -> None:
        """Drop the remaining planned faults."""
        self.rest.mishaps.clear()
        self.gateway.closing_codes.clear()

    def hook(self, *, before: Hook | None = None, after: Hook | None = None) -> None:
        """Call these with method and path before a call is applied, or before its response."""
        self.rest.before, self.rest.after = before, after

    def limits(self, is_on: bool, *, is_global: bool = False) -> None:
        """Allow five calls per five seconds and bucket, and globally fifty a second."""
        self.rest.limits.is_on, self.rest.limits.is_global_on = is_on, is_global

    @property
    def limit_refusals(self) -> int:
        """Calls answered 429 by the limits (not by `fail`)."""
        return self.rest.limits.refused

    def kick(self, guild_id: int) -> None:
        """Remove the bot from a server: 50001 in its channels."""
        self.world.kick(guild_id)

    def block(self, number: int, *, is_blocked: bool = True) -> None:
        """Block direct messages to a person: 50007."""
        change = self.world.blocked_by.add if is_blocked else self.world.blocked_by.discard
        change(self.user(number))

    def archive(self, thread_id: int) -> None:
        """Archive a thread; a message opens it again."""
        self.world.channels[thread_id].is_archived = True

    def lock(self, thread_id: int) -> None:
        """Lock a thread."""
        self.world.channels[thread_id].is_locked = True

    def hide(self, channel: int) -> None:
        """Hide a channel from the bot; new sessions still list it."""
        self.world.channels[channel].is_hidden = True

    def delete_channel(self, channel: int) -> None:
        """Delete a channel or thread: 10003."""
        self.world.delete_channel(channel)

    def without_intents(self, *names: str) -> None:
        """Disable intents in the portal: message_content, members, presences. None enables all."""
        self.world.portal = PRIVILEGED
        for name in names:
            self.world.portal &= ~Intents[name.upper()]

    async def drop_gateway(self, code: int = 1006) -> None:
        """Close the live connections; 1006 breaks them. The session can be resumed."""
        dropped = list(self.gateway.lines)
        for line in dropped:
            line.close(code)
        await self.wait_for(lambda: not set(dropped) & set(self.gateway.lines))

    async def reconnect_gateway(self) -> None:
        """Ask the client to reconnect (op 7)."""
        for line in self.gateway.lines:
            line.send({"op": RECONNECT, "d": None, "s": None, "t": None})
        await asyncio.sleep(0)

    def close_next_with(self, code: int, times: int = 1) -> None:
        """Answer the next IDENTIFY or RESUME by closing with this code."""
        self.gateway.closing_codes += [code] * times

    def lose_session(self) -> None:
        """Answer the next RESUME with an INVALID_SESSION that cannot be resumed."""
        self.gateway.lose_sessions()

    def mute_gateway(self) -> None:
        """Keep the live connections open but send nothing on them."""
        for line in self.gateway.lines:
            line.is_muted = True

    @property
    def nonce_window(self) -> float:
        """Seconds in which a repeated nonce returns the first message."""
        return self.wire.nonce_window

    @nonce_window.setter
    def nonce_window(self, seconds: float) -> None:
        self.wire.nonce_window = seconds

    @property
    def interaction_deadline(self) -> float:
        """Seconds within which an interaction must be called back."""
        return self.rest.interactions.deadline

    @interaction_deadline.setter
    def interaction_deadline(self, seconds: float) -> None:
        self.rest.interactions.deadline = seconds

    @property
    def heartbeat_interval(self) -> float:
        """Seconds, sent in HELLO."""
        return self.gateway.heartbeat_interval

    @heartbeat_interval.setter
    def heartbeat_interval(self, seconds: float) -> None:
        self.gateway.heartbeat_interval = seconds

    # Internals

    def _dm(self, number: int) -> Channel:
        return self.world.dm(self.user(number))

    def _write(
        self,
        number: int,
        text: str,
        place: Channel,
        *,
        reply_to: int | None = None,
        files: Sequence[Sent] = (),
        message_id: int | None = None,
        system_type: int | None = None,
        flags: int = 0,
    ) -> Message:
        message = Message(
            id=self.world.take_id() if message_id is None else message_id,
            channel_id=place.id,
            author_id=self.user(number),
            content=text,
            reference=reply_to,
            system_type=system_type,
            flags=flags,
        )
        self.wire.ping(message, None)
        return self.wire.add(message, files=list(files))
