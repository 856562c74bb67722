"""The agent's changes: the row comes first, the file follows, and a hand edit wins."""

import asyncio
import signal
from pathlib import Path

import pytest

from agent_core.errors import SkillBroken, SkillConflict
from agent_core.skills.catalog import MOST_BYTES, SKILL_FILE, SkillCatalog
from agent_core.skills.changes import check_create, check_file, check_patch, check_rewrite, plan
from agent_core.skills.intents import has_written_all
from agent_core.state.memory.ledger import LedgerEntry, Origin
from tests.agent_core.skills.crashing import DEEDS, MOMENTS, crash
from tests.agent_core.skills.ledger_home import ORIGIN, archive_skill, compose, opened, undo
from tests.agent_core.skills.skill_folders import write_skill
from tests.integration.processes import run_fork


async def test_each_change_is_a_row_with_its_version_and_can_be_undone(tmp_path: Path) -> None:
    async with opened(tmp_path) as home:
        assert await home.make(check_create(home.catalog, "tidy", compose("tidy"))) == 1
        patch = check_patch(home.catalog, "tidy", "Do it.", "Do it well.")
        assert await home.make(patch) == 2
        script = check_file(home.catalog, "tidy", "scripts/run.py", "print(1)\n")
        assert await home.make(script) == 3
        assert home.catalog.load("tidy").body == "Do it well."
        assert (home.folder / "tidy/scripts/run.py").read_text() == "print(1)\n"
        await home.start()
        rows = await home.rows()
        assert [(row.change.operation, row.origin.actor) for row in rows] == [
            ("add", "turn:1"),
            ("replace", "turn:1"),
            ("replace", "turn:1"),
        ]
        with pytest.raises(SkillConflict, match="only added a file"):
            await home.database.write(
                "undo",
                lambda c: undo(c, home.folder, rows[2].id, Origin(actor="house", now=300)),
            )
        (home.folder / "tidy/scripts/run.py").unlink()
        last = check_patch(home.catalog, "tidy", "well", "better")
        await home.make(last)
        newest = (await home.rows())[-1].id
        await home.database.write(
            "undo",
            lambda c: undo(c, home.folder, newest, Origin(actor="house", now=300)),
        )
        assert home.catalog.load("tidy").body == "Do it well."


@pytest.mark.parametrize("name", ["../tidy", "Tidy", "", ".archive", "a/b", "x" * 65, "a\u0000"])
async def test_no_name_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    async with opened(tmp_path) as home:
        for check in (
            lambda: check_create(home.catalog, name, compose(name)),
            lambda: check_patch(home.catalog, name, "a", "b"),
            lambda: check_file(home.catalog, name, "scripts/a.py", "a"),
        ):
            with pytest.raises(SkillConflict):
                check()


def test_what_is_created_keeps_every_rule_and_takes_no_name(tmp_path: Path) -> None:
    catalog = SkillCatalog(tmp_path / "skills", taken=("memory",))
    write_skill(catalog.folder, "taken")
    for name, text, error in (
        ("taken", compose("taken"), SkillConflict),
        ("digest", compose("digest"), SkillConflict),
        ("memory", compose("memory"), SkillConflict),
        ("tidy", compose("other"), SkillBroken),
        ("tidy", compose("tidy").replace("name:", "tags: x\nname:"), SkillBroken),
        ("tidy", compose("tidy", "a\u202eb"), SkillConflict),
        ("tidy", compose("tidy", "x" * MOST_BYTES), SkillConflict),
        ("tidy", compose("tidy", "sk-ant-api03-" + "a1B2" * 20), SkillConflict),
        ("tidy", "no front matter", SkillBroken),
    ):
        with pytest.raises(error):
            check_create(catalog, name, text)
    assert [path.name for path in catalog.folder.iterdir()] == ["taken"]


def test_a_patch_needs_one_match_and_a_file_its_place(tmp_path: Path) -> None:
    catalog = SkillCatalog(tmp_path / "skills")
    place = write_skill(catalog.folder, "tidy", "Do it. Do it.")
    for old, sentence in (("Do it.", "occurs 2 times"), ("nope", "does not occur"), ("", "occur")):
        with pytest.raises(SkillConflict, match=sentence):
            check_patch(catalog, "tidy", old, "x")
    with pytest.raises(SkillConflict, match="no other can be changed"):
        check_patch(catalog, "digest", "a", "b")
    with pytest.raises(SkillBroken):
        check_patch(catalog, "tidy", "description: Does tidy.", "description:")
    (place / "scripts").mkdir()
    (place / "scripts" / "a.py").write_text("a")
    for path in (
        *("../a.py", "a.py", "scripts/../../a", "/etc/passwd", "scripts/.hidden", "scripts/a.py"),
        *("SKILL.md", "scripts", "scripts/a\u0000.py", "scripts//a"),
    ):
        with pytest.raises(SkillConflict):
            check_file(catalog, "tidy", path, "text")


