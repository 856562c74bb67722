"""Make a home with the previous version, for `test_previous_home.py`.

Run it in a checkout of commit ca777c6, with that version's own environment and test helpers:

    python make_previous_home.py /path/to/this/folder/home.tar.gz

It drives a whole gateway on three fake platforms with a model that calls tools as it is told.
The database then has rows of every kind, among them unfinished ones: an open question with its
running turn, deferred messages, and outbox messages in every state.
"""

import asyncio
import contextlib
import json
import sqlite3
import sys
import tarfile
import tempfile
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path.cwd()))

from adapters.errors import AdapterError, Rejected, Unreachable, Unsure
from adapters.ids import PlatformMessageId
from adapters.messages import OutboundMessage
from agent_core.models.contract import ModelAnswer, ModelRequest, TextDelta
from agent_core.state import people
from agent_core.transcript import TextPart
from gateway import wording_people
from tests.emulators.honcho import HonchoEmulator
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, call, finish
from tests.gateway.clock import Clock
from tests.gateway.jobs import give_job, looked
from tests.gateway.running import Harness, running
from tests.gateway.sides import Side
from tests.patience import PATIENCE

SETTINGS = {"TALARIA_PEOPLE__TIME_ZONE": "Europe/Berlin"}


class Player(FakeModel):
    """Calls the tool of a line such as `!memory {…}`, and answers everything else."""

    def __init__(self) -> None:
        super().__init__()
        self._calls = 0

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        last = request.messages[-1]
        text = next((m.text for m in reversed(request.messages) if m.role == "user" and m.text), "")
        if request.system.startswith("Name the conversation"):
            yield finish(TextPart(text="Tea and trains"))
        elif request.system.startswith("You are shown a part of a talk"):
            yield finish(TextPart(text="They spoke of tea and of trains."))
        elif "!" in text and last.role == "user":
            self._calls += 1
            name, _, arguments = text[text.index("!") + 1 :].partition(" ")
            yield finish(call(name, arguments, f"c{self._calls}"), stop="tools")
        else:
            yield finish(TextPart(text=f"Understood: {text[:60]}"))


class Moody(FakeChat):
    """A platform that can refuse every message from some moment on."""

    fault: AdapterError | None = None
    is_lost: bool = False

    async def send(self, message: OutboundMessage) -> PlatformMessageId:
        if self.fault:
            raise self.fault
        return await super().send(message)

    async def find(
        self, message: OutboundMessage, known: Sequence[PlatformMessageId]
    ) -> PlatformMessageId | None:
        if self.fault:
            raise Unreachable("down")
        return await super().find(message, known)


def tool(name: str, /, **arguments: object) -> str:
    return f"!{name} {json.dumps(arguments)}"


async def says(harness: Harness, platform: FakeChat, text: str, **fields: object) -> str:
    """Say something on another platform; gives what is shown there once all is at rest."""
    seen = len(platform.shown)
    await platform.says(text, **fields)
    await harness.until(lambda: len(platform.shown) > seen)
    await harness.at_rest()
    return platform.shown[-1].text


async def live(home: Path, clock: Clock) -> None:
    """Finished rows of every kind."""
    work, phone = Moody(name="work"), Moody(name="phone")
    async with contextlib.AsyncExitStack() as servers:
        honcho = await servers.enter_async_context(HonchoEmulator())
        memory = {"HONCHO_BASE_URL": honcho.url, "TALARIA_MEMORY__PROVIDER": "honcho"}
        async with running(
            home, Player(), now=clock, others={"work": work, "phone": phone}, **SETTINGS, **memory
        ) as harness:
            ana, bob = Side(harness, "1", "Ana"), Side(harness, "2", "Bob")
            await ana.says("hi", channel="general", position="0007")
            await make_owner(harness)
            await bob.says("hello there")
            code = await ana.makes_code()
            place = {"user": "w1", "chat": "w1", "name": "Ana at work"}
            await says(harness, work, f"/link {code}", **place)
            await ana.presses(wording_people.YES)
            await says(harness, phone, "good morning", user="p1", chat="p1", name="Carl")
            await says(harness, phone, "/unlink", user="p1", chat="p1", name="Carl")
            await ana.says(
                tool("memory", action="add", target="memory", text="The key is with Ada")
            )
            await ana.says(tool("memory", action="add", target="user", text="Drinks tea"))
            await ana.says(
                tool(
                    "memory", action="replace", target="user", old="Drinks tea", text="Drinks mate"
                )
            )
            await bob.says(tool("memory", action="add", target="user", text="Has a dog, Rex"))
            await ana.says(
                tool("archive", action="insert", text="Flight LH 454 on 3 May", tags=["trip"])
            )
            await ana.says(tool("recall", query="hello"))
            await ana.says(tool("send_file", name="list.txt", text="bread, milk"))
            await ana.says("/share 1 everyone")
            await ana.says("/block new market 500 the shopping list")
            await ana.says("/block share market everyone")
            await bob.says("/link AAAA-AAA2")
            den = {"chat": "den", "direct": False, "room_title": "The den"}
            await bob.says("hello all", **den)
            await ana.says(tool("memory", action="add", target="memory", text="Likes chess"), **den)
            for number in range(12):
                await ana.says(f"fact {number} is word{number * 7} " + "and so on " * 60)
            await ana.says("/compact keep word7")
            await ana.says("/status")
            await give_job(harness, "Drink water", "every 3600")
            await give_job(harness, "Name three fish.", "30 * * * *", kind="prompt")
            await give_job(harness, "echo done", "2026-11-21T13:10", kind="script")
            clock.move(harness, hours=2)
            await looked(harness)
            await until_reported(harness)
            # Nobody answers the external memory any more: what follows stays queued.
            await servers.aclose()
            await ana.says("one more thing for later")


