"""Emulated platforms and an emulated Anthropic, people in chats, and a gateway to kill."""

import asyncio
import itertools
import json
import os
import signal
import sqlite3
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, closing, suppress
from pathlib import Path
from random import Random
from typing import Any, Literal, Self

from tests.emulators.anthropic import AnthropicEmulator
from tests.emulators.telegram_faults import DROP
from tests.faults.driver_telegram import TelegramDriver
from tests.faults.drivers import CHATS, Driver
from tests.faults.findings import Findings, count_done, list_open, look
from tests.faults.orders import Order
from tests.faults.script import Saying, Script, Verb, is_turn, tokens_of
from tests.patience import PATIENCE

_PACE = 0.004
"""Seconds between the events of a streamed answer. A plain answer has only eight."""
_POLL = 0.005
_REST_POLL = 0.05

_FIRST_POSITIONS = {"discord": "1".zfill(20), "slack": "1000000000.000000"}

Moment = Literal["before", "after"]


class Process:
    """One gateway process."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._heard: list[str] = []
        self._ready = asyncio.Event()
        self._listening = asyncio.create_task(self._listen(reader))
        self.pid = 0

    @classmethod
    async def open(cls, spawner: Path, order: Order) -> Self:
        """Start a process, and return once it exists."""
        reader, writer = await asyncio.open_unix_connection(str(spawner))
        writer.write(order.dump().encode())
        line = (await asyncio.wait_for(reader.readline(), PATIENCE)).decode()
        process = cls(reader, writer)
        process.pid = int(line.removeprefix("born "))
        return process

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        try:
            while line := await reader.readline():
                self._heard.append(line.decode().strip())
                if self._heard[-1] == "ready":
                    self._ready.set()
        except ConnectionResetError:
            pass  # the process died before it read the whole order
        finally:
            self._writer.close()

    async def ready(self) -> None:
        """Return once every platform is connected."""
        await asyncio.wait_for(self._ready.wait(), PATIENCE)

    @property
    def is_alive(self) -> bool:
        """Whether the process still runs."""
        return not self._listening.done()

    async def died(self, *, within: float = PATIENCE) -> None:
        """Return once the process is gone. Raises `TimeoutError`."""
        await asyncio.wait_for(asyncio.shield(self._listening), within)

    def kill(self) -> None:
        """Kill the process without warning, like a power cut."""
        if self.is_alive:
            os.kill(self.pid, signal.SIGKILL)

    def terminate(self) -> None:
        """Ask the process to exit."""
        if self.is_alive:
            os.kill(self.pid, signal.SIGTERM)

    @property
    def outcome(self) -> str:
        """`ended` or `failed`, if the process exited by itself."""
        return self._heard[-1] if self._heard else ""


class Deployment:
    """A home, the emulated servers, and the people who write to the bot.

    `drivers` are platforms besides Telegram.
    """

    def __init__(
        self, home: Path, spawner: Path, *, drivers: Sequence[Driver] = (), **settings: str
    ) -> None:
        self.home = home
        telegram = TelegramDriver()
        self.drivers: tuple[Driver, ...] = (telegram, *drivers)
        self.telegram = telegram.api
        self.anthropic = AnthropicEmulator()
        self.script = Script()
        self.anthropic.answer = self.script.answer
        self.said: list[Saying] = []
        self.process: Process | None = None
        self.crashes = 0
        """How many processes `supervise` saw end."""
        self.doubts: set[tuple[str, str]] = set()
        """Key and text of each message that `lose_power` left in doubt."""
        self.deleted = 0
        """How many unfinished messages of the bot people deleted by hand."""
        self.speed, self.epoch = 1, 0
        self._spawner = spawner
        self.settings = settings
        self._numbers: defaultdict[int, int] = defaultdict(int)
        self._channels = AsyncExitStack()

    async def __aenter__(self) -> Self:
        self.home.mkdir(parents=True, exist_ok=True)
        for driver in self.drivers:
            await self._channels.enter_async_context(driver)
        await self._channels.enter_async_context(self.anthropic)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self.process is not None:
            self.process.kill()
            await self.process.died()
        await self._channels.aclose()

    def _environ(self) -> Mapping[str, str]:
        environ = {
            "HOME": str(self.home),
            "ANTHROPIC_API_KEY": "key",
            "ANTHROPIC_BASE_URL": self.anthropic.url,
            "TALARIA_ACCESS__ALLOW": "*",
            "TALARIA_ACCESS__GREET": "false",
            "TALARIA_PEOPLE__TIME_ZONE": "UTC",
            "TALARIA_LOG__FILE": "false",
            **self.settings,
        }
        for driver in self.drivers:
            environ |= driver.environ()
        return environ

    async def open_process(self, *kills: str) -> Process:
        """Start a gateway that kills itself at the given points."""
        order = Order(
            home=str(self.home),
            environ=dict(self._environ()),
            kills=kills,
            speed=self.speed,
            epoch=self.epoch,
        )
        self.process = await Process.open(self._spawner, order)
        return self.process

    async def supervise(self) -> None:
        """Restart the gateway whenever it exits, until cancelled."""
        while True:
            process = await self.open_process()
            while process.is_alive:
                await asyncio.sleep(_POLL)
            self.crashes += 1

    async def all_begun(self, number: int) -> None:
        """Return once `number` turns are running."""
        async with asyncio.timeout(PATIENCE):
            while len(self.attempts_of_running()) < number:
                await asyncio.sleep(_REST_POLL)

    async def all_ended(self) -> None:
        """Return once no turn is running."""
        async with asyncio.timeout(PATIENCE):
            while self.attempts_of_running():
                await asyncio.sleep(_REST_POLL)

    def add_crashes(self, *, crashes: int) -> None:
        """Add `crashes` to the running turns. No gateway may run."""
        with closing(sqlite3.connect(self.home / "state.db")) as connection, connection:
            rows = connection.execute("SELECT id, attempts FROM turns WHERE state = 'running'")
            records = {str(turn_id): [crashes, attempts] for turn_id, attempts in rows}
            connection.execute(
                "INSERT OR REPLACE INTO meta (key, value) VALUES ('crash_backoff', ?)",
                (json.dumps(records),),
            )

    def attempts_of_running(self) -> list[int]:
        """Return how many processes picked up each running turn. No gateway may run."""
        with closing(sqlite3.connect(self.home / "state.db")) as connection:
            rows = connection.execute(
                "SELECT attempts FROM turns WHERE state = 'running' ORDER BY id"
            ).fetchall()
        return [attempts for (attempts,) in rows]

    def forget_read_positions(self) -> None:
        """Forget all read positions. No gateway may run."""
        with closing(sqlite3.connect(self.home / "state.db")) as connection, connection:
            for platform, first in _FIRST_POSITIONS.items():
                connection.execute(
                    "UPDATE read_positions SET position = ? WHERE platform = ?", (first, platform)
                )

    def tell(self, script: Script) -> None:
        """Let the model follow another script."""
        self.script = script
        self.anthropic.answer = script.answer

    def stream_slowly(self) -> None:
        """Stream answers slowly enough for a live message to open and be edited."""
        self.anthropic.pace = _PACE

    def clear_faults(self) -> None:
        """Remove every delay, fault and planned kill."""
        self.anthropic.pace = 0.0
        self.anthropic.before = self.anthropic.during = self.anthropic.after = None
        self.telegram.before = self.telegram.after = None
        for driver in self.drivers:
            driver.clear_faults()

    def kill_at_call(
        self, method: str, *, moment: Moment, number: int = 1, is_lost: bool = False
    ) -> None:
        """Kill the gateway before or after the number-th call of a method is applied.

        A lost call is never applied: the connection breaks with the process.
        """
        left = itertools.count(number - 1, -1)

        async def kill(called: str, _: dict[str, Any]) -> None:
            if called == method and next(left) == 0:
                if is_lost:
                    self.telegram.fail(method, kind=DROP)
                await self._kill()

        setattr(self.telegram, moment, kill)

    def kill_at_calls(self, method: str, *, number: int, within: float) -> None:
        """Kill the gateway once `number` calls of a method are applied but unanswered.

        If it makes fewer at a time, kill it `within` seconds of the first.
        """
        left = itertools.count(number - 1, -1)
        are_all = asyncio.Event()

        async def kill(called: str, _: dict[str, Any]) -> None:
            if called != method:
                return
            if next(left) == 0:
                are_all.set()
            with suppress(TimeoutError):
                async with asyncio.timeout(within):
                    await are_all.wait()
            await self._kill()

        self.telegram.after = kill

    def kill_at_model(self, moment: Moment | Literal["during"], *, number: int = 1) -> None:
        """Kill the gateway before, during or after the number-th model call."""
        left = itertools.count(number - 1, -1)

        async def kill(body: dict[str, Any]) -> None:
            if is_turn(body) and next(left) == 0:
                await self._kill()

        setattr(self.anthropic, moment, kill)

    async def _kill(self) -> None:
        """Kill the gateway and wait, so that the server's next step reaches nobody."""
        assert self.process is not None
        self.process.kill()
        await self.process.died()

    def hold_model(self) -> asyncio.Event:
        """Hold every model call until the returned event is set."""
        released = asyncio.Event()

        async def hold(_: dict[str, Any]) -> None:
            await asyncio.wait_for(released.wait(), PATIENCE)

        self.anthropic.before = hold
        return released

    async def model_called(self, number: int = 1) -> None:
        """Return once the model was called `number` times."""
        async with asyncio.timeout(PATIENCE):
            while self.anthropic.calls["POST /v1/messages"] < number:
                await asyncio.sleep(_POLL)

    async def steered(self) -> None:
        """Return once Telegram shows that its newest message steers a turn.

        The message that the turn answers has the same mark, soon after the model is called.
        """
        newest = max(self.telegram.world.messages)
        await self.telegram.wait_for(
            lambda: bool(self.telegram.world.reactions.get(newest)), PATIENCE
        )

    async def says(self, chat: int, verb: Verb = "say") -> Saying:
        """Send the next message of a chat's person."""
        self._numbers[chat] += 1
        saying = Saying(chat, self._numbers[chat], verb)
        self.said.append(saying)
        await self.driver_of(chat).says(chat, saying.text)
        return saying

    async def delete_unfinished(self, chance: Random) -> None:
        """Delete one of the bot's unfinished messages by hand, on one of the platforms."""
        self.deleted += await chance.choice(self.drivers).delete_unfinished(chance)

    def driver_of(self, chat: int) -> Driver:
        """Return the platform of a chat."""
        return next(one for one in self.drivers if one.first_chat == chat // CHATS * CHATS)

    def shown(self) -> dict[int, Sequence[str]]:
        """Return the bot's current messages by chat."""
        shown: dict[int, Sequence[str]] = {}
        for driver in self.drivers:
            shown |= driver.shown([c for c in self._numbers if self.driver_of(c) is driver])
        return shown

    async def all_seen(self, sayings: Sequence[Saying], *, within: float = PATIENCE) -> None:
        """Return once every token of these messages is visible. Raises `TimeoutError`."""
        async with asyncio.timeout(within):
            while not self._is_seen(sayings):
                await asyncio.sleep(_REST_POLL)

    def _is_seen(self, sayings: Sequence[Saying]) -> bool:
        expected = {token for saying in sayings for token in saying.tokens}
        texts = itertools.chain.from_iterable(self.shown().values())
        return expected <= {token for text in texts for token in tokens_of(text)}

    async def all_settled(self, *, stillness: float = PATIENCE) -> None:
        """Return once everything is seen and no row of the database is open.

        An answer can be visible while its delivery status is unknown to the gateway, until the
        gateway reconciles it. Raises `TimeoutError` after `stillness` seconds in which nothing was
        finished: after many kills a turn waits before its next try, and the busiest person's turns
        wait for each other, so no number of seconds is enough for all.
        """
        loop, done = asyncio.get_running_loop(), -1
        async with asyncio.timeout(stillness) as limit:
            while not self._is_seen(self.said) or await asyncio.to_thread(list_open, self.home):
                now_done = await asyncio.to_thread(count_done, self.home)
                if now_done != done:
                    done = now_done
                    limit.reschedule(loop.time() + stillness)
                await asyncio.sleep(_REST_POLL)

    async def sees(self, chat: int, words: str) -> None:
        """Return once a message of the bot in a chat has these words. Raises `TimeoutError`."""
        async with asyncio.timeout(PATIENCE):
            while not any(words in text for text in self.shown()[chat]):
                await asyncio.sleep(_REST_POLL)

    async def stop_and_inspect(self, *, stillness: float = PATIENCE) -> Findings:
        """Wait for all answers as `all_settled` does, stop the gateway, and inspect the result."""
        process = self.process
        assert process is not None
        with suppress(TimeoutError):  # the findings list what is missing
            await self.all_settled(stillness=stillness)
        process.terminate()
        await process.died()
        return self.look()

    def look(self) -> Findings:
        """Inspect the result after the last gateway exited normally."""
        assert self.process is not None
        findings = look(self.home, self.said, self.shown(), self.script.asked, self.doubts)
        if self.process.outcome != "ended":
            findings.damage.append(f"the last gateway did not end in order: {self.home}/output.log")
        return findings

    def look_at(self, driver: Driver) -> Findings:
        """Inspect what people see on one platform."""
        said = [one for one in self.said if self.driver_of(one.chat) is driver]
        shown = {c: x for c, x in self.shown().items() if self.driver_of(c) is driver}
        return look(self.home, said, shown, self.script.asked, self.doubts)
