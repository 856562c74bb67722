"""Which skills there are: the home's go before those that come along, and broken ones say why."""

import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from agent_core.errors import SkillBroken, SkillMissing
from agent_core.skills import catalog
from agent_core.skills.agreements import agree
from agent_core.skills.catalog import (
    MOST_BYTES,
    MOST_FILES,
    SKILL_FILE,
    SkillCatalog,
    read_skill_folder,
)
from agent_core.skills.parser import Skill
from tests.agent_core.skills.ledger_home import HAND, archive_skill, restore_skill
from tests.agent_core.skills.skill_folders import write_skill, write_text
from tests.agent_core.state.schema import create_schema


def archive(folder: Path, name: str) -> str:
    """Archive a skill that no ledger knows yet."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as store:
        create_schema(store)
        return archive_skill(store, folder, name, HAND)


def restore(folder: Path, kept: str) -> str:
    """Restore a skill that no ledger knows yet."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as store:
        create_schema(store)
        return restore_skill(store, folder, kept, HAND)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "skills"


@pytest.fixture
def shelf(folder: Path) -> SkillCatalog:
    return SkillCatalog(folder)


def fault_of(shelf: SkillCatalog, name: str) -> str:
    """The fault of a skill of the home, the same wherever it is met."""
    (found,) = (one.fault for one in shelf.list_own() if one.name == name)
    with pytest.raises((SkillBroken, SkillMissing)):
        shelf.load(name)
    return found


def test_without_a_folder_those_that_come_along_are_there(shelf: SkillCatalog) -> None:
    assert ("digest", "bundled") in [(one.name, one.origin) for one in shelf.list_all()]
    assert not shelf.is_there()
    assert shelf.list_away() == []


def test_the_homes_skill_goes_before_one_that_comes_along(
    shelf: SkillCatalog, folder: Path
) -> None:
    write_skill(folder, "digest", "My own way.")
    write_skill(folder, "tidy")
    assert shelf.load("digest").body == "My own way."
    own = [one.name for one in shelf.list_all() if one.origin == "home"]
    assert own == ["digest", "tidy"]


def test_a_broken_one_of_the_home_is_not_passed_over(shelf: SkillCatalog, folder: Path) -> None:
    (write_skill(folder, "digest") / SKILL_FILE).write_text("---\nname: digest\n---\nDo it.\n")
    assert "needs a `description`" in fault_of(shelf, "digest")


def test_files_and_folders_with_a_dot_are_no_skills(shelf: SkillCatalog, folder: Path) -> None:
    write_skill(folder, ".hidden")
    write_skill(folder / ".archive", "old")
    (folder / "README.md").write_text("Mine.")
    (folder / ".usage.json").write_text("{}")
    assert shelf.list_own() == []
    assert shelf.list_away() == ["old"]
    with pytest.raises(SkillMissing, match="`talaria skills restore old` restores it"):
        shelf.load("old")


def test_a_folder_that_is_a_link_is_refused(
    shelf: SkillCatalog, folder: Path, tmp_path: Path
) -> None:
    place = write_skill(tmp_path / "elsewhere", "tidy")
    folder.mkdir()
    (folder / "tidy").symlink_to(place)
    assert "skill tidy is a link" in fault_of(shelf, "tidy")