async def until_reported(harness: Harness) -> None:
    async with asyncio.timeout(PATIENCE):
        while await harness.read(
            lambda c: c.execute("SELECT 1 FROM mirror WHERE state = 'owed'").fetchone()
        ):
            await asyncio.sleep(0.02)


async def make_owner(harness: Harness) -> None:
    def work(connection: sqlite3.Connection) -> None:
        person = people.find_by_account(connection, platform="fake", user_id="1")
        assert person
        people.make_owner(connection, person_id=person.id)

    await harness.gateway.database.write("owner", work)
    harness.gateway.intake.forget_known()


async def leave_unfinished(home: Path, clock: Clock) -> None:
    """Rows that wait for something; the process ends without an orderly stop."""
    # The ids go on: the gateway drops an event that it has seen before.
    work, phone, chat = (
        Moody(name=name, _ids=500, _shown_ids=500) for name in ("work", "phone", "fake")
    )
    async with running(
        home, Player(), chat=chat, now=clock, others={"work": work, "phone": phone}, **SETTINGS
    ) as harness:
        ana, bob = Side(harness, "1", "Ana"), Side(harness, "2", "Bob")
        await ana.says("/settings quiet_hours 14:00-22:00")
        clock.move(harness, hours=1)
        await looked(harness)
        phone.fault = Rejected("No.")
        await phone.says("is anybody there?", user="p1", chat="p1", name="Carl")
        await until(harness, "SELECT 1 FROM outbox WHERE state = 'dead'")
        phone.fault, phone.gone = None, {"p2"}
        await phone.says("and there?", user="p2", chat="p2", name="Dora")
        await until(harness, "SELECT 1 FROM retired_chats")
        work.fault = Unsure("no answer")
        await work.says("did that arrive?", user="w2", chat="w2", name="Eve")
        await until(harness, "SELECT 1 FROM outbox WHERE state = 'unsure'")
        await work.says("And this?", user="w1", chat="w1", name="Ana at work")
        await bob.harness.chat.says(
            tool("ask", question="Which colour?", options=["Red", "Blue"]),
            user="2",
            chat="2",
            name="Bob",
        )
        await until(harness, "SELECT 1 FROM questions WHERE state = 'open'")
        await chat.sees_text("Which colour?")
        chat.fault = Unreachable("down")
        await chat.says("Good night", user="1", chat="1", name="Ana")
        await until(harness, "SELECT 1 FROM outbox WHERE state = 'owed' AND is_live = 0")
        with sqlite3.connect(home / "state.db") as connection:
            copy = sqlite3.connect(home / "copy.db")
            connection.backup(copy)
            copy.close()
    # A process that was killed here would have left this copy.
    for ending in ("", "-wal", "-shm"):
        (home / f"state.db{ending}").unlink(missing_ok=True)
    (home / "copy.db").rename(home / "state.db")


async def until(harness: Harness, query: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while await harness.read(lambda c: c.execute(query).fetchone()) is None:
            await asyncio.sleep(0.01)


def main() -> None:
    """Make the home and pack it."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "home")
        skill = home / "skills" / "tea"
        skill.mkdir(parents=True)
        skill.joinpath("SKILL.md").write_text(
            "---\nname: tea\ndescription: How tea is made here\n---\nThree minutes.\n"
        )
        clock = Clock(2026, 11, 21, 10, 0)
        asyncio.run(live(home, clock))
        asyncio.run(leave_unfinished(home, clock))
        with contextlib.closing(sqlite3.connect(home / "state.db")) as connection:
            connection.execute("PRAGMA journal_mode = DELETE")
            connection.execute("VACUUM")
            for (table,) in connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '%search%'"
            ).fetchall():
                print(table, connection.execute(f'SELECT COUNT(*) FROM "{table}"').fetchone()[0])
        with tarfile.open(sys.argv[1], "w:gz", compresslevel=9) as packed:
            for name in ("state.db", "memories", "skills"):
                packed.add(home / name, name)


if __name__ == "__main__":
    main()
