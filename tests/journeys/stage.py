"""A gateway's home, emulated platforms, an emulated model, and people who write to the bot."""

import asyncio
import base64
import json
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, TypeVar

from adapters.contract import ChatAdapter
from agent_core.state.engine.database import Connection, now
from agent_core.tools.contract import Tool
from gateway.app import build as app
from gateway.app.extensions import Extensions
from gateway.app.gateway import Gateway
from gateway.app.settings import load
from gateway.app.timings import Timings
from gateway.home import CONSOLE_SOCKET
from gateway.interfaces.http.loading import take_port
from gateway.interfaces.http.server import serving_page
from gateway.interfaces.terminal.socket_client import ConsoleLink, News, Shown
from gateway.outbound.timings import DeliveryTimings
from tests.emulators import anthropic, whatsapp
from tests.emulators.anthropic import AnthropicEmulator
from tests.emulators.discord import DiscordEmulator
from tests.emulators.server import LoopbackServer
from tests.emulators.signal import SignalEmulator
from tests.emulators.signal_world import ACCOUNT
from tests.emulators.slack import SlackEmulator
from tests.emulators.streaming import Answer, Json, Reply, text_answer
from tests.emulators.telegram import TelegramEmulator
from tests.emulators.telegram_cast import ANNA, BEN, FORUM, SUPERGROUP
from tests.emulators.telegram_world import BotMessage
from tests.emulators.whatsapp import WhatsAppEmulator
from tests.integration.harness import is_settled
from tests.integration.processes import free_port
from tests.journeys.accounts import (
    Account,
    DiscordAccount,
    SignalAccount,
    SlackAccount,
    TelegramAccount,
    WhatsAppAccount,
    asked,
)
from tests.patience import PATIENCE, until

TIMINGS = Timings(delivery=DeliveryTimings(first_pause=0.25, finish=0.5))
"""Shorter pauses of delivery than in use: an emulator applies soon what it was asked for."""
_POLL = 0.005

AT_ONCE = "0"
"""Seconds until a gateway that is stopped interrupts its turns."""

EVERYBODY = "*"
_REVIEWS = ("You review", "You check", "You look")
"""The beginnings of what reviews and their judges are asked."""
T = TypeVar("T")


def call(name: str, **arguments: object) -> Json:
    """A model block that calls a tool."""
    return {"type": "tool_use", "name": name, "input": arguments}


def calls(*blocks: Json) -> Answer:
    """A model answer with tool calls."""
    return Answer(blocks=blocks, stop="tool_use")


def system_of(body: Json) -> str:
    """Return the system prompt of a request."""
    return "\n".join(block["text"] for block in body["system"])


def heard(body: Json) -> list[str]:
    """Return people's texts in a request, without facts and tool results."""
    return [
        block["text"]
        for message in body["messages"]
        if message["role"] == "user"
        for block in message["content"]
        if block["type"] == "text" and not block["text"].startswith("<facts>")
    ]


def facts(body: Json) -> str:
    """Return the facts in the last message of a request."""
    return "\n".join(
        block["text"]
        for block in body["messages"][-1]["content"]
        if block.get("text", "").startswith("<facts>")
    )