def test_a_link_that_leads_out_is_refused_and_one_that_stays_inside_is_not(
    shelf: SkillCatalog, folder: Path, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    place = write_skill(folder, "tidy")
    (place / "references").mkdir()
    (place / "again.md").symlink_to(SKILL_FILE)
    assert shelf.load("tidy")
    link = place / "references" / "key.md"
    link.symlink_to(secret)
    assert "references/key.md of skill tidy is a link that leads out" in fault_of(shelf, "tidy")
    link.unlink()
    (place / "up").symlink_to(tmp_path)
    assert "up of skill tidy is a link that leads out" in fault_of(shelf, "tidy")
    (place / "up").unlink()
    (place / SKILL_FILE).unlink()
    (place / SKILL_FILE).symlink_to(secret)
    assert "SKILL.md of skill tidy is a link that leads out" in fault_of(shelf, "tidy")


def test_a_home_whose_folder_of_skills_lies_elsewhere_is_used(tmp_path: Path, folder: Path) -> None:
    write_skill(tmp_path / "elsewhere", "tidy")
    folder.symlink_to(tmp_path / "elsewhere")
    assert SkillCatalog(folder).load("tidy").body == "Do it."


def test_links_that_lead_nowhere_or_round_are_broken_and_end_nothing(
    shelf: SkillCatalog, folder: Path
) -> None:
    folder.mkdir()
    (folder / "gone").symlink_to("nowhere")
    (folder / "round").symlink_to("round")
    assert [(one.name, bool(one.fault)) for one in shelf.list_own()] == [
        ("gone", True),
        ("round", True),
    ]


def test_what_is_too_large_is_refused(shelf: SkillCatalog, folder: Path) -> None:
    place = write_skill(folder, "tidy", "x" * MOST_BYTES)
    assert "larger than 128 KiB" in fault_of(shelf, "tidy")
    (place / SKILL_FILE).write_text("---\nname: tidy\ndescription: Tidies.\n---\nDo it.")
    for number in range(MOST_FILES + 1):
        (place / str(number)).touch()
    assert "has more than 1,000 files" in fault_of(shelf, "tidy")


def test_what_is_no_file_or_no_text_is_refused(shelf: SkillCatalog, folder: Path) -> None:
    (folder / "empty").mkdir(parents=True)
    (folder / "folder" / SKILL_FILE).mkdir(parents=True)
    (folder / "pipe").mkdir()
    os.mkfifo(folder / "pipe" / SKILL_FILE)
    place = write_skill(folder, "bytes")
    (place / SKILL_FILE).write_bytes(b"---\nname: bytes\ndescription: \xff\n---\nDo it.")
    assert "skill empty has no SKILL.md" in fault_of(shelf, "empty")
    assert "is not a regular file" in fault_of(shelf, "folder")
    assert "is not a regular file" in fault_of(shelf, "pipe")
    assert "not written in UTF-8" in fault_of(shelf, "bytes")


def test_a_folder_that_is_no_name_is_shown_as_broken(shelf: SkillCatalog, folder: Path) -> None:
    write_skill(folder, "My Skill")
    assert "must have the name of its folder" in fault_of(shelf, "My Skill")


@pytest.mark.skipif(sys.platform == "darwin", reason="its disks take no such names")
@pytest.mark.parametrize("name", [b"a\xffb", b"a\nb", b"\x1b[31m"])
def test_a_name_that_is_no_text_is_shown_as_one(
    shelf: SkillCatalog, folder: Path, name: bytes
) -> None:
    place = write_skill(folder, "plain").rename(folder / os.fsdecode(name))
    (place / os.fsdecode(b"\xff")).symlink_to("/")
    (found,) = shelf.list_own()
    for reported in (found.name, found.fault):
        assert "\ufffd" in reported
        assert reported.isprintable()
    (place / os.fsdecode(b"\xff")).unlink()
    assert "must have the name of its folder" in shelf.list_own()[0].fault
    with pytest.raises(SkillMissing):
        archive(folder, found.name)


def test_a_file_with_the_name_of_a_skill_is_no_skill(shelf: SkillCatalog, folder: Path) -> None:
    folder.mkdir()
    (folder / "digest").write_text("a note")
    assert shelf.load("digest")
    assert {one.origin for one in shelf.list_all()} == {"bundled"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_said(shelf: SkillCatalog, folder: Path) -> None:
    place = write_skill(folder, "tidy")
    (place / SKILL_FILE).chmod(0)
    assert "Permission denied" in fault_of(shelf, "tidy")


def test_a_file_in_the_place_of_the_folder_is_said(shelf: SkillCatalog, folder: Path) -> None:
    folder.write_text("no folder")
    with pytest.raises(SkillBroken, match="Not a directory"):
        shelf.list_all()


def test_one_is_put_away_and_comes_back_as_it_was(shelf: SkillCatalog, folder: Path) -> None:
    write_skill(folder, "tidy")
    assert archive(folder, "tidy") == "tidy"
    assert (shelf.list_own(), shelf.list_away()) == ([], ["tidy"])
    assert restore(folder, "tidy") == "tidy"
    assert shelf.load("tidy").body == "Do it."
    assert shelf.list_away() == []


def test_a_name_that_is_taken_in_the_archive_gets_a_number(folder: Path) -> None:
    kept = []
    for body in ("first", "second", "third"):
        write_skill(folder, "tidy-2", body)
        kept.append(archive(folder, "tidy-2"))
    assert kept == ["tidy-2", "tidy-2~2", "tidy-2~3"]
    assert restore(folder, "tidy-2~3") == "tidy-2"
    assert SkillCatalog(folder).load("tidy-2").body == "third"
    with pytest.raises(FileExistsError, match="already exists"):
        restore(folder, "tidy-2")


@pytest.mark.parametrize("name", ["nothing", "", ".", "..", ".archive", "../skills", "a/b"])
def test_what_is_no_skill_is_not_moved(folder: Path, name: str) -> None:
    write_skill(folder, "a")
    (folder / "a" / "b").mkdir()
    (folder / ".archive").mkdir()
    with pytest.raises(SkillMissing):
        archive(folder, name)
    with pytest.raises(SkillMissing):
        restore(folder, name)
    assert (folder / "a" / "b").is_dir()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return tmp_path / "project"


def test_the_working_folder_comes_last_and_hides_nothing(folder: Path, project: Path) -> None:
    shelf = SkillCatalog(folder, (), project)
    write_skill(folder, "tidy", "Home.")
    write_skill(project / ".agents/skills", "tidy", "Agents.")
    write_skill(project / ".agents/skills", "review", "Agents.")
    write_skill(project / ".claude/skills", "review", "Claude.")
    write_skill(project / ".claude/skills", "digest", "Claude.")
    found = {one.name: one for one in shelf.list_all()}
    assert {name: (one.origin, one.is_trusted) for name, one in found.items()} | {
        "tidy": ("home", True),
        "review": ("project", False),
        "digest": ("bundled", True),
    } == {name: (one.origin, one.is_trusted) for name, one in found.items()}
    assert shelf.find("review").place == project / ".agents/skills/review"
    hidden = {one.hidden: one.used for one in shelf.list_collisions()}
    assert hidden[str(project / ".agents/skills/tidy")] == str(folder / "tidy")
    assert hidden[str(project / ".claude/skills/review")] == str(project / ".agents/skills/review")
    assert len(hidden) == 3


@pytest.mark.parametrize("kind", ["pipe", "link"])
def test_nobody_agrees_to_a_pipe_or_a_link(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "review"
    place.mkdir()
    (place / "SKILL.md").write_text("---\nname: review\ndescription: Reads.\n---\nRead it.\n")
    if kind == "pipe":
        os.mkfifo(place / "more")
    else:
        (place / "more").symlink_to("/etc/hostname")
    with pytest.raises(SkillBroken, match="links or unreadable"):
        agree(tmp_path / "skills", place)


def test_a_skill_of_the_working_folder_is_used_once_agreed_until_it_changes(
    folder: Path, project: Path
) -> None:
    shelf = SkillCatalog(folder, (), project)
    place = write_skill(project / ".claude/skills", "review")
    script = place / "run.py"
    script.write_text("print(1)")
    with pytest.raises(SkillMissing, match="`talaria skills agree review` does"):
        shelf.load("review")
    agree(folder, place)
    assert shelf.load("review").body == "Do it."
    script.write_text("print(2)")
    with pytest.raises(SkillMissing):
        shelf.load("review")
    agree(folder, place)
    assert shelf.find("review").is_trusted
    (folder / ".agreed.json").write_text("no json")
    assert not shelf.find("review").is_trusted


def test_a_listing_reads_a_skill_again_only_after_a_change(
    shelf: SkillCatalog, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def count(place: Path) -> Skill:
        read.append(place.name)
        return read_skill_folder(place)

    monkeypatch.setattr(catalog, "read_skill_folder", count)
    write_skill(folder, "tidy")
    write_skill(folder, "wash")
    for _ in range(2):
        assert {"tidy", "wash"} <= {one.name for one in shelf.list_all()}
    assert read.count("tidy") == 1
    write_text(folder / "tidy", "tidy", "Another way.")
    found = {one.name: one.skill for one in shelf.list_all()}
    skill = found["tidy"]
    assert skill
    assert skill.body == "Another way."
    assert (read.count("tidy"), read.count("wash")) == (2, 1)
    (folder / "wash" / SKILL_FILE).unlink()
    assert {one.name: one.fault for one in shelf.list_all()}["wash"] == "skill wash has no SKILL.md"
