"""A home between emulated platforms and an emulated model, and people who talk to the gateway."""

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, TypeVar

from adapters.contract import ChatAdapter
from agent_core.state.engine.database import Connection, now
from agent_core.tools.contract import Tool
from gateway.bootstrap import app
from gateway.bootstrap.core import Extensions
from gateway.bootstrap.lifecycle import Gateway
from gateway.bootstrap.timings import Timings
from gateway.config import CONSOLE_SOCKET, load
from gateway.interfaces.terminal.socket_client import ConsoleLink, News, Shown
from tests.emulators import anthropic
from tests.emulators.anthropic import AnthropicEmulator
from tests.emulators.discord import DiscordEmulator
from tests.emulators.slack import SlackEmulator
from tests.emulators.streaming import Answer, Json, Reply, text_answer
from tests.emulators.telegram import TelegramEmulator
from tests.emulators.telegram_cast import ANNA, BEN, FORUM, SUPERGROUP
from tests.emulators.telegram_world import BotMessage
from tests.journeys.accounts import Account, DiscordAccount, SlackAccount, TelegramAccount, asked

PATIENCE = 45.0
"""Seconds that a condition may take; much more than it takes on a machine that is not busy."""
_POLL = 0.002

EVERYBODY = "*"
T = TypeVar("T")


def call(name: str, **arguments: object) -> Json:
    """A block in which the model calls a tool."""
    return {"type": "tool_use", "name": name, "input": arguments}


def calls(*blocks: Json) -> Answer:
    """An answer that asks for tools."""
    return Answer(blocks=blocks, stop="tool_use")


def system_of(body: Json) -> str:
    """The frozen text of a request."""
    return "\n".join(block["text"] for block in body["system"])


def heard(body: Json) -> list[str]:
    """The words of people in a request, without facts and results of tools."""
    return [
        block["text"]
        for message in body["messages"]
        if message["role"] == "user"
        for block in message["content"]
        if block["type"] == "text" and not block["text"].startswith("<facts>")
    ]


def facts(body: Json) -> str:
    """The facts in the last message of a request."""
    return "\n".join(
        block["text"]
        for block in body["messages"][-1]["content"]
        if block.get("text", "").startswith("<facts>")
    )