class Stage:
    """The emulated servers and the home. Gateways are opened on it one after another.

    `plan` answers turns; other model calls, such as titles, are answered separately.
    `endpoints` are the platforms in use. Slack's app is a classic one with one direct chat,
    unless a journey declares it to be an agent before it opens a gateway.
    """

    def __init__(self, home: Path, endpoints: tuple[str, ...] = ("telegram",)) -> None:
        self.home = home
        self.endpoints = endpoints
        self.telegram = TelegramEmulator()
        self.discord = DiscordEmulator()
        self.slack = SlackEmulator()
        self.signal = SignalEmulator()
        self.whatsapp = WhatsAppEmulator()
        self.slack.is_agent = self.slack.is_assistant = False
        self.model = AnthropicEmulator()
        self.model.answer = self._answer
        self.now: Callable[[], int] = now
        """The clock of gateways opened from now on."""
        self._plan: deque[Reply] = deque()

    async def __aenter__(self) -> Self:
        for name in self.endpoints:
            await self.servers[name].__aenter__()
        await self.model.start()
        self.telegram.user(ANNA, "Anna", username="anna_k")
        self.telegram.user(BEN, "Ben")
        self.slack.user(ANNA, "anna", real_name="Anna")
        self.slack.user(BEN, "ben", real_name="Ben")
        self.telegram.group(SUPERGROUP, "Kitchen")
        self.telegram.group(FORUM, "Plans", is_forum=True)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.model.stop()
        for name in self.endpoints:
            await self.servers[name].__aexit__(None, None, None)

    @property
    def servers(self) -> dict[str, LoopbackServer]:
        """The emulators of all platforms, whether in use or not."""
        return {
            "telegram": self.telegram,
            "discord": self.discord,
            "slack": self.slack,
            "signal": self.signal,
            "whatsapp": self.whatsapp,
        }

    def account(self, platform: str, number: int) -> Account:
        """Return a person's account on a platform."""
        if platform == "discord":
            return DiscordAccount(self.discord, number)
        if platform == "slack":
            return SlackAccount(self.slack, number)
        if platform == "signal":
            return SignalAccount(self.signal, number)
        if platform == "whatsapp":
            return WhatsAppAccount(self.whatsapp, number)
        return TelegramAccount(self.telegram, number)

    def accounts(self, number: int) -> tuple[Account, Account, Account]:
        """Return a person's accounts on Telegram, Discord and Slack."""
        return (
            self.account("telegram", number),
            self.account("discord", number),
            self.account("slack", number),
        )

    def plan(self, *replies: Reply | str) -> None:
        """Plan the answers to the next model calls of turns. Later calls are echoed."""
        self._plan.extend(text_answer(one) if isinstance(one, str) else one for one in replies)

    def hold(self) -> asyncio.Event:
        """Hold every model call until the returned event is set."""
        released = asyncio.Event()

        async def wait(_: Json) -> None:
            async with asyncio.timeout(PATIENCE):
                await released.wait()

        self.model.before = wait
        return released

    @property
    def turns(self) -> list[Json]:
        """The requests of turns, oldest first."""
        return [body for body in self.model.requests if is_turn(body)]

    def _answer(self, body: Json) -> Reply:
        if not is_turn(body):
            return text_answer("A talk")
        return self._plan.popleft() if self._plan else anthropic.echo(body)

    def environ(self, allow: str = EVERYBODY, **settings: str) -> dict[str, str]:
        """Return a gateway's settings. `allow` lists who may talk to the bot unasked."""
        given = {
            "TALARIA_HOME": str(self.home),
            "ANTHROPIC_API_KEY": "key",
            "ANTHROPIC_BASE_URL": self.model.url,
            "TALARIA_PEOPLE__TIME_ZONE": "UTC",
            "TALARIA_ACCESS__GREET": "false",
            "TALARIA_TURNS__DRAIN_SECONDS": "5",
        }
        for name in self.endpoints:
            given |= self._keys(name)
        if allow:
            given["TALARIA_ACCESS__ALLOW"] = allow
        return given | settings

    def _keys(self, endpoint: str) -> dict[str, str]:
        """Return the settings of one platform, without rate limits."""
        pace = {f"TALARIA_{endpoint.upper()}__MESSAGES_PER_SECOND": "0"}
        if endpoint == "discord":
            return pace | {
                "DISCORD_BOT_TOKEN": self.discord.token,
                "DISCORD_API_BASE_URL": self.discord.api_base_url,
                "DISCORD_GATEWAY_URL": self.discord.gateway_url,
                "TALARIA_DISCORD__EDIT_INTERVAL": "0.05",
            }
        if endpoint == "slack":
            return pace | {
                "SLACK_BOT_TOKEN": self.slack.bot_token,
                "SLACK_APP_TOKEN": self.slack.app_token,
                "SLACK_API_BASE_URL": self.slack.base_url,
                "TALARIA_SLACK__EDIT_INTERVAL": "0.05",
            }
        if endpoint == "signal":
            return pace | {"SIGNAL_ACCOUNT": ACCOUNT, "SIGNAL_RPC_URL": self.signal.url}
        if endpoint == "whatsapp":
            port = free_port()
            self.whatsapp.callback = f"http://127.0.0.1:{port}/hooks/whatsapp"
            return pace | {
                "WHATSAPP_ACCESS_TOKEN": whatsapp.TOKEN,
                "WHATSAPP_PHONE_NUMBER_ID": whatsapp.PHONE_ID,
                "WHATSAPP_APP_SECRET": whatsapp.SECRET,
                "WHATSAPP_VERIFY_TOKEN": whatsapp.VERIFY,
                "WHATSAPP_API_BASE_URL": self.whatsapp.base_url,
                "TALARIA_HTTP__PORT": str(port),
            }
        return pace | {
            "TELEGRAM_BOT_TOKEN": self.telegram.token,
            "TELEGRAM_API_BASE_URL": self.telegram.base_url,
        }

    @asynccontextmanager
    async def open(
        self,
        allow: str = EVERYBODY,
        *,
        tools: tuple[Tool, ...] = (),
        adapters: dict[str, ChatAdapter] | None = None,
        awaited: tuple[str, ...] | None = None,
        timings: Timings = TIMINGS,
        **settings: str,
    ) -> AsyncIterator["Harness"]:
        """Open the gateway, wait until the awaited platforms are connected, and stop it normally.

        All platforms are awaited by default.
        """
        wanted = ("console", *self.endpoints) if awaited is None else awaited
        stop = asyncio.Event()
        opened: asyncio.Future[Gateway] = asyncio.get_running_loop().create_future()

        async def watch(gateway: Gateway) -> None:
            opened.set_result(gateway)

        serving = asyncio.create_task(
            app.run(
                load(self.environ(allow, **settings)),
                stop=stop,
                companions=(watch,),
                extensions=Extensions(
                    tools=tools, adapters=adapters or {}, now=self.now, timings=timings
                ),
            )
        )
        await asyncio.wait((serving, opened), return_when=asyncio.FIRST_COMPLETED, timeout=PATIENCE)
        if serving.done():
            await serving
        harness = Harness(self, opened.result())
        try:
            async with AsyncExitStack() as serving_too:
                if "whatsapp" in self.endpoints:  # Meta calls our server
                    port = take_port(harness.gateway.settings.http)
                    await serving_too.enter_async_context(serving_page(harness.gateway, port))
                await harness.until(
                    lambda: all(harness.state_of(name) == "connected" for name in wanted)
                )
                yield harness
        finally:
            stop.set()
            await serving


