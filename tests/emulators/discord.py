"""A small faithful Discord on loopback: REST, gateway, and strings to pull for tests.

In a test: `async with DiscordEmulator() as api:`. As a process of its own:
`python -m tests.emulators.discord --port 8082`, moved through `/_test/...` (`discord_control`).
"""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from typing import Any, Self, TypeVar

from aiohttp import web

from tests.emulators.discord_control import Control, main
from tests.emulators.discord_faults import Fault, Kind
from tests.emulators.discord_gateway import RECONNECT, Gateway
from tests.emulators.discord_interactions import Interactions
from tests.emulators.discord_messages import Messages
from tests.emulators.discord_rest import VERSION, Hook, Rest
from tests.emulators.discord_shapes import IS_VOICE, Interaction, Json, Message, Sent
from tests.emulators.discord_world import PRIVILEGED, Channel, Intents, Place, World

TOKEN = "MTAwMDAwMDAwMDAwMDAwMDAx.Gemul8.ated-token-of-a-bot-for-tests-only-xxx"
"""Its first part is the bot's id, as in real ones."""
T = TypeVar("T")
_BODY_LIMIT = 120_000_000
"""Bytes of a request: more than ten files of the largest size."""
_TICK = 0.005


class DiscordEmulator:
    """One bot account behind a server with both doors of Discord on one port."""

    def __init__(self, *, token: str = TOKEN, port: int = 0) -> None:
        self.token = token
        self.world = World(token=token)
        self.wire = Messages(self.world)
        self.gateway = Gateway(self.world, token, self._stir)
        self.rest = Rest(Interactions(self.wire), token, self._stir)
        self.world.notify = self.gateway.notify
        self._changed = asyncio.Event()
        self._port = port
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self) -> None:
        """Listen on loopback; with port 0 on a port of the system's choice."""
        application = web.Application(client_max_size=_BODY_LIMIT)
        application.router.add_get("/gateway", self.gateway.serve)
        application.router.add_get("/gateway/", self.gateway.serve)
        application.router.add_get("/attachments/{path:.+}", self.rest.serve_file)
        application.router.add_post("/_test/{call}", Control(self).serve)
        application.router.add_route("*", VERSION + "/{path:.*}", self.rest.serve)
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port, backlog=1024)
        await site.start()
        self._port = self._runner.addresses[0][1]
        self.wire.host = f"http://127.0.0.1:{self._port}"
        self.gateway.url = self.rest.gateway_url = self.gateway_url

    async def stop(self) -> None:
        """Break every connection and close the port. `start` opens the same one again."""
        for line in list(self.gateway.lines):
            line.close(1006)
        if self._runner is not None:
            await self._runner.cleanup()

    # Who and where

    @property
    def user_id(self) -> int:
        """The bot."""
        return self.world.bot_id

    @property
    def application_id(self) -> int:
        """Not the bot's id, so that mixing them up shows."""
        return self.world.application_id

    @property
    def port(self) -> int:
        """Where it listens, once it does."""
        return self._port

    @property
    def api_base_url(self) -> str:
        """For `discord.http.Route.BASE`."""
        return f"http://127.0.0.1:{self._port}{VERSION}"

    @property
    def gateway_url(self) -> str:
        """For `DiscordWebSocket.DEFAULT_GATEWAY`."""
        return f"ws://127.0.0.1:{self._port}/gateway"

    def user(self, number: int) -> int:
        """A person's snowflake, made on first use; the same in every run."""
        return self.world.user(number)

    def other_bot(self, number: int) -> int:
        """Somebody who is a bot too."""
        user_id = self.world.user(number)
        self.world.users[user_id]["bot"] = True
        return user_id

    def dm(self, number: int) -> int:
        """The id of the direct channel with that person; the same in every run."""
        return self._dm(number).id

    def guild(self, name: str = "Guild", members: Sequence[int] = ()) -> int:
        """A server with the bot and these people (their numbers)."""
        return self.world.guild(name, [self.user(number) for number in members]).id

    def role(self, guild_id: int) -> int:
        """The bot's own role in a server."""
        return self.world.guilds[guild_id].role_id

    def channel(self, guild_id: int, name: str = "general") -> int:
        """A text channel of a server."""
        return self.world.channel(guild_id, name).id

    def forum(self, guild_id: int, name: str = "forum") -> int:
        """A forum of a server; its posts are threads."""
        return self.world.channel(guild_id, name, Place.FORUM).id

    async def thread(
        self, channel_id: int, name: str, number: int, *, text: str | None = None
    ) -> int:
        """A person opens a thread; in a forum a post, whose first message is the text or name."""
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
        """A person writes, in their direct channel or another; returns the message's id.

        Mentions are snowflakes; those that the text does not carry are put in front of it, and
        so is the bot's role. A reply pings the one it answers. A voice note is a file alone.
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
        """The author changes a message."""
        message = self.world.messages[message_id]
        message.content = text
        self.wire.ping(message, None)
        self.wire.rewrite(message, text)
        await asyncio.sleep(0)

    async def unfurls(self, message_id: int) -> None:
        """Discord shows the preview of a link: an update of the message that is no edit."""
        self.wire.unfurl(self.world.messages[message_id])
        await asyncio.sleep(0)

    async def notes(self, number: int, kind: int, *, channel: int) -> int:
        """Discord writes a line about somebody: 6 a pin, 7 a newcomer, 18 a thread opened."""
        message = self._write(number, "", self.world.channels[channel], system_type=kind)
        await asyncio.sleep(0)
        return message.id

    async def deletes(self, message_id: int) -> None:
        """Somebody takes a message away."""
        self.wire.remove(self.world.messages[message_id])
        await asyncio.sleep(0)

    async def reacts(self, number: int, message_id: int, emoji: str, *, is_on: bool = True) -> None:
        """A person reacts, or takes it back."""
        message = self.world.messages[message_id]
        self.wire.react(message, emoji, self.user(number), is_on=is_on)
        await asyncio.sleep(0)

    async def joins(self, number: int, guild_id: int, *, is_there: bool = True) -> None:
        """A person comes to a server, or leaves it."""
        self.world.join(guild_id, self.user(number), is_there=is_there)
        await asyncio.sleep(0)

    async def presses(
        self, number: int, message_id: int, custom_id: str, *, values: Sequence[str] = ()
    ) -> int:
        """A person presses a button; returns the interaction's id. `KeyError`: no such button."""
        pressed = self.rest.interactions.press(self.user(number), message_id, custom_id, values)
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
        """A person uses a slash command; returns the interaction's id.

        As a user install without a channel it is used in a server where the bot is not: only
        the interaction's own token writes there.
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

    # What is seen

    def texts(self, channel: int) -> list[str]:
        """What the bot's visible messages say now, in order; not those that only think."""
        return [one.content for one in self.messages(channel) if not one.is_loading]

    def messages(self, channel: int, *, author: int | None = None) -> list[Message]:
        """The visible messages of the bot, or of another author, in order."""
        author = self.user_id if author is None else author
        place = self.world.channels.get(channel)
        ids = place.order if place is not None else []
        return [one for one in map(self.message, ids) if one.author_id == author]

    def ephemerals(self, number: int) -> list[Message]:
        """What only this person sees, in the order of their interactions; not what only thinks."""
        ids = [
            answer.message_id
            for one in self.interactions
            if one.user_id == self.user(number)
            for answer in one.answers
        ]
        known = [self.world.messages.get(one or 0) for one in dict.fromkeys(ids)]
        return [one for one in known if one and one.is_ephemeral and not one.is_loading]

    def message(self, message_id: int) -> Message:
        """Any message that still is. `KeyError`: it is not, or was deleted."""
        return self.world.messages[message_id]

    def reactions(self, message_id: int) -> list[str]:
        """The bot's, in order."""
        message = self.world.messages[message_id]
        return [emoji for emoji, who in message.reactions.items() if self.user_id in who]

    def typings(self, channel: int) -> int:
        """How often the bot was seen typing there."""
        return self.wire.typings.count(channel)

    @property
    def interactions(self) -> list[Interaction]:
        """All that people asked, in order, with how each was answered."""
        return self.rest.interactions.all

    def interaction(self, interaction_id: int) -> Interaction:
        """One of them."""
        return next(one for one in self.interactions if one.id == interaction_id)

    def synced_commands(self) -> list[Json]:
        """The application's global slash commands."""
        return self.rest.interactions.commands

    @property
    def calls(self) -> list[tuple[str, str]]:
        """Method and path (behind /api/v10) of every REST call."""
        return self.rest.calls

    @property
    def identifies(self) -> int:
        """IDENTIFYs that came, refused ones too."""
        return self.gateway.identifies

    @property
    def resumes(self) -> int:
        """RESUMEs that came, refused ones too."""
        return self.gateway.resumes

    @property
    def heartbeats(self) -> int:
        """Heartbeats that were heard."""
        return self.gateway.heartbeats

    @property
    def live_sessions(self) -> int:
        """Sessions with a connection."""
        return len(self.gateway.live)

    async def wait_for(self, predicate: Callable[[], T], timeout: float = 45.0) -> T:
        """Return what the predicate says once that is true. Raises `TimeoutError`.

        It is asked whenever something happens here, and every few milliseconds besides, since
        the other end of the wire changes too.
        """
        async with asyncio.timeout(timeout):
            while not (value := predicate()):
                changed = self._changed
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), _TICK)
        return value

    # Strings to pull

    def fail(self, route: str, *, kind: Kind, times: int = 1, **detail: Any) -> None:
        """Let the next calls of a route fail; names of routes and details: `discord_faults`."""
        self.rest.mishaps.plan(Fault(kind=Kind(kind), route=route, times=times, **detail))

    def clear_faults(self) -> None:
        """Forget the faults that have not happened yet."""
        self.rest.mishaps.clear()
        self.gateway.closing_codes.clear()

    def hook(self, *, before: Hook | None = None, after: Hook | None = None) -> None:
        """Be called with method and path before a call is applied, or before its answer leaves."""
        self.rest.before, self.rest.after = before, after

    def limits(self, is_on: bool, *, is_global: bool = False) -> None:
        """Five calls per five seconds a bucket and channel; globally fifty a second."""
        self.rest.limits.is_on, self.rest.limits.is_global_on = is_on, is_global

    @property
    def limit_refusals(self) -> int:
        """Calls that were answered 429 by the limits (not by `fail`)."""
        return self.rest.limits.refused

    def kick(self, guild_id: int) -> None:
        """The bot is thrown out of a server: 50001 in its channels."""
        self.world.kick(guild_id)

    def block(self, number: int, *, is_blocked: bool = True) -> None:
        """A person lets no direct messages through: 50007."""
        change = self.world.blocked_by.add if is_blocked else self.world.blocked_by.discard
        change(self.user(number))

    def lock(self, thread_id: int) -> None:
        """A moderator locks a thread."""
        self.world.channels[thread_id].is_locked = True

    def hide(self, channel: int) -> None:
        """The bot may not see a channel any more; sessions to come list it all the same."""
        self.world.channels[channel].is_hidden = True

    def delete_channel(self, channel: int) -> None:
        """A channel or thread is no more: 10003."""
        self.world.delete_channel(channel)

    def without_intents(self, *names: str) -> None:
        """Portal switches that are off: message_content, members, presences. None: all on."""
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
        """The next IDENTIFY or RESUME is answered by closing with this code."""
        self.gateway.closing_codes += [code] * times

    def lose_session(self) -> None:
        """The next RESUME gets INVALID_SESSION that cannot be resumed."""
        self.gateway.lose_sessions()

    def mute_gateway(self) -> None:
        """The live connections stay open and nothing comes out of them any more."""
        for line in self.gateway.lines:
            line.is_muted = True

    @property
    def nonce_window(self) -> float:
        """Seconds in which a repeated nonce gives the first message."""
        return self.wire.nonce_window

    @nonce_window.setter
    def nonce_window(self, seconds: float) -> None:
        self.wire.nonce_window = seconds

    @property
    def interaction_deadline(self) -> float:
        """Seconds within which an interaction has to be called back."""
        return self.rest.interactions.deadline

    @interaction_deadline.setter
    def interaction_deadline(self, seconds: float) -> None:
        self.rest.interactions.deadline = seconds

    @property
    def heartbeat_interval(self) -> float:
        """Seconds, told in HELLO."""
        return self.gateway.heartbeat_interval

    @heartbeat_interval.setter
    def heartbeat_interval(self, seconds: float) -> None:
        self.gateway.heartbeat_interval = seconds

    # Within

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

    def _stir(self) -> None:
        """Wake all who wait for something to change."""
        self._changed.set()
        self._changed = asyncio.Event()


if __name__ == "__main__":
    main(DiscordEmulator)
