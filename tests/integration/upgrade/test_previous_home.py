"""A home of the previous version upgrades when it opens, and everything in it still works."""

import asyncio
import sqlite3
import tarfile
from collections.abc import AsyncGenerator
from contextlib import closing
from pathlib import Path

import pytest

from agent_core.chats import Chat
from agent_core.ids import QuestionId
from agent_core.models.contract import ModelAnswer, ModelRequest, TextDelta
from agent_core.state.backups.encryption import Keys
from agent_core.state.backups.restoring import RestorePlace, restore
from agent_core.state.engine.connection import checksum
from agent_core.state.engine.database import Database
from agent_core.state.engine.upgrade import FOLDER, load_migrations
from agent_core.state.memory import external_sync
from agent_core.state.queues import deferred_messages, outbox, unreachable_chats
from agent_core.transcript import TextPart, dump_parts, load_parts
from gateway.app.settings import load
from gateway.home import RUNTIME_NAMES
from gateway.interfaces.diagnostics.offline import examine
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, finish
from tests.integration.accounts import ChatAccount
from tests.integration.clock import Clock
from tests.integration.harness import Harness, running
from tests.integration.processes import PATIENCE

PACKED = Path(__file__).with_name("home.tar.gz")
PREVIOUS = 10
RENAMED = {
    "folds": "compactions",
    "held": "deferred_messages",
    "marks": "read_positions",
    "mirror": "external_sync",
    "retired_chats": "unreachable_chats",
    "folded_to": "summarized_to",
}
Columns = dict[str, list[str]]