def is_turn(body: Json) -> bool:
    """Return whether a turn made this call; a title is asked for without tools.

    A review of silent people may come at any time, and answers nobody.
    """
    is_review = "system" in body and system_of(body).startswith(_REVIEWS)
    return "tools" in body and not is_review


@dataclass(frozen=True, slots=True)
class Harness:
    """An open gateway."""

    stage: Stage
    gateway: Gateway

    def state_of(self, platform: str) -> str:
        """Return a platform's health in one word."""
        return self.gateway.platforms.health()[platform].state

    async def until(self, is_so: Callable[[], object]) -> None:
        """Return once the condition holds. Raises `TimeoutError`."""
        await until(is_so)

    async def at_rest(self) -> None:
        """Return once everything is answered and delivered, or waits for a retry."""
        await self.until(lambda: not self.stage.telegram.pending and is_settled(self.gateway))

    async def ask(
        self, user: int, text: str | None, *, chat: int | None = None, **fields: Any
    ) -> str:
        """Write as a person; return the bot's reply in that chat, its messages joined by lines."""
        return "\n".join(m.text for m in await self.messages_to(user, text, chat=chat, **fields))

    async def messages_to(
        self, user: int, text: str | None, *, chat: int | None = None, **fields: Any
    ) -> list[BotMessage]:
        """Write as a person; return the bot's messages in that chat until it is at rest."""
        place = user if chat is None else chat
        before = len(self.stage.telegram.messages(place))
        await self.stage.telegram.says(user, text, chat=chat, **fields)
        await self.at_rest()
        return self.stage.telegram.messages(place)[before:]

    async def takes(self, deed: Awaitable[object]) -> None:
        """Perform an action; return once it is stored and everything that follows is done."""
        await self.notes(deed)
        await self.at_rest()

    async def notes(self, deed: Awaitable[T]) -> T:
        """Perform an action; return its result once it is stored."""
        before = await self._count_events()
        done = await deed
        async with asyncio.timeout(PATIENCE):
            while await self._count_events() <= before:
                await asyncio.sleep(_POLL)
        return done

    async def _count_events(self) -> int:
        """Count the stored inbound events, in a write that waits for unfinished ones.

        Events that only move a read position are not counted.
        """

        def look(connection: Connection) -> int:
            deeds = "SELECT COUNT(*) FROM inbox WHERE event_id NOT LIKE '%/mark/%'"
            return int(connection.execute(deeds).fetchone()[0])

        return await self.gateway.database.write("test.look", look)

    async def hears(self, account: Account, text: str, **place: Any) -> str:
        """Write as a person; return the bot's new messages there once it is at rest."""
        room = place.get("room")
        before = {one.id: one.text for one in account.seen(room)}
        await self.takes(account.says(text, **place))
        now = account.seen(room)
        return "\n".join(one.text for one in now if before.get(one.id) != one.text)

    async def press(self, account: Account, label: str, room: str | None = None) -> None:
        """Press the newest button with this label, and wait for everything that follows."""
        await self.takes(account.holds(label, room)())

    async def asks(self, account: Account, label: str, room: str | None = None) -> None:
        """Return once a person sees a button with this label."""
        await self.until(
            lambda: (
                any(label in one.labels for one in account.seen(room))
                and label in asked(account, room).labels
            )
        )

    async def sees(self, chat: int, words: str) -> BotMessage:
        """Return the bot's first message with these words in a chat, once there is one."""

        def find() -> BotMessage | None:
            messages = self.stage.telegram.messages(chat)
            return next((message for message in messages if words in message.text), None)

        await self.until(find)
        found = find()
        assert found
        return found

    async def count(self, table: str, condition: str) -> int:
        """Return how many rows of a table match."""

        def look(connection: Connection) -> int:
            row = connection.execute(f"SELECT COUNT(*) FROM {table} WHERE {condition}").fetchone()
            return int(row[0])

        return await self.gateway.database.read(look)

    @asynccontextmanager
    async def terminal(self) -> AsyncIterator["Terminal"]:
        """Open `talaria chat`."""
        terminal = Terminal(self)
        link = ConsoleLink(self.stage.home / CONSOLE_SOCKET, terminal.hear)
        terminal.link = link
        line = asyncio.create_task(link.run())
        try:
            yield terminal
        finally:
            line.cancel()
            await asyncio.gather(line, return_exceptions=True)


