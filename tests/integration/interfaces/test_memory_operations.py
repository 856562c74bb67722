"""`talaria memory`: show the ledger, undo and restore, with a running gateway and without."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from agent_core.ids import PersonId
from agent_core.memory.archive import writes
from agent_core.memory.archive.entries import ArchiveContent
from agent_core.memory.edits_within_limits import Edit
from agent_core.memory.store import MemoryStore
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import blocks, memory_owners
from agent_core.state.memory.blocks import NewBlock
from agent_core.state.memory.ledger import MemoryTarget, Origin
from agent_core.state.people import people, rooms
from agent_core.state.people.people import PersonKind
from gateway.errors import Declined
from gateway.home import DATABASE
from gateway.interfaces.cli.memory import count_milliseconds, read_date
from gateway.interfaces.client import perform
from tests.integration.processes import talaria
from tests.integration.served import served
from tests.tables import await_each

Ask = Callable[..., Awaitable[Mapping[str, Any]]]


@pytest.fixture
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("h")


class History:
    """Memory of Ann, the room Den, the block plan and the team."""

    def __init__(self, database: Database, home: Path) -> None:
        self._database = database
        self._store = MemoryStore(database, home / "memories")

    async def fill(self) -> None:
        def meet(connection: Connection) -> dict[str, tuple[int, str, PersonKind]]:
            ann = people.insert(connection, slug="ann", name="Ann", role="owner", now=0)
            den = rooms.insert(
                connection, platform="fake", chat_id="9", title="Den", slug="den", now=0
            )
            new = NewBlock(slug="plan", label="plan", description="", limit=900, made_by=ann.id)
            plan = blocks.insert(connection, new, now=0)
            team = blocks.make_team(connection, now=0)
            return {
                "ann": (ann.id, "ann", "human"),
                "den": (den.person_id, den.slug, "room"),
                "plan": (plan.person_id, plan.slug, "block"),
                "team": (team, "team", "team"),
            }

        self._who = await self._database.write("meet", meet)
        await self.add(1000, "ann", "Has a cat")
        await self.add(2000, "ann", "Likes tea", "user")
        await self.add(3000, "den", "Rent is due")
        await self.change(4000, "ann", Edit(action="replace", target="memory", old="cat", text="X"))
        await self.add(5000, "plan", "Ship it")
        await self.add(6000, "team", "We meet on Mondays")

    async def add(self, at: int, who: str, text: str, target: MemoryTarget = "memory") -> None:
        await self.change(at, who, Edit(action="add", target=target, text=text))

    async def change(self, at: int, who: str, edit: Edit) -> None:
        person_id, slug, kind = self._who[who]
        origin = Origin(actor="turn:1", now=at)
        await self._store.change(PersonId(person_id), slug, edit, origin, kind=kind)


@asynccontextmanager
async def user_prompts(home: Path, how: str) -> AsyncIterator[Ask]:
    """Run operations with or without a running gateway."""

    async def ask(operation: str, **asked: object) -> Mapping[str, Any]:
        return await asyncio.to_thread(perform, home, operation, asked)

    database = await Database.open(home / DATABASE)
    await History(database, home).fill()
    await database.close()
    if how == "running":
        async with served(home):
            yield ask
    else:
        yield ask


def entries(answer: Mapping[str, Any]) -> dict[str, list[str]]:
    return {
        f"{one['person']} {one['list']}": [entry["words"] for entry in one["entries"]]
        for one in answer["lists"]
    }


@pytest.mark.parametrize("how", ["running", "beside"])
async def test_all_memories_are_shown_for_now_and_a_past_time(home: Path, how: str) -> None:
    async with user_prompts(home, how) as ask:
        assert entries(await ask("memory.show")) == {
            "ann memory": ["X"],
            "ann user": ["Likes tea"],
            "room-den memory": ["Rent is due"],
            "block-plan memory": ["Ship it"],
            "team memory": ["We meet on Mondays"],
        }
        assert entries(await ask("memory.show", moment=3999)) == {
            "ann memory": ["Has a cat"],
            "ann user": ["Likes tea"],
            "room-den memory": ["Rent is due"],
        }
        assert entries(await ask("memory.show", person="room-den", moment=2999)) == {}


async def test_hand_edits_are_shown(home: Path) -> None:
    async with user_prompts(home, "beside") as ask:
        home.joinpath("memories/rooms/den/MEMORY.md").write_text("- Rent is due\n- by hand\n")
        assert entries(await ask("memory.show", person="room-den")) == {
            "room-den memory": ["Rent is due", "by hand"]
        }


@pytest.mark.parametrize("how", ["running", "beside"])
async def test_a_change_is_undone_with_later_changes_of_it(home: Path, how: str) -> None:
    async with user_prompts(home, how) as ask:
        log = (await ask("memory.log", person="ann", limit=10))["changes"]
        assert [(row["list"], row["before"], row["after"]) for row in log] == [
            ("memory", "Has a cat", "X"),
            ("user", None, "Likes tea"),
            ("memory", None, "Has a cat"),
        ]
        done = await ask("memory.undo", row=log[-1]["row"])
        assert [row["row"] for row in done["derived"]] == [log[0]["row"]]
        assert home.joinpath("memories/people/ann/MEMORY.md").read_text() == ""
        with pytest.raises(Declined, match="is already undone"):
            await ask("memory.undo", row=log[-1]["row"])
        back = await ask("memory.undo", row=done["row"]["row"])
        assert back["row"]["undoes"] == done["row"]["row"]
        assert home.joinpath("memories/people/ann/MEMORY.md").read_text() == "- X\n"


async def test_changes_of_rooms_blocks_and_the_team_are_undone(
    home: Path,
) -> None:
    async with user_prompts(home, "beside") as ask:
        folder = home / "memories"
        places = {
            "room-den": folder / "rooms" / "den",
            "block-plan": folder / "blocks" / "plan",
            "team": folder / "team",
        }
        for slug, place in places.items():
            (row,) = (await ask("memory.log", person=slug, limit=5))["changes"]
            assert place.joinpath("MEMORY.md").read_text() == f"- {row['after']}\n"
            await ask("memory.undo", row=row["row"])
            assert place.joinpath("MEMORY.md").read_text() == ""


@pytest.mark.parametrize("how", ["running", "beside"])
async def test_memory_is_restored_to_a_time_for_one_or_all(home: Path, how: str) -> None:
    async with user_prompts(home, how) as ask:
        done = await ask("memory.restore", person="ann", moment=3000)
        assert done["restored"] == [
            {"person": "ann", "list": "memory", "changes": 1, "entries": 1, "left_out": 0}
        ]
        assert home.joinpath("memories/people/ann/MEMORY.md").read_text() == "- Has a cat\n"
        await ask("memory.restore", moment=0)
        assert entries(await ask("memory.show")) == {}
        newest = (await ask("memory.log", person="ann", limit=1))["changes"][0]
        assert (newest["actor"], newest["before"]) == ("operator", "Likes tea")
        await ask("memory.undo", row=newest["row"])
        assert entries(await ask("memory.show")) == {"ann user": ["Likes tea"]}
        assert (await ask("memory.restore", person="team", moment=0))["restored"] == []


async def test_the_archive_is_restored_too(home: Path) -> None:
    async with user_prompts(home, "beside"):
        pass
    database = await Database.open(home / DATABASE)

    def keep(connection: Connection) -> None:
        ann = memory_owners.find_by_slug(connection, slug="ann")
        assert ann
        for at in (1000, 9000):
            writes.insert_entry(
                connection,
                person_id=ann.person_id,
                content=ArchiveContent(text=f"kept at {at}", tags=()),
                origin=Origin(actor="turn:1", now=at),
            )

    await database.write("keep", keep)
    await database.close()
    restored = talaria(home, "memory", "restore", "--person", "ann", "--at", "1970-01-01T00:00:08Z")
    assert restored.out == "ann, archive: 1 change reverted, 1 entry now.\n"
    log = talaria(home, "memory", "log", "--person", "ann", "--limit", "1").out
    assert "archive operator" in log
    assert "- [] kept at 9000" in log


async def test_a_failed_restore_is_named_and_blocks_no_other(home: Path) -> None:
    async with user_prompts(home, "beside") as ask:
        home.joinpath("memories/rooms/den/MEMORY.md").unlink()
        home.joinpath("memories/rooms/den/MEMORY.md").mkdir()
        done = await ask("memory.restore", moment=0)
        assert {one["person"]: one["why"] for one in done["kept"]} == {
            "room-den": (
                "A memory file of room-den can't be read (Is a directory), so their memory"
                " was not changed."
            ),
        }
        assert [one["person"] for one in done["restored"]] == ["ann", "ann", "block-plan", "team"]


async def test_an_invalid_request_is_declined_with_a_sentence(home: Path) -> None:
    rows: list[tuple[str, dict[str, Any], str]] = [
        ("memory.undo", {"row": 4711}, "There's no change with the number 4711."),
        ("memory.undo", {"row": 0}, "There's no change with the number 0."),
        ("memory.undo", {}, "Give a row number"),
        ("memory.undo", {"row": "1; DROP TABLE ledger"}, "Give a row number"),
        ("memory.log", {"limit": 0}, "from 1 to"),
        ("memory.log", {"limit": 5, "person": "nobody"}, "There is no person nobody"),
        ("memory.log", {"limit": 5, "person": 7}, "The person must be a text"),
        ("memory.show", {"person": "nobody"}, "There is no person nobody"),
        ("memory.show", {"moment": "now"}, "milliseconds"),
        ("memory.restore", {"person": "ann"}, "Give the moment"),
        ("memory.restore", {"person": "../ann", "moment": 1}, "There is no person ../ann"),
    ]
    async with user_prompts(home, "beside") as ask:

        async def check(row: tuple[str, dict[str, Any], str]) -> None:
            with pytest.raises(Declined) as caught:
                await ask(row[0], **row[1])
            assert row[2] in str(caught.value)

        await await_each(rows, check)


async def test_the_commands_print_changes_and_undos(home: Path) -> None:
    async with user_prompts(home, "beside"):
        pass
    zone = {"TALARIA_PEOPLE__TIME_ZONE": "Europe/Vienna"}
    log = talaria(home, "memory", "log", "--limit", "2", **zone)
    newest = " ".join(log.out.splitlines()[0].split())
    assert newest == "6 1970-01-01 01:00:06 team memory turn:1 + We meet on Mondays"
    shown = talaria(home, "memory", "show", "--person", "ann")
    assert shown.out.splitlines() == [
        f"Memory of {home}:",
        "ann, MEMORY.md:",
        "     4  X",
        "",
        "ann, USER.md:",
        "     2  Likes tea",
    ]
    undone = talaria(home, "memory", "undo", "1")
    assert undone.out.splitlines()[0] == "Taken back:"
    assert "Removed with it:" in undone.out
    again = talaria(home, "memory", "undo", "1")
    assert (again.code, again.out) == (1, "")
    assert again.err == "Change 1 is already undone.\n"
    at = ("--at", "1970-01-01 01:00:04")
    restored = talaria(home, "memory", "restore", "--person", "ann", *at, **zone)
    assert restored.out == "ann, MEMORY.md: 1 change reverted, 1 entry now.\n"
    then = talaria(home, "memory", "show", *at, "--person", "ann", **zone)
    assert "     -  X" in then.out


@pytest.mark.parametrize("date", ["yesterday", "9999-12-31", "2026-13-01", ""])
def test_an_invalid_date_is_a_usage_error(home: Path, date: str) -> None:
    bad = talaria(home, "memory", "restore", "--at", date)
    assert bad.code == 2
    assert f"{date!r} is not a date" in bad.err


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("1970-01-01", 23 * 3_600_000),
        ("1970-01-01 01:00", 0),
        ("1970-01-01T01:00:01", 1000),
        ("1970-01-01 00:00+00:00", 0),
        ("2026-07-01 02:00", 1_782_864_000_000),
    ],
)
def test_times_use_the_gateways_zone_and_days_end_at_midnight(text: str, moment: int) -> None:
    assert count_milliseconds(read_date(text), ZoneInfo("Europe/Vienna")) == moment
