"""SOUL.md: proposed by the agent, approved by an owner, and watched for any other change."""

import asyncio
import json
from pathlib import Path

import pytest

from agent_core.agent.prompt.persona import DEFAULT_SOUL
from agent_core.memory import soul_store as identity
from agent_core.memory.soul_store import SoulFile
from agent_core.state.engine.database import Connection, Database, now
from agent_core.state.memory import blocks, ledger
from agent_core.state.memory.ledger import LedgerEntry
from agent_core.state.queues.tasks import Task
from gateway.people.owner_notices import Notices
from tests.databases import open_database
from tests.fakes.chat import FakeChat, Shown
from tests.fakes.model import FakeModel, Play, ask, call, list_offered, say
from tests.integration.model_requests import results
from tests.integration.shared_harness import SharedHarness, shared_harness
from tests.tables import await_each

OLD = "You have a warm, dry, level voice."
NEW = "You speak in short, cheerful sentences."


def propose(**arguments: str) -> Play:
    return ask(call("propose_identity", json.dumps(arguments)))


def plays(*more: Play) -> FakeModel:
    """A model that greets two people, and then plays these."""
    return FakeModel(say("Hi."), say("Hi."), *more)


async def add_people(here: SharedHarness) -> None:
    """Add Ann, a member, and Cleo, the owner; both have written in private."""
    await here.says("ann", "hello")
    await here.says("cleo", "hello")
    await here.make_owner("cleo")
    here.harness.chat.shown.clear()


async def asked(here: SharedHarness) -> Shown:
    """Return the question, once a turn waits for its answer."""
    await here.harness.until(lambda: bool(here.harness.gateway.questions.answers._futures))
    return await here.harness.chat.sees_text("wants to change my character")


def find_rows(connection: Connection) -> list[LedgerEntry]:
    team = blocks.find_team(connection)
    return ledger.find_entries(connection, person_id=team, target="soul") if team else []


def soul(home: Path) -> Path:
    return home / "SOUL.md"


async def answer(here: SharedHarness, label: str) -> None:
    await here.harness.chat.until(lambda: any(one.labels for one in here.harness.chat.shown))
    await here.harness.chat.press(label, user="cleo", name="cleo", chat="cleo")


async def test_an_owner_sees_the_difference_and_approves_it(tmp_path: Path) -> None:
    async with shared_harness(tmp_path, plays(propose(old=OLD, text=NEW), say("Done."))) as here:
        await add_people(here)
        await here.harness.chat.says("be cheerful", user="ann", name="ann", chat="ann")
        question = await asked(here)
        assert question.chat_id == "cleo"
        assert question.labels == ["Approve", "Refuse"]
        assert f"-{OLD} You may disagree" in question.text
        assert f"+{NEW} You may disagree" in question.text
        assert "You remember" not in question.text, "only what changes is shown"
        assert soul(tmp_path).read_text() == DEFAULT_SOUL
        await answer(here, "Approve")
        await here.harness.chat.sees_text("Done.")
        assert soul(tmp_path).read_text() == DEFAULT_SOUL.replace(OLD, NEW)
        first, row = await here.harness.read(find_rows)
        assert (first.origin.actor, first.change.after) == ("hand", DEFAULT_SOUL)
        assert row.origin.actor.startswith("turn:")
        assert row.origin.evidence.startswith("approved by cleo (person ")
        assert row.origin.evidence.endswith("proposed on: be cheerful")
        assert (row.change.before, row.change.after) == (
            DEFAULT_SOUL,
            DEFAULT_SOUL.replace(OLD, NEW),
        )
        here.model.plays.append(say("Hi!"))
        await here.says("bob", "hi")
        assert NEW in here.model.requests[-1].system


async def test_a_refused_proposal_changes_nothing(tmp_path: Path) -> None:
    async with shared_harness(tmp_path, plays(propose(old=OLD, text=NEW), say("Well."))) as here:
        await add_people(here)
        await here.harness.chat.says("be cheerful", user="ann", name="ann", chat="ann")
        await asked(here)
        await answer(here, "Refuse")
        await here.harness.chat.sees_text("Well.")
        assert results(here.model) == ["SOUL.md was not changed: an owner refused it."]
        assert soul(tmp_path).read_text() == DEFAULT_SOUL
        assert len(await here.harness.read(find_rows)) == 1


async def test_an_owner_s_own_proposal_is_asked_for_too(tmp_path: Path) -> None:
    async with shared_harness(tmp_path, plays(propose(text="You are Ada."), say("Done."))) as here:
        await add_people(here)
        await here.harness.chat.says("be Ada", user="cleo", name="cleo", chat="cleo")
        await asked(here)
        await answer(here, "Approve")
        await here.harness.chat.sees_text("Done.")
        assert soul(tmp_path).read_text() == "You are Ada.\n"


async def test_an_approval_is_void_if_the_file_changed(tmp_path: Path) -> None:
    async with shared_harness(tmp_path, plays(propose(old=OLD, text=NEW), say("Well."))) as here:
        await add_people(here)
        await here.harness.chat.says("be cheerful", user="ann", name="ann", chat="ann")
        await asked(here)
        soul(tmp_path).write_text("You are Bo.\n")
        await answer(here, "Approve")
        await here.harness.chat.sees_text("Well.")
        changed = "SOUL.md was not changed: someone else changed it meanwhile"
        assert results(here.model)[0].startswith(changed)
        assert soul(tmp_path).read_text() == "You are Bo.\n"
        rows = await here.harness.read(find_rows)
        assert [row.origin.actor for row in rows] == ["hand", "hand"]