@dataclass
class Terminal:
    """One client of the console. `shown` is its screen, by message."""

    harness: Harness
    shown: dict[str, str] = field(default_factory=dict)
    link: ConsoleLink | None = None

    async def hear(self, news: News) -> None:
        """Show an event."""
        if isinstance(news, Shown):
            self.shown[news.id] = news.text

    async def ask(self, text: str) -> str:
        """Write, and return the answer shown."""
        assert self.link
        before = len(self.shown)
        await self.link.say(text)
        await self.harness.at_rest()
        await self.harness.until(lambda: len(self.shown) > before)
        return "\n".join([*self.shown.values()][before:])


async def make_owner(harness: Harness, name: str) -> None:
    """Make a known person an owner."""

    def work(connection: Connection) -> None:
        connection.execute("UPDATE people SET role = 'owner' WHERE name = :name", {"name": name})

    await harness.gateway.database.write("test.owner", work)
    harness.gateway.forget_known()


def results(body: Json) -> list[str]:
    """Return the tool results in the last message of a request, in order."""
    return [
        block["content"] if isinstance(block["content"], str) else json.dumps(block["content"])
        for block in body["messages"][-1]["content"]
        if block["type"] == "tool_result"
    ]


def pictures(body: Json) -> list[bytes]:
    """Return the pictures in a request."""
    return [
        base64.b64decode(block["source"]["data"])
        for message in body["messages"]
        for block in message["content"]
        if block["type"] == "image"
    ]


def slack_of(deployment: Stage, number: int = ANNA) -> SlackAccount:
    return SlackAccount(deployment.slack, number)
