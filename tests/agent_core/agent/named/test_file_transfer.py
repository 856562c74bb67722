"""Agents come in from files and go out to files: all or nothing, and whole again."""

import json
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agent_core.agent.caches import SessionCache
from agent_core.agent.named.agent_files import AgentChange
from agent_core.agent.named.editor import AgentEditor, Author, Wanted
from agent_core.agent.named.file_transfer import export_agent, import_agent
from agent_core.agent.named.past_conversation import PastConversation, stage
from agent_core.errors import AgentBroken, AgentRefused, StoreError
from agent_core.ids import ConversationId, PersonId, SessionId, TurnId
from agent_core.memory.sync import MemoryList, find_list
from agent_core.state.conversations import (
    past_import,
    private_history,
    sessions,
    staged_import,
    transcripts,
)
from agent_core.state.conversations.past_import import PastTurn
from agent_core.state.conversations.sessions import NewConversation
from agent_core.state.engine import meta
from agent_core.state.engine.database import Connection
from agent_core.state.memory import blocks
from agent_core.state.search import message_index
from agent_core.state.search.search_scope import SearchFilter
from agent_core.tools.selection.call_rules import CallRule
from agent_core.transcript import user_message
from tests.agent_core.agent.bench import Bench
from tests.agent_core.agent.named.editing import make_editor

DATA = (Path(__file__).parent / "letta" / "present.af").read_bytes()
OWNER = Author()


@pytest.fixture
def editor(bench: Bench) -> AgentEditor:
    return make_editor(bench)


async def count_all(bench: Bench) -> tuple[int, ...]:
    def count(connection: Connection) -> tuple[int, ...]:
        tables = ("blocks", "people", "ledger", "sessions", "turns", "messages", "audit", "meta")
        rows = (connection.execute(f"SELECT COUNT(*) FROM {one}").fetchone() for one in tables)
        return tuple(row[0] for row in rows)

    return await bench.database.read(count)


def list_folders(bench: Bench) -> list[str]:
    place = bench.home / "agents"
    return sorted(one.name for one in place.iterdir()) if place.exists() else []


async def list_said(bench: Bench) -> list[tuple[str, str]]:
    def read(connection: Connection) -> list[tuple[str, str]]:
        (row,) = connection.execute("SELECT id FROM conversations WHERE agent <> ''").fetchall()
        said = past_import.walk_said(connection, conversation_id=row[0], person_id=bench.person.id)
        return [(message.role, message.text) for message, _ in said]

    return await bench.database.read(read)


async def test_an_agent_comes_in_with_its_blocks_and_messages(
    bench: Bench, editor: AgentEditor
) -> None:
    made = await import_agent(editor, DATA, bench.person.id, OWNER)
    assert (made.name, made.messages) == ("anna-s-service", 6)
    assert made.blocks == ("anna-s-service-human", "anna-s-service-persona")
    agent = editor.files.agents.find("anna-s-service")
    assert agent.blocks == made.blocks
    assert agent.rules[0].must_run_first

    def look(connection: Connection) -> list[tuple[str, ...]]:
        seen = blocks.list_visible(connection, person_id=bench.person.id)
        lists = [MemoryList(person_id=one.person_id, target="memory", limit=0) for one in seen]
        return [find_list(connection, one) for one in lists]

    assert await bench.database.read(look) == [
        ("Name: Ada", "Lives in Graz"),
        ("I am patient.",),
    ]
    assert (await list_said(bench))[0] == ("user", "Where is my order 4711?")
    assert list_folders(bench) == ["anna-s-service"]


async def test_a_second_import_changes_nothing(bench: Bench, editor: AgentEditor) -> None:
    await import_agent(editor, DATA, bench.person.id, OWNER)
    before = await count_all(bench)
    with pytest.raises(AgentRefused, match="there is an agent anna-s-service already"):
        await import_agent(editor, DATA, bench.person.id, OWNER)
    assert await count_all(bench) == before
    made = await import_agent(editor, DATA, bench.person.id, OWNER, name="ben")
    assert made.blocks == ("ben-human", "ben-persona")


@pytest.mark.parametrize("name", ["../up", "default", "a" * 33, "Ä"])
async def test_a_bad_name_is_refused(bench: Bench, editor: AgentEditor, name: str) -> None:
    before = await count_all(bench)
    with pytest.raises(AgentRefused, match="is no name"):
        await import_agent(editor, DATA, bench.person.id, OWNER, name=name)
    assert (await count_all(bench), list_folders(bench)) == (before, [])