@pytest.mark.parametrize("is_changed", [False, True])
async def test_an_approval_after_a_restart_is_for_the_same_text_only(
    tmp_path: Path, is_changed: bool
) -> None:
    chat = FakeChat()
    async with shared_harness(tmp_path, plays(propose(old=OLD, text=NEW)), chat) as here:
        await add_people(here)
        await chat.says("be cheerful", user="ann", name="ann", chat="ann")
        await asked(here)
    chat.inlet = None
    base = DEFAULT_SOUL.replace("You are helpful first", "You are fast") if is_changed else ""
    if base:
        soul(tmp_path).write_text(base)
    async with shared_harness(tmp_path, FakeModel(say("So be it.")), chat) as here:
        await asked(here)
        await answer(here, "Approve")
        await chat.sees_text("So be it.")
        expected = base or DEFAULT_SOUL.replace(OLD, NEW)
        assert soul(tmp_path).read_text() == expected
        assert (
            "differs from the one that an owner was shown" in results(here.model)[0]
        ) == is_changed


async def test_an_invalid_proposal_is_shown_to_nobody(tmp_path: Path) -> None:
    rows = [
        ({"text": DEFAULT_SOUL}, "Nothing to do: SOUL.md already says that."),
        ({"text": " \n"}, "`text` is empty"),
        ({"old": "You are nobody.", "text": "x"}, "`old` does not occur"),
        ({"old": "You", "text": "x"}, "`old` occurs several times"),
        ({"text": "You are \u202eadA."}, "changes the text direction"),
        ({"text": "Your key is sk-ant-" + "a" * 40}, "what looks like an Anthropic key"),
        ({"text": "x" * 20_001}, "it would have 20,002 characters, and the limit is 20,000"),
        ({"text": "word " * 2000}, "too long to be read at once"),
    ]
    async with shared_harness(tmp_path, plays()) as here:
        await add_people(here)

        async def check(row: tuple[dict[str, str], str]) -> None:
            here.model.plays[:] = [propose(**row[0]), say("Well.")]
            assert await here.says("ann", "change") == "Well."
            assert row[1] in results(here.model)[-1]
            assert soul(tmp_path).read_text() == DEFAULT_SOUL

        await await_each(rows, check)


async def test_rooms_have_no_such_tool(tmp_path: Path) -> None:
    async with shared_harness(tmp_path) as here:
        (direct, *_) = await here.asks("ann", "hi")
        (room, *_) = await here.asks("ann", "hi", room="den")
        name = "propose_identity"
        assert name in list_offered(direct)
        assert name not in list_offered(room)


async def test_a_hand_edit_is_a_ledger_row_and_reported_once(tmp_path: Path) -> None:
    chat = FakeChat()
    async with shared_harness(tmp_path, plays(), chat) as here:
        await add_people(here)
    chat.inlet = None
    soul(tmp_path).write_text("You are Bo.\n")
    async with shared_harness(tmp_path, FakeModel(), chat) as here:
        reported = await chat.sees_text("Someone changed my character in the file SOUL.md.")
        await here.harness.at_rest()
        whole = "\n".join(one.text for one in chat.shown if one.chat_id == "cleo")
        assert "\n-You are Talaria, a personal assistant." in whole
        assert whole.rstrip("`\n").endswith("\n+You are Bo.")
        assert (reported.chat_id, reported.is_silent) == ("cleo", True)
        row = (await here.harness.read(find_rows))[-1]
        assert (row.origin.actor, row.change.before) == ("hand", DEFAULT_SOUL)
        gateway = here.harness.gateway
        task = Task(
            id=None,  # type: ignore[arg-type]
            kind=identity.SOUL_TASK,
            person_id=None,  # type: ignore[arg-type]
            payload=str(row.id),
            attempts=1,
        )
        await Notices(gateway.database, gateway.dispatcher).notify_soul_change(task, now())
        await here.harness.at_rest()
        assert (
            len(
                [
                    one
                    for one in chat.shown
                    if "Someone changed my character in the file SOUL.md" in one.text
                ]
            )
            == 1
        )


async def test_a_hand_edit_is_noticed_at_the_next_new_prompt(tmp_path: Path) -> None:
    async with shared_harness(tmp_path) as here:
        await here.says("ann", "hi")
        soul(tmp_path).write_text("You are Bo.\n")
        (request, *_) = await here.asks("bob", "hi")
        assert request.system.startswith("You are Bo.")
        rows = await here.harness.read(find_rows)
        assert [row.change.after for row in rows] == [DEFAULT_SOUL, "You are Bo.\n"]
        await here.says("bob", "/new")
        await here.says("bob", "hi")
        assert len(await here.harness.read(find_rows)) == 2


@pytest.fixture
async def database(tmp_path: Path) -> Database:
    return await open_database(tmp_path / "state.db")


async def test_a_write_lost_in_a_crash_is_repeated(tmp_path: Path, database: Database) -> None:
    soul(tmp_path).write_text("You are Ada.\n")
    one = SoulFile(database, tmp_path)
    await one.notice(1)
    base = await one.read()
    origin = ledger.Origin(actor="turn:1", now=2, call_key="1:a")
    assert await one.change(base, "You are Bo.\n", origin)
    soul(tmp_path).write_text("You are Ada.\n")

    def forget_the_write(connection: Connection) -> None:
        team = blocks.find_team(connection)
        assert team
        known = ledger.find_projection(connection, person_id=team, target="soul")
        assert known
        undone = ledger.Projection(current=known.current, previous=base.hash, base=known.base)
        ledger.save_projection(connection, person_id=team, target="soul", projection=undone)

    await database.write("crash", forget_the_write)
    await one.notice(3)
    assert soul(tmp_path).read_text() == "You are Bo.\n"
    await asyncio.gather(*(one.notice(4) for _ in range(5)))
    assert len(await database.read(find_rows)) == 2
    assert await one.is_made("1:a")
    await database.close()