def test_a_skill_names_only_a_backend_that_exists(tmp_path: Path) -> None:
    catalog = SkillCatalog(tmp_path / "skills", backends=("local", "gpu"))
    named = compose("tidy").replace("\n---", "\nmetadata:\n  backend: GPU\n---", 1)
    assert check_create(catalog, "tidy", named).after == named
    write_skill(catalog.folder, "tidy", "Do it.")
    (catalog.folder / "tidy" / SKILL_FILE).write_text(named)
    refused = "the skill tidy names the backend moon; there is gpu, local"
    with pytest.raises(SkillBroken, match=refused):
        check_patch(catalog, "tidy", "GPU", "moon")
    with pytest.raises(SkillBroken, match=refused):
        check_rewrite(catalog, "tidy", named.replace("GPU", "moon"))
    with pytest.raises(SkillBroken, match="the skill new names the backend moon; there is gpu"):
        check_create(catalog, "new", named.replace("GPU", "moon").replace("tidy", "new"))
    assert catalog.load("tidy").backend == "gpu"


async def test_an_edit_by_hand_is_never_overwritten(tmp_path: Path) -> None:
    async with opened(tmp_path) as home:
        place = write_skill(home.folder, "tidy")
        stale = check_patch(home.catalog, "tidy", "Do it.", "Do it well.")
        (place / SKILL_FILE).write_text(compose("tidy", "Mine."))
        assert await home.make(stale) is None
        change = check_patch(home.catalog, "tidy", "Mine.", "Yours.")
        await home.database.write("p", lambda c: plan(c, home.folder, change, ORIGIN))
        (place / SKILL_FILE).write_text(compose("tidy", "Still mine."))
        await home.start()
        assert home.catalog.load("tidy").body == "Still mine."
        assert await home.database.read(has_written_all)
        rows = await home.rows()
        texts = [row for row in rows if row.change.before != row.change.after]
        assert [row.origin.actor for row in texts] == ["hand", "turn:1", "hand"]
        assert [row.origin.evidence.partition(":")[0] for row in rows if row not in texts] == [
            "state active -> trial",
            "state trial -> active",
        ]


async def test_a_link_is_not_followed(tmp_path: Path) -> None:
    async with opened(tmp_path) as home:
        place = write_skill(home.folder, "tidy")
        change = check_file(home.catalog, "tidy", "scripts/a.py", "print(1)")
        await home.database.write("p", lambda c: plan(c, home.folder, change, ORIGIN))
        outside = tmp_path / "outside"
        outside.mkdir()
        (place / "scripts").symlink_to(outside)
        await home.start()
        assert list(outside.iterdir()) == []


@pytest.mark.thorough
@pytest.mark.process
@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("deed", DEEDS)
async def test_a_kill_between_row_and_file_is_repaired_at_the_start(
    tmp_path: Path, deed: str, moment: str
) -> None:
    well = compose("tidy", "Do it well.")
    async with opened(tmp_path) as home:
        place = write_skill(home.folder, "tidy")
        await home.start()
        if deed == "undo":
            (place / SKILL_FILE).write_text(well)
            await home.start()
        if deed == "restore":
            house = Origin(actor="house", now=50)
            await home.database.write("a", archive_skill, home.folder, "tidy", house)
    was = len(await _list_rows(tmp_path))
    assert await asyncio.to_thread(run_fork, crash, tmp_path, deed, moment) == -signal.SIGKILL
    async with opened(tmp_path) as home:
        made = (await home.rows())[was:]
        assert {row.origin.actor for row in made} == {"turn:1"}, "the row came first"
        await home.start()
        assert (await home.rows())[was:] == made, "nothing is taken for a change by hand"
        assert await home.database.read(has_written_all)
        is_away = deed == "archive"
        assert (home.folder / "tidy").exists() is not is_away
        text = (home.folder / (".archive" if is_away else "") / "tidy" / SKILL_FILE).read_text()
        assert text == (well if deed == "patch" else compose("tidy"))


async def _list_rows(home_folder: Path) -> list[LedgerEntry]:
    async with opened(home_folder) as home:
        return await home.rows()
