"""Forgetting what one said in a group: from anywhere, only one's own words, and for good."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agent_core.state.engine.database import Connection
from gateway.texts import memory, privacy
from tests.fakes.chat import Shown
from tests.integration.memory.noter import Noter
from tests.integration.privacy.deletions import settled
from tests.integration.shared_harness import SharedHarness, shared_harness


def note(text: str, **fields: str) -> str:
    return "Mind this: " + json.dumps({"action": "add", "text": text} | fields)


@asynccontextmanager
async def group_of_ann_and_bob(home: Path) -> AsyncIterator[SharedHarness]:
    """Open a gateway in which Ann and Bob have each noted something in the group "Den"."""
    async with shared_harness(home, Noter()) as here:
        await here.says("cleo", "hello")
        await here.make_owner("cleo")
        for who in ("ann", "bob"):
            await here.says(who, "hello")
            await here.says(who, note(f"{who} flies to Lisbon"), room="den")
        yield here


def notes_of(home: Path) -> str:
    return (home / "memories" / "rooms" / "den" / "MEMORY.md").read_text()


def last_in(here: SharedHarness, chat: str) -> Shown:
    return [one for one in here.harness.chat.shown if one.chat_id == chat][-1]


async def confirm(here: SharedHarness, who: str, label: str, chat: str) -> str:
    """Press a button as somebody, wait until it is done, and return the report."""
    await here.harness.chat.press(label, user=who, name=who, chat=chat, direct=chat == who)
    await here.harness.at_rest()
    await settled(here.harness)
    return last_in(here, chat).text


async def test_a_direct_chat_also_reaches_own_notes_in_groups(tmp_path: Path) -> None:
    async with group_of_ann_and_bob(tmp_path) as here:
        asked = await here.says("ann", "/forget lisbon")
        assert "\n- Notes in the group “Den”: 1\n" in asked
        assert "ann flies to Lisbon" in asked
        assert "bob" not in asked
        done = await confirm(here, "ann", privacy.FORGET_ENTRIES(), "ann")
        assert "\n- Notes in the group “Den”: 1\n" in done
        assert notes_of(tmp_path) == "- bob flies to Lisbon\n"
        found = await here.says("ann", "/forget flies lisbon")
        assert "Den" not in found


async def test_no_undo_brings_forgotten_words_back(tmp_path: Path) -> None:
    async with group_of_ann_and_bob(tmp_path) as here:
        await here.says("ann", "/memory forget ann", room="den")
        assert notes_of(tmp_path) == "- bob flies to Lisbon\n"
        removed = last_in(here, "den")
        assert removed.labels == [memory.UNDO()]
        asked = await here.says("ann", '/forget "ann flies"', room="den")
        assert "ann flies" not in asked
        said = await confirm(here, "ann", privacy.ERASE_YES(), "den")
        assert said.startswith("Deleted permanently: 1 note")
        key = removed.keyboard[0].key
        await here.harness.chat.press_key(
            key, removed.id, user="ann", name="ann", chat="den", direct=False
        )
        await here.harness.at_rest()
        assert removed.text.endswith("That was deleted permanently, so I can't restore it.")
        assert notes_of(tmp_path) == "- bob flies to Lisbon\n"


async def test_a_member_forgets_only_own_notes_in_the_group(tmp_path: Path) -> None:
    async with group_of_ann_and_bob(tmp_path) as here:
        await here.says("ann", "My secret is Lisbon")
        asked = await here.says("ann", "/forget lisbon", room="den")
        assert "ann flies to Lisbon" in asked
        assert "bob" not in asked
        assert "secret" not in asked
        await confirm(here, "ann", privacy.ERASE_YES(), "den")
        assert notes_of(tmp_path) == "- bob flies to Lisbon\n"
        assert await here.says("ann", "/forget lisbon", room="den") == privacy.FORGET_NOTHING_HERE()
        assert "My secret is Lisbon" in await here.says("ann", "/forget lisbon")


async def test_an_owner_forgets_any_note_in_the_group_but_not_from_elsewhere(
    tmp_path: Path,
) -> None:
    async with group_of_ann_and_bob(tmp_path) as here:
        assert await here.says("cleo", "/forget lisbon") == privacy.FORGET_NOTHING()
        await here.says("cleo", "/forget lisbon", room="den")
        said = await confirm(here, "cleo", privacy.ERASE_YES(), "den")
        assert said.startswith("Deleted permanently: 2 notes")
        assert notes_of(tmp_path) == ""


async def test_own_words_go_from_rewordings_of_others(tmp_path: Path) -> None:
    async with group_of_ann_and_bob(tmp_path) as here:
        again = note("ann is in Lisbon, says bob", action="replace", old="ann flies to Lisbon")
        await here.says("bob", again, room="den")
        asked = await here.says("ann", "/forget lisbon")
        assert "ann flies to Lisbon" in asked
        assert "says bob" not in asked
        await confirm(here, "ann", privacy.FORGET_ENTRIES(), "ann")
        assert notes_of(tmp_path) == "- bob flies to Lisbon\n"


async def test_a_wording_before_ones_own_stays(tmp_path: Path) -> None:
    """Ann rewords Bob's note: what she forgets is hers, and what he said can come back."""
    async with group_of_ann_and_bob(tmp_path) as here:
        again = note("bob sails to Lisbon", action="replace", old="bob flies to Lisbon")
        await here.says("ann", again, room="den")
        await here.says("ann", '/forget "bob sails"', room="den")
        await confirm(here, "ann", privacy.ERASE_YES(), "den")
        assert notes_of(tmp_path) == "- ann flies to Lisbon\n"
        assert b"bob sails to Lisbon" not in _ledger(await _dump(here))
        assert b"bob flies to Lisbon" in _ledger(await _dump(here))


