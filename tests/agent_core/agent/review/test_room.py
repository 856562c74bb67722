"""Room in a full list: what moves first, and that a repeat after a crash loses nothing."""

from dataclasses import replace

import pytest

from agent_core.agent.review.room import Room, rank_entries
from agent_core.memory.edits_within_limits import Edit, Refusal
from agent_core.memory.store import MemoryLimits, MemoryStore
from agent_core.state.conversations import messages, turns
from agent_core.state.engine.database import Connection
from agent_core.state.memory.ledger import Origin
from agent_core.transcript import user_message
from tests.agent_core.agent.review.rig import Rig
from tests.agent_core.state.rows import add_turn

DAY = 86_400_000
TODAY = 400 * DAY
LINES = (
    "Collects stamps from Norway",
    "Plays the cello on Sundays",
    "Prefers short answers",
    "Has a garden with roses",
)
NEW = "Prefers metric units"


def open_memory(rig: Rig, *, is_wide: bool = False) -> MemoryStore:
    return MemoryStore(
        rig.database, rig.home / "memories", MemoryLimits(user=180 if is_wide else 128)
    )


async def write(rig: Rig, text: str, day: int, key: str = "") -> None:
    """Keep an entry on a day."""
    person = rig.dialogue.person
    edit = Edit(action="add", target="user", text=text)
    origin = Origin(actor="turn:1", now=day * DAY, call_key=key or f"1:{text}")
    outcome = await open_memory(rig, is_wide=True).change(person.id, person.slug, edit, origin)
    assert not isinstance(outcome, Refusal)


async def say(rig: Rig, text: str, day: int) -> None:
    """Say something on a day."""

    def work(connection: Connection) -> None:
        turn_id = add_turn(connection, rig.dialogue, now=day * DAY)
        connection.execute("UPDATE turns SET account_id = 1 WHERE id = ?", (turn_id,))
        place = replace(rig.dialogue.shelf(turn_id), audience="private")
        messages.append(connection, place, [user_message(text)], now=day * DAY)
        turns.end(connection, turn_id=turn_id, state="answered", reason="", now=day * DAY)

    await rig.database.write("say", work)


async def fill(rig: Rig) -> None:
    """Keep all entries long ago, and use some of them since."""
    for line in LINES:
        await write(rig, line, 10, "review:1:1:0@answers" if "answers" in line else "")
    for day in (380, 390):
        await say(rig, "which cello strings are good?", day)
    await say(rig, "my roses have lice", 200)


async def test_what_was_never_used_moves_first_and_what_shapes_answers_last(rig: Rig) -> None:
    await fill(rig)
    ranked = await rig.database.read(
        rank_entries, person_id=rig.person_id, target="user", now=TODAY
    )
    stamps, cello, answers, roses = LINES
    assert [one.text for one in ranked] == [stamps, roses, cello, answers]
    assert [one.days for one in ranked] == [0, 1, 2, 0]


@pytest.mark.parametrize(
    "line",
    [
        "Is allergic to penicillin",
        "Nimmt Medikamente gegen Bluthochdruck",
        "Est diabétique de type 1",
        "Tiene alergia a las nueces",
        "Has asthma",
    ],
)
async def test_health_that_never_comes_up_does_not_move_first(rig: Rig, line: str) -> None:
    await fill(rig)
    await write(rig, line, 5, f"1:{line}")
    ranked = await rig.database.read(
        rank_entries, person_id=rig.person_id, target="user", now=TODAY
    )
    texts = [one.text for one in ranked]
    assert texts[0] == LINES[0]
    assert texts.index(line) >= len(texts) - 2, "beside how answers are wanted"


async def test_a_word_of_every_message_and_a_new_entry_are_no_reason_to_move(rig: Rig) -> None:
    await fill(rig)
    for day in range(300, 400):
        await say(rig, "stamps, what is new?", day)
    await write(rig, "Owns a red kite", 395, "1:kite")
    ranked = await rig.database.read(
        rank_entries, person_id=rig.person_id, target="user", now=TODAY
    )
    assert ranked[0].text == LINES[0]
    assert ranked[0].days == 0
    assert [one.text for one in ranked].index("Owns a red kite") > 1


async def test_what_has_ended_moves_first(rig: Rig) -> None:
    await fill(rig)
    await write(rig, "Away (until 1971-01-02)", 395, "1:away")
    ranked = await rig.database.read(
        rank_entries, person_id=rig.person_id, target="user", now=TODAY
    )
    assert ranked[0].text == "Away (until 1971-01-02)"


async def test_a_repeat_after_a_crash_copies_once_and_loses_nothing(rig: Rig) -> None:
    await fill(rig)
    person, memory = rig.dialogue.person, open_memory(rig)
    edit = Edit(action="add", target="user", text=NEW)
    origin = Origin(actor="review:1:9", now=TODAY, call_key="review:1:9:0")
    refusal = await memory.change(person.id, person.slug, edit, origin)
    assert isinstance(refusal, Refusal)
    room = Room(database=rig.database, memory=memory, now=lambda: TODAY)
    await room._archive(person, edit, origin, refusal)  # a crash comes before the list changes
    for _ in range(2):
        row = await room.write(person, edit, origin, refusal)
        assert row is not None
        assert row.change.after == NEW
    known = await memory.snapshot(person.id, person.slug, TODAY)
    assert known.user == (*LINES[1:], NEW)

    def list_archived(connection: Connection) -> list[tuple[str, str]]:
        return connection.execute("SELECT text, tags FROM archive").fetchall()

    assert [one[0] for one in await rig.database.read(list_archived)] == [LINES[0]]


async def test_an_entry_that_the_person_edits_in_between_is_not_moved(rig: Rig) -> None:
    await fill(rig)
    person, memory = rig.dialogue.person, open_memory(rig)
    edit = Edit(action="add", target="user", text=NEW)
    origin = Origin(actor="review:1:9", now=TODAY, call_key="review:1:9:0")
    refusal = await memory.change(person.id, person.slug, edit, origin)
    assert isinstance(refusal, Refusal)
    path = memory.locate("human", person.slug, "user")
    path.write_text(path.read_text().replace("stamps from Norway", "stamps from Iceland"))
    room = Room(database=rig.database, memory=memory, now=lambda: TODAY)
    await room.write(person, edit, origin, refusal)
    known = await memory.snapshot(person.id, person.slug, TODAY)
    assert "Collects stamps from Iceland" in known.user