class Echo(FakeModel):
    """Repeats the last words of a person."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        self.requests.append(request)
        text = next((m.text for m in reversed(request.messages) if m.role == "user" and m.text), "")
        yield finish(TextPart(text=f"Understood: {text[:60]}"))


class Platform(FakeChat):
    """A platform whose ids go on after those of the previous process."""

    def __init__(self, name: str) -> None:
        super().__init__(name=name, _ids=1000, _shown_ids=1000)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with tarfile.open(PACKED) as packed:
        packed.extractall(tmp_path, filter="data")
    return tmp_path


def list_columns(path: Path) -> Columns:
    """The columns of every table, under their names in that file."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        tables = [
            row[0]
            for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            if not row[0].startswith("message_search")  # 0019 rebuilds it
            and row[0] != "archive_search"  # its shadow tables are read
        ]
        return {
            table: [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
            for table in tables
        }


def rename(columns: Columns) -> Columns:
    """The present names of tables and columns of the previous version."""
    return {
        RENAMED.get(table, table): [RENAMED.get(name, name) for name in names]
        for table, names in columns.items()
    }


def read_rows(path: Path, columns: Columns) -> dict[str, list[tuple[object, ...]]]:
    """Every row of those tables, under the table's present name; 0022 packs `parts` anew."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        rows = {
            RENAMED.get(table, table): connection.execute(
                f"SELECT {', '.join(names)} FROM {table}"
            ).fetchall()
            for table, names in columns.items()
        }
    names = columns["messages"]
    messages = [dict(zip(names, row, strict=True)) for row in rows["messages"]]
    for one in messages:
        assert one["checksum"] == checksum(one["role"], one["parts"], one["text"])
        one |= {"parts": load_parts(one["parts"], one["text"]), "checksum": None}
    return rows | {"messages": [tuple(one.values()) for one in messages]}


async def test_an_upgrade_keeps_every_row_and_sets_a_copy_aside(home: Path) -> None:
    path = home / "state.db"
    columns = list_columns(path)
    before = read_rows(path, columns)
    assert all(before.values()), "the packed home has rows of every kind"
    database = await Database.open(path)
    await database.close()
    after = read_rows(path, rename(columns))
    kind = columns["tasks"].index("kind")
    reviewed = [row for row in after["tasks"] if row[kind] == "review"]
    after["tasks"] = [row for row in after["tasks"] if row not in reviewed]
    assert after == before
    asker = columns["turns"].index("person_id")
    people = {row[asker] for row in before["turns"]}
    assert len(reviewed) == len(people), "what was said before the upgrade counts as reviewed"
    with closing(sqlite3.connect(path)) as connection:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
    assert version == len(load_migrations(FOLDER))
    (copy,) = home.joinpath("backups").iterdir()
    assert copy.name.startswith(f"state-before-{PREVIOUS + 1}-")
    assert read_rows(copy, columns) == before
    with closing(sqlite3.connect(copy)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (PREVIOUS,)
        assert connection.execute("SELECT COUNT(*) FROM held").fetchone() == (3,)


async def test_the_copy_that_an_upgrade_saved_is_restored_whole(home: Path) -> None:
    path = home / "state.db"
    columns = list_columns(path)
    before = read_rows(path, columns)
    await (await Database.open(path)).close()
    (copy,) = (home / "backups").iterdir()
    place = RestorePlace(home=home, database=path.name, kept=RUNTIME_NAMES)
    restored = await asyncio.to_thread(restore, place, copy, Keys(), home / "backups" / "a", now=0)
    assert restored.schema == PREVIOUS
    assert list_columns(path) == columns
    assert read_rows(path, columns) == before
    findings = {one.part: one for one in examine(load({"TALARIA_HOME": str(home)}))}
    assert findings["database"].state == "ok"
    assert f"schema {PREVIOUS}; the next start migrates it" in findings["database"].text


async def test_everything_in_it_still_works(home: Path) -> None:
    clock = Clock(2026, 11, 21, 13, 0)
    work, phone, model = Platform("work"), Platform("phone"), Echo()
    async with running(
        home,
        model,
        chat=Platform("fake"),
        others={"work": work, "phone": phone},
        now=clock,
        TALARIA_PEOPLE__TIME_ZONE="Europe/Berlin",
    ) as harness:
        ana, bob = ChatAccount(harness, "1", "Ana"), ChatAccount(harness, "2", "Bob")
        await harness.chat.sees_text("Understood: Good night")
        assert harness.chat.inlet is not None
        assert dict(await harness.chat.inlet.marks()) == {"general": "0007"}
        assert await harness.read(unreachable_chats.list_all) == {
            Chat(platform="phone", address='["p2",null,true]'): "Nobody is there any more."
        }
        (sync,) = await harness.read(external_sync.count_all)
        assert (sync.provider, sync.queued) == ("honcho", 1)
        await press_blue(harness)
        await harness.chat.sees_text("Understood: !ask")
        await harness.at_rest()
        await use_what_is_remembered(harness, ana, bob)
        await phone.says("/retry", user="p1", chat="p1", name="Carl")
        await phone.sees_text("Understood: is anybody there?")
        await phone.says("back again", user="p2", chat="p2", name="Dora")
        await phone.sees_text("Understood: back again")
        await harness.at_rest()
        assert await harness.read(unreachable_chats.list_all) == {}
        await work.says("hello", user="w1", chat="w1", name="Ana at work")
        await work.sees_text("Understood: hello")
        await harness.at_rest()
        assert not await harness.read(lambda c: outbox.count(c, state="unsure"))
        await end_quiet_hours(harness, clock)


async def press_blue(harness: Harness) -> None:
    """Answer the question that the previous process asked."""
    row = await harness.read(lambda c: outbox.find_of_question(c, question_id=QuestionId(2)))
    assert row
    assert row.message_id
    key = next(button.key for button in row.buttons if button.label == "Blue")
    await harness.chat.press_key(key, row.message_id, user="2", chat="2", name="Bob")


async def use_what_is_remembered(harness: Harness, ana: ChatAccount, bob: ChatAccount) -> None:
    """Memory with its history, the archive, blocks, search, jobs, skills, and the compaction."""
    memory = await ana.says("/memory")
    assert "The key is with Ada" in memory
    assert "Drinks mate" in memory
    assert "Has a dog, Rex" in await bob.says("/memory")
    assert "Flight LH 454" in await ana.says("/memory archive")
    assert "market" in await ana.says("/block")
    jobs = await ana.says("/jobs")
    assert "Drink water" in jobs
    assert "Name three fish." in jobs
    await ana.says("how are you?")
    request = "".join(dump_parts(message.parts) for message in harness.model.requests[-1].messages)
    assert "They spoke of tea and of trains." in request
    assert "word77" in request
    undone = await ana.says("/undo 5")
    assert "Drinks tea" in await ana.says("/memory"), undone


async def end_quiet_hours(harness: Harness, clock: Clock) -> None:
    """Deliver the deferred messages, and run the jobs that are due by then."""
    kept = await harness.read(deferred_messages.find_next_at)
    assert kept is not None
    clock.move(harness, hours=9)
    for text in ("echo done", "Drink water", "Name three fish."):
        await harness.chat.sees_text(text)
    async with asyncio.timeout(PATIENCE):
        while await harness.read(deferred_messages.find_next_at):
            await asyncio.sleep(0.01)