async def test_prompts_of_the_group_are_composed_again(tmp_path: Path) -> None:
    async with group_of_ann_and_bob(tmp_path) as here:
        await here.says("bob", "/new", room="den")
        (before,) = await here.asks("bob", "hello", room="den")
        assert "ann flies to Lisbon" in before.system
        await here.says("ann", "/forget lisbon", room="den")
        await confirm(here, "ann", privacy.ERASE_YES(), "den")
        (after,) = await here.asks("bob", "hello again", room="den")
        assert "ann flies to Lisbon" not in after.system
        assert "bob flies to Lisbon" in after.system


async def test_removed_private_notes_are_found_too(tmp_path: Path) -> None:
    """A removed note whose messages are gone can still come back by its Undo."""
    async with shared_harness(tmp_path, Noter()) as here:
        await here.says("ann", "hello")
        here.remember("ann", "Was in Lisbon")
        await here.says("ann", "/memory forget lisbon")
        removed = last_in(here, "ann")
        asked = await here.says("ann", "/forget lisbon")
        assert "\n- Something deleted or changed that /undo could still bring back\n" in asked
        await confirm(here, "ann", privacy.FORGET_ENTRIES(), "ann")
        key = removed.keyboard[0].key
        await here.harness.chat.press_key(key, removed.id, user="ann", name="ann", chat="ann")
        await here.harness.at_rest()
        assert removed.text.endswith("That was deleted permanently, so I can't restore it.")


async def _dump(here: SharedHarness) -> list[tuple[str | None, str | None]]:
    return await here.harness.read(
        lambda c: c.execute("SELECT before, after FROM ledger").fetchall()
    )


def _ledger(rows: list[tuple[str | None, str | None]]) -> bytes:
    return "\n".join(text or "" for row in rows for text in row).encode()


async def test_a_frozen_prompt_keeps_no_forgotten_note_of_several_lines(tmp_path: Path) -> None:
    async with group_of_ann_and_bob(tmp_path) as here:
        await here.says("ann", note("ann keeps\n# a boat\nin Oslo"), room="den")
        await here.says("bob", "/new", room="den")
        await here.says("bob", "hello", room="den")

        async def list_prompts() -> str:
            rows = await here.harness.read(
                lambda c: c.execute("SELECT system FROM prompts").fetchall()
            )
            return "\n".join(row[0] for row in rows)

        assert "Oslo" in await list_prompts()
        await here.says("ann", "/forget oslo")
        await confirm(here, "ann", privacy.FORGET_ENTRIES(), "ann")
        assert "Oslo" not in await list_prompts()


async def count_falcons(here: SharedHarness) -> int:
    """Count the stored messages with the word."""

    def look(connection: Connection) -> int:
        where = "parts LIKE '%falcon%' OR text LIKE '%falcon%'"
        return int(connection.execute(f"SELECT COUNT(*) FROM messages WHERE {where}").fetchone()[0])

    return await here.harness.read(look)


async def is_seen(here: SharedHarness, who: str, room: str = "") -> bool:
    (request,) = await here.asks(who, "hi", room=room)
    return "falcon" in f"{request.system}{request.messages}"


@pytest.mark.parametrize("place", ["ann", "den"])
async def test_what_the_group_was_told_of_a_forgotten_note_goes_too(
    tmp_path: Path, place: str
) -> None:
    async with group_of_ann_and_bob(tmp_path) as here:
        await here.says("bob", note("Bob keeps a boat"), room="den")
        await here.says("ann", note("Keeps a falcon"), room="den")
        before = await count_falcons(here)
        assert await is_seen(here, "bob", room="den")
        assert await count_falcons(here) == before + 1, "Bob's message quotes it"
        await here.says("ann", "/forget falcon", room="den" if place == "den" else "")
        label = privacy.ERASE_YES() if place == "den" else privacy.FORGET_ALL()
        await confirm(here, "ann", label, place)
        assert not await is_seen(here, "bob", room="den")
        assert await count_falcons(here) == (before if place == "den" else 0)
        (request,) = await here.asks("bob", "hi", room="den")
        assert "bob flies to Lisbon" in request.system


async def test_notes_only_also_goes_from_what_the_person_was_told(tmp_path: Path) -> None:
    async with shared_harness(tmp_path, Noter()) as here:
        await here.says("ann", note("Has a cat", target="memory"))
        here.remember("ann", "Has a cat", "Keeps a falcon")
        assert await is_seen(here, "ann")
        await here.says("ann", "My neighbour has a falcon, too")
        assert await count_falcons(here) == 2
        await here.says("ann", "/forget falcon")
        await confirm(here, "ann", privacy.FORGET_ENTRIES(), "ann")
        assert await count_falcons(here) == 1, "the message stays"
        (request,) = await here.asks("ann", "hi")
        assert "Keeps a falcon" not in f"{request.system}{request.messages}"
