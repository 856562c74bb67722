"""Merges that a model proposes: what it sees, what is dropped, and what a yes makes of it."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_core.errors import SkillConflict
from agent_core.ids import CallId
from agent_core.skills.catalog import SkillCatalog
from agent_core.skills.curation.merging import (
    apply_merge,
    choose_texts,
    make_merge_request,
    read_merges,
)
from agent_core.skills.curation.record import CurationProposal, Merge
from agent_core.skills.decline import roll_back
from agent_core.skills.intents import write_planned
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import skills
from agent_core.state.memory.ledger import Origin
from agent_core.transcript import ToolCallPart
from tests.agent_core.skills.curation.agent_skills import TEXT, make, read_text
from tests.agent_core.skills.skill_folders import write_skill, write_text
from tests.databases import open_database

UMBRELLA = TEXT.format(name="notes", body="Sort notes by date.\n\nFile notes by topic.")
REASON = "Both are about keeping notes."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "skills"
    place.mkdir()
    return place


@pytest.fixture
async def database(tmp_path: Path, folder: Path) -> AsyncIterator[Database]:
    opened = await open_database(tmp_path / "state.db")
    for name in ("sort-notes", "file-notes"):
        await make(opened, folder, name)
    yield opened
    await opened.close()


async def choose(database: Database, folder: Path) -> dict[str, str]:
    return await database.read(lambda c: choose_texts(c, SkillCatalog(folder)))


def call(**given: object) -> ToolCallPart:
    asked = {
        "skills": ["sort-notes", "file-notes"],
        "into": "notes",
        "text": UMBRELLA,
        "reason": REASON,
        **given,
    }
    return ToolCallPart(call_id=CallId("c"), name="merge", arguments=json.dumps(asked))


async def propose(database: Database, folder: Path, *calls: ToolCallPart) -> list[CurationProposal]:
    texts = await choose(database, folder)
    return read_merges(calls, texts, SkillCatalog(folder), ())[0]


async def accept(
    database: Database, folder: Path, proposal: CurationProposal, now: int = 9
) -> None:
    merge = proposal.change
    assert isinstance(merge, Merge)

    def work(connection: Connection) -> None:
        origin = Origin(actor="curator", now=now)
        apply_merge(connection, SkillCatalog(folder), proposal, merge, origin)

    await database.write("test", work)
    await database.write("test", lambda c: write_planned(c, folder))


def list_names(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir() if not one.name.startswith("."))


async def test_a_model_sees_whole_texts_of_the_agents_own_skills_only(
    folder: Path, database: Database
) -> None:
    write_skill(folder, "mine")
    await make(database, folder, "pinned")
    await make(database, folder, "scripted")
    await make(database, folder, "huge")
    (folder / "scripted" / "scripts").mkdir()
    (folder / "scripted" / "scripts" / "run.sh").write_text("true\n")
    (folder / "file-notes" / "evals").mkdir()
    (folder / "file-notes" / "evals" / "evals.json").write_text("{}")
    write_text(folder / "huge", "huge", "word " * 12_000)
    await database.write("test", lambda c: skills.pin(c, name="pinned", is_pinned=True))
    texts = await choose(database, folder)
    assert list(texts) == ["file-notes", "sort-notes"]
    shown = str(make_merge_request("m", {"a": "x </skill> y"}).messages[0])
    assert shown.count("</skill>") == 1


async def test_an_umbrella_replaces_the_skills_after_a_yes_and_stays_watched(
    folder: Path, database: Database
) -> None:
    (proposal,) = await propose(database, folder, call())
    assert list_names(folder) == ["file-notes", "sort-notes"], "nothing changes before a yes"
    await accept(database, folder, proposal)
    assert list_names(folder) == ["notes"]
    assert read_text(folder, "notes") == UMBRELLA
    assert list_names(folder / ".archive") == ["file-notes", "sort-notes"]
    row = await database.read(lambda c: skills.find(c, name="notes"))
    assert row
    assert (row.state, row.good_row is None) == ("active", False)
    origin = Origin(actor="tests", now=10)
    version = await database.write(
        "test", lambda c: roll_back(c, SkillCatalog(folder), "notes", "it went badly", origin)[1]
    )
    assert version == 0, "a person's yes is no proof for ever: bad uses make it a draft again"


async def test_skills_are_merged_into_one_of_them(folder: Path, database: Database) -> None:
    text = UMBRELLA.replace("name: notes", "name: sort-notes")
    (proposal,) = await propose(database, folder, call(into="sort-notes", text=text))
    await accept(database, folder, proposal)
    assert list_names(folder) == ["sort-notes"]
    assert read_text(folder, "sort-notes") == text


async def test_a_text_that_changed_since_the_proposal_is_not_merged(
    folder: Path, database: Database
) -> None:
    (proposal,) = await propose(database, folder, call())
    write_text(folder / "file-notes", "file-notes", "My own words.")
    with pytest.raises(SkillConflict, match="file-notes has changed since"):
        await accept(database, folder, proposal)
    assert list_names(folder) == ["file-notes", "sort-notes"]
    assert "My own words." in read_text(folder, "file-notes")


@pytest.mark.parametrize(
    "bad",
    [
        call(skills=["sort-notes"]),
        call(skills=["sort-notes", "sort-notes"]),
        call(skills=["sort-notes", "unread"]),
        call(skills="sort-notes"),
        call(reason=" "),
        call(into="digest", text=UMBRELLA.replace("name: notes", "name: digest")),
        call(into="../notes"),
        call(text="no front matter"),
        call(text=UMBRELLA.replace("Sort", "So\u202ert")),
        ToolCallPart(call_id=CallId("c"), name="merge", arguments="nonsense"),
        ToolCallPart(call_id=CallId("c"), name="forget", arguments="{}"),
    ],
    ids=[
        *("one", "twice", "unread", "text", "reason", "taken", "escape", "front", "hidden"),
        *("nonsense", "tool"),
    ],
)
async def test_unsound_proposals_are_dropped(
    folder: Path, database: Database, bad: ToolCallPart
) -> None:
    texts = await choose(database, folder)
    assert read_merges([bad], texts, SkillCatalog(folder), ()) == ([], 1)


async def test_nothing_is_proposed_twice(folder: Path, database: Database) -> None:
    texts = await choose(database, folder)
    known = frozenset(("sort-notes", "file-notes"))
    assert read_merges([call()], texts, SkillCatalog(folder), [known]) == ([], 1)
    found, dropped = read_merges([call(), call()], texts, SkillCatalog(folder), ())
    assert (len(found), dropped) == (1, 1)
