"""What `/undo` knows of a person's deeds holds no forgotten words, in groups neither."""

from pathlib import Path

from gateway.texts import privacy
from tests.integration.memory.noter import Noter
from tests.integration.privacy.deletions import settled
from tests.integration.shared_harness import SharedHarness, shared_harness


async def forget(here: SharedHarness, words: str) -> str:
    """Delete words of Cleo's for good, after the question, and return that."""
    asked = await here.says("cleo", f"/forget {words}")
    await here.harness.chat.press(privacy.FORGET_ENTRIES(), user="cleo", name="cleo", chat="cleo")
    await here.harness.at_rest()
    await settled(here.harness)
    return asked


async def list_deeds(here: SharedHarness) -> str:
    rows = await here.harness.read(
        lambda c: c.execute("SELECT detail FROM audit WHERE action LIKE 'deed%'").fetchall()
    )
    return "\n".join(row[0] for row in rows)


async def test_a_forgotten_title_is_in_no_deed(tmp_path: Path) -> None:
    async with shared_harness(tmp_path, Noter()) as here:
        await here.says("cleo", "hello")
        await here.make_owner("cleo")
        await here.says("cleo", "/verbose")
        await here.says("cleo", "/title Trip to Graz")
        await here.says("cleo", "/title Trip to Linz")
        asked = await forget(here, "graz")
        assert "Something deleted or changed that /undo could still bring back" in asked
        left = await list_deeds(here)
        assert "Graz" not in left
        assert "What you see of my work" in left


async def test_deeds_in_groups_and_what_was_taken_back_hold_none(tmp_path: Path) -> None:
    async with shared_harness(tmp_path, Noter()) as here:
        await here.says("cleo", "hello")
        await here.make_owner("cleo")
        await here.says("cleo", "hello", room="den")
        await here.says("cleo", "/verbose", room="den")
        await here.says("cleo", "/room name Graz Club", room="den")
        assert "Taken back" in await here.says("cleo", "/undo", room="den")
        assert "Graz" in await list_deeds(here)
        await forget(here, "graz")
        assert "Graz" not in await list_deeds(here)
        # The deed that was taken back does not stand again.
        assert "What you see of my work as before" in await here.says("cleo", "/undo", room="den")


async def test_in_the_group_itself_a_deed_there_is_found_and_forgotten(tmp_path: Path) -> None:
    async with shared_harness(tmp_path, Noter()) as here:
        await here.says("cleo", "hello")
        await here.make_owner("cleo")
        await here.says("cleo", "hello", room="den")
        await here.says("cleo", "/room name Graz Club", room="den")
        await here.says("cleo", "/room name Den", room="den")
        assert "None of this group's notes" in await here.says("cleo", "/forget linz", room="den")
        asked = await here.says("cleo", "/forget graz", room="den")
        assert "Something deleted or changed that /undo could still bring back" in asked
        assert "Graz" not in asked, "others read it"
        await here.harness.chat.press(
            privacy.ERASE_YES(), user="cleo", name="cleo", chat="den", direct=False
        )
        done = "Deleted permanently. /undo in this group can't bring the words back."
        await here.harness.chat.sees_text(done)
        await settled(here.harness)
        assert "Graz" not in await list_deeds(here)