async def test_an_agent_of_talaria_survives_a_round_trip(bench: Bench, editor: AgentEditor) -> None:
    rules = (CallRule(tool="web_search", most_per_turn=2, then_only=("web_fetch",)),)
    change = AgentChange(
        soul="You look.",
        description="Looks",
        tools=("web_search", "web_fetch", "chart"),
        disabled=("terminal",),
        tags=("work",),
        rules=rules,
    )
    editor.files.create("spy", change)
    await bench.ask("hello")
    first = await import_agent(editor, DATA, bench.person.id, OWNER)
    for name, person in (("spy", bench.person.id), (first.name, bench.person.id)):
        data = await export_agent(editor, name, person)
        made = await import_agent(editor, data, person, OWNER, name=f"{name[:20]}-two")
        assert made.left_out == ()
        one, two = editor.files.read(name), editor.files.read(f"{name[:20]}-two")
        for field in ("soul", "description", "tools", "disabled", "tags", "rules", "model"):
            assert getattr(one, field) == getattr(two, field), field
        again = await export_agent(editor, f"{name[:20]}-two", person)
        for part in ("blocks", "messages"):
            assert texts(again, part) == texts(data, part)
    assert made.messages == 6


def texts(data: bytes, part: str) -> list[Any]:
    document = json.loads(data)
    if part == "blocks":
        return [(one["label"].split("-")[-1], one["value"]) for one in document["blocks"]]
    return [(one["role"], one["content"]) for one in document["agents"][0]["messages"]]


async def test_a_crash_after_the_commit_is_finished_by_the_next_start(
    bench: Bench, editor: AgentEditor
) -> None:
    def fail(connection: Connection, session_id: SessionId | None) -> None:
        assert session_id
        raise StoreError("the disk is full")

    said = tuple((user_message(f"Word {number}."), 2) for number in range(250))
    past = PastConversation(
        person_id=bench.person.id,
        title="cut.af",
        turns=[PastTurn(began_at=1, ended_at=2, said=said)],
    )
    before = await count_all(bench)
    with pytest.raises(StoreError):
        await editor.bring("cut", AgentChange(soul="You are cut off."), fail, past, OWNER)
    assert (await count_all(bench), list_folders(bench)) == (before, [])
    draft = editor.files.prepare("cut", AgentChange(soul="You are cut off."))
    editor.files.prepare("lost", AgentChange())
    key = "agent_draft:cut"
    await bench.database.write("test.cut", meta.put, key=key, value=draft.name)
    await make_editor(bench).finish_earlier()
    assert list_folders(bench) == ["cut"], "and what no rows await is gone"
    assert editor.files.agents.find("cut").soul == "You are cut off."
    assert await bench.database.read(meta.get, key=key) is None


async def test_a_staged_conversation_is_seen_by_nobody_and_goes_with_the_next_start(
    bench: Bench, editor: AgentEditor
) -> None:
    before = await count_all(bench)
    said = tuple((user_message(f"The boiler, part {number}."), 2) for number in range(250))
    turns = [PastTurn(began_at=1, ended_at=2, said=said)] * 2
    past = PastConversation(person_id=bench.person.id, title="cut.af", turns=turns)
    ids = await SessionCache(bench.database).id_allocator()
    session_id = await stage(bench.database, ids, past, bench.time)
    assert (await count_all(bench))[5] == before[5] + 500

    def look(connection: Connection) -> tuple[int, int]:
        listed = transcripts.list_conversations(
            connection, person_id=bench.person.id, before=1 << 60, limit=9
        )
        return len(listed), count_indexed(connection, bench.person.id)

    shown = await bench.database.read(look)
    assert shown[1] == 0
    newest = partial(private_history.find_newest_turn, person_id=bench.person.id)
    assert await bench.database.read(newest) is None, "an open page has no news"
    await make_editor(bench).finish_earlier()
    assert await count_all(bench) == before

    session_id = await stage(bench.database, ids, past, bench.time)
    into = NewConversation(key="k", kind="direct", person_id=bench.person.id, is_direct=True)
    publish = partial(staged_import.publish, session_id=session_id, into=into, now=bench.time)
    assert await bench.database.write("test.publish", publish)
    assert await bench.database.read(look) == (shown[0] + 1, 0), "a crash before the index"
    await make_editor(bench).finish_earlier()
    assert await bench.database.read(look) == (shown[0] + 1, 500)
    assert not await bench.database.write("test.again", partial(publish, session_id=SessionId(9)))
    assert await bench.database.read(newest) is not None