class Stage:
    """The servers and the home. Gateways are opened on it, one after the other.

    `plan` is for turns; what the gateway asks the model for besides (a title) is answered aside.
    `endpoints` are the platforms that are there. Slack's app is a classic one, whose direct talks
    are one stream, unless a journey declares it to be an agent before it opens a gateway.
    """

    def __init__(self, home: Path, endpoints: tuple[str, ...] = ("telegram",)) -> None:
        self.home = home
        self.endpoints = endpoints
        self.telegram = TelegramEmulator()
        self.discord = DiscordEmulator()
        self.slack = SlackEmulator()
        self.slack.is_agent = self.slack.is_assistant = False
        self.model = AnthropicEmulator()
        self.model.answer = self._answer
        self.now: Callable[[], int] = now
        """The clock of gateways that are opened from now on."""
        self._plan: deque[Reply] = deque()

    async def __aenter__(self) -> Self:
        for name in self.endpoints:
            await self.servers[name].start()
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
            await self.servers[name].stop()

    @property
    def servers(self) -> dict[str, TelegramEmulator | DiscordEmulator | SlackEmulator]:
        """The emulators of all platforms, also of those that are not there."""
        return {"telegram": self.telegram, "discord": self.discord, "slack": self.slack}

    def account(self, platform: str, number: int) -> Account:
        """Somebody's account on a platform."""
        if platform == "discord":
            return DiscordAccount(self.discord, number)
        if platform == "slack":
            return SlackAccount(self.slack, number)
        return TelegramAccount(self.telegram, number)

    def accounts(self, number: int) -> tuple[Account, Account, Account]:
        """Somebody's accounts on Telegram, Discord and Slack."""
        return (
            self.account("telegram", number),
            self.account("discord", number),
            self.account("slack", number),
        )

    def plan(self, *replies: Reply | str) -> None:
        """What the model says in the next calls of turns; afterwards it echoes again."""
        self._plan.extend(text_answer(one) if isinstance(one, str) else one for one in replies)

    def hold(self) -> asyncio.Event:
        """Let no call of the model be answered until the event is set."""
        released = asyncio.Event()

        async def wait(_: Json) -> None:
            async with asyncio.timeout(PATIENCE):
                await released.wait()

        self.model.before = wait
        return released

    @property
    def turns(self) -> list[Json]:
        """The requests that turns made, oldest first."""
        return [body for body in self.model.requests if is_turn(body)]

    def _answer(self, body: Json) -> Reply:
        if not is_turn(body):
            return text_answer("A talk")
        return self._plan.popleft() if self._plan else anthropic.echo(body)

    def environ(self, allow: str = EVERYBODY, **settings: str) -> dict[str, str]:
        """The settings of a gateway on this stage. `allow` is the list of who may talk unasked."""
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
        """What a gateway needs to know to use a platform here, without its pauses."""
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
        timings: Timings | None = None,
        **settings: str,
    ) -> AsyncIterator["Harness"]:
        """Open the gateway, wait until the awaited platforms are connected, end it in order.

        Unless told otherwise all doors are awaited.
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
                    tools=tools, adapters=adapters or {}, now=self.now, timings=timings or Timings()
                ),
            )
        )
        await asyncio.wait((serving, opened), return_when=asyncio.FIRST_COMPLETED, timeout=PATIENCE)
        if serving.done():
            await serving
        harness = Harness(self, opened.result())
        try:
            await harness.until(
                lambda: all(harness.state_of(name) == "connected" for name in wanted)
            )
            yield harness
        finally:
            stop.set()
            await serving


def is_turn(body: Json) -> bool:
    """True for a call of a turn: a title is asked for without tools."""
    return "tools" in body


@dataclass(frozen=True, slots=True)
class Harness:
    """A gateway that is open."""

    stage: Stage
    gateway: Gateway

    def state_of(self, platform: str) -> str:
        """How a platform fares, in one word."""
        return self.gateway.platforms.health()[platform].state

    async def until(self, is_so: Callable[[], object], timeout: float = PATIENCE) -> None:
        """Return when it is so. Raises `TimeoutError`."""
        async with asyncio.timeout(timeout):
            while not is_so():
                await asyncio.sleep(_POLL)

    async def at_rest(self) -> None:
        """Return when all that was said is answered and delivered, or waits for its next try."""
        gateway = self.gateway
        await self.until(
            lambda: (
                not self.stage.telegram.pending
                and gateway.router.is_idle()
                and gateway.lanes.is_idle()
                and gateway.dispatcher.is_idle()
            )
        )

    async def ask(
        self, user: int, text: str | None, *, chat: int | None = None, **fields: Any
    ) -> str:
        """A person writes; what the bot says to it in that chat, its messages line by line."""
        return "\n".join(m.text for m in await self.messages_to(user, text, chat=chat, **fields))

    async def messages_to(
        self, user: int, text: str | None, *, chat: int | None = None, **fields: Any
    ) -> list[BotMessage]:
        """A person writes; the messages that the bot sends in that chat until it is at rest."""
        place = user if chat is None else chat
        before = len(self.stage.telegram.messages(place))
        await self.stage.telegram.says(user, text, chat=chat, **fields)
        await self.at_rest()
        return self.stage.telegram.messages(place)[before:]

    async def takes(self, deed: Awaitable[object]) -> None:
        """Somebody does something; return when it is on disk and all that follows is done."""
        await self.notes(deed)
        await self.at_rest()

    async def notes(self, deed: Awaitable[T]) -> T:
        """Somebody does something; what that gives, once it is on disk."""
        before = await self._count_events()
        done = await deed
        async with asyncio.timeout(PATIENCE):
            while await self._count_events() <= before:
                await asyncio.sleep(_POLL)
        return done

    async def _count_events(self) -> int:
        """How many events were taken in; asked as a write, behind which nothing is half done.

        Bare read positions, which nobody caused, are not counted.
        """

        def look(connection: Connection) -> int:
            deeds = "SELECT COUNT(*) FROM inbox WHERE event_id NOT LIKE '%/mark/%'"
            return int(connection.execute(deeds).fetchone()[0])

        return await self.gateway.database.write("test.look", look)

    async def hears(self, account: Account, text: str, **place: Any) -> str:
        """A person writes; what reads anew there once the gateway is at rest, line by line."""
        room = place.get("room")
        before = {one.id: one.text for one in account.seen(room)}
        await self.takes(account.says(text, **place))
        now = account.seen(room)
        return "\n".join(one.text for one in now if before.get(one.id) != one.text)

    async def press(self, account: Account, label: str, room: str | None = None) -> None:
        """A person presses the newest button of this label, and all that follows is done."""
        await self.takes(account.holds(label, room)())

    async def asks(self, account: Account, label: str, room: str | None = None) -> None:
        """Return once a person is shown a button of this label."""
        await self.until(
            lambda: (
                any(label in one.labels for one in account.seen(room))
                and label in asked(account, room).labels
            )
        )

    async def sees(self, chat: int, words: str) -> BotMessage:
        """The first message of the bot in a chat that holds these words, once there is one."""

        def find() -> BotMessage | None:
            messages = self.stage.telegram.messages(chat)
            return next((message for message in messages if words in message.text), None)

        await self.until(find)
        found = find()
        assert found
        return found

    async def count(self, table: str, condition: str) -> int:
        """How many rows of a table are so."""

        def look(connection: Connection) -> int:
            row = connection.execute(f"SELECT COUNT(*) FROM {table} WHERE {condition}").fetchone()
            return int(row[0])

        return await self.gateway.database.read(look)

    @asynccontextmanager
    async def terminal(self) -> AsyncIterator["Terminal"]:
        """Somebody opens `talaria chat`."""
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
    """One client of the console. `shown` is what stands on the screen, by message."""

    harness: Harness
    shown: dict[str, str] = field(default_factory=dict)
    link: ConsoleLink | None = None

    async def hear(self, news: News) -> None:
        """Show it."""
        if isinstance(news, Shown):
            self.shown[news.id] = news.text

    async def ask(self, text: str) -> str:
        """Say something; what is shown in answer to it."""
        assert self.link
        before = len(self.shown)
        await self.link.say(text)
        await self.harness.at_rest()
        await self.harness.until(lambda: len(self.shown) > before)
        return "\n".join([*self.shown.values()][before:])


def results(body: Json) -> list[str]:
    """The results of tools in the last message of a request, in order."""
    return [
        block["content"] if isinstance(block["content"], str) else json.dumps(block["content"])
        for block in body["messages"][-1]["content"]
        if block["type"] == "tool_result"
    ]