async def test_each_piece_of_an_index_begins_behind_the_last(bench: Bench) -> None:
    said = tuple((user_message("x"), 2) for _ in range(2000))
    past = PastConversation(
        person_id=bench.person.id,
        title="long.af",
        turns=[PastTurn(began_at=1, ended_at=2, said=said)],
    )
    ids = await SessionCache(bench.database).id_allocator()
    session_id = await stage(bench.database, ids, past, bench.time)
    into = NewConversation(key="k", kind="direct", person_id=bench.person.id, is_direct=True)
    publish = partial(staged_import.publish, session_id=session_id, into=into, now=bench.time)
    await bench.database.write("test.publish", publish)

    def work(connection: Connection) -> int:
        """Index a piece, and return the steps of SQLite's machine in hundreds."""
        steps = 0

        def count() -> int:
            nonlocal steps
            steps += 1
            return 0

        connection.set_progress_handler(count, 100)
        try:
            staged_import.index_next(connection, session_id=session_id, most=20)
        finally:
            connection.set_progress_handler(None, 0)
        return steps

    pieces = [await bench.database.write("test.index", work) for _ in range(95)]
    assert max(pieces[-5:]) < 2 * max(pieces[:5]), pieces


async def test_an_import_takes_no_number_of_a_turn_that_is_about_to_begin(bench: Bench) -> None:
    sessions_known = SessionCache(bench.database)
    taken = (await sessions_known.id_allocator()).next_turn()
    await import_agent(
        make_editor(bench, sessions_known.id_allocator), DATA, bench.person.id, OWNER
    )

    def list_turns(connection: Connection) -> list[int]:
        return [row[0] for row in connection.execute("SELECT id FROM turns")]

    assert taken not in await bench.database.read(list_turns)


def count_indexed(connection: Connection, person_id: PersonId) -> int:
    field = SearchFilter(person_id=person_id, scope=f"p{person_id}", except_turn=TurnId(0))
    return message_index.count_messages(connection, field=field, most=9999)


async def test_a_folder_that_can_not_be_written_leaves_nothing(
    bench: Bench, editor: AgentEditor
) -> None:
    shutil.rmtree(bench.home / "agents", ignore_errors=True)
    (bench.home / "agents").write_text("in the way")
    before = await count_all(bench)
    with pytest.raises(AgentBroken, match="can't be read: Not a directory"):
        await import_agent(editor, DATA, bench.person.id, OWNER)
    assert await count_all(bench) == before


@pytest.mark.parametrize("way", ["import", "create"])
async def test_a_new_agent_begins_anew_after_an_archived_one_of_its_name(
    bench: Bench, editor: AgentEditor, way: str
) -> None:
    name = "anna-s-service"
    new = NewConversation(
        key=sessions.name_conversation(name, sessions.name_direct(bench.person.id)),
        kind="direct",
        agent=name,
        person_id=bench.person.id,
        is_direct=True,
    )

    def talk(connection: Connection) -> ConversationId:
        conversation = sessions.ensure_conversation(connection, new, now=bench.time)
        session_id = SessionId(sessions.find_newest(connection) + 1)
        past_import.begin_session(
            connection,
            conversation,
            session_id=session_id,
            title="Old",
            began_at=bench.time,
        )
        connection.execute("UPDATE sessions SET ended_at = NULL")
        return conversation.id

    async def is_open() -> bool:
        found = await bench.database.read(sessions.find_open, conversation_id=conversation_id)
        return found is not None

    wanted = Wanted(agent=AgentChange(soul="You are the new one.", model="claude-sonnet-5-5"))
    await editor.do("create", name, wanted, OWNER)
    conversation_id = await bench.database.write("test.talk", talk)
    await editor.do("archive", name, Wanted(), OWNER)
    await editor.do("restore", name, Wanted(), OWNER)
    assert await is_open(), "an agent that comes back goes on"
    with pytest.raises(AgentRefused):
        await editor.do("create", name, replace(wanted, agent=AgentChange(soul="Me")), OWNER)
    assert await is_open()
    await editor.do("archive", name, Wanted(), OWNER)
    if way == "import":
        await import_agent(editor, DATA, bench.person.id, OWNER)
    else:
        await editor.do("create", name, wanted, OWNER)
    assert not await is_open()
