"""`talaria skills`: listed, read, put away and taken back, in a house and beside it."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from agent_core.skills.shelf import FILE
from agent_core.state import jobs, skills
from agent_core.state.database import Connection
from gateway import settings
from gateway.control.desk import perform
from gateway.errors import Declined
from tests.agent_core.skills.test_shelf import write_skill
from tests.gateway.processes import Done, talaria
from tests.gateway.served import served
from tests.gateway.test_job_operations import find, settle_in, write
from tests.gateway.test_skills import deeds, names_in

HOW = pytest.mark.parametrize("how", ["running", "beside"])


@pytest.fixture
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("h")


@dataclass
class Desk:
    """Somebody at the command line of a home with Ann, who has a digest."""

    home: Path

    @property
    def folder(self) -> Path:
        return self.home / "skills"

    async def ask(self, operation: str, name: str = "", **asked: object) -> Mapping[str, Any]:
        given = {"TALARIA_HOME": str(self.home)}
        asked = {"name": name, **asked} if name else asked
        return await asyncio.to_thread(
            perform, self.home, f"skills.{operation}", asked, settings=settings.load(given)
        )

    async def list(self) -> Mapping[str, Mapping[str, Any]]:
        return {one["name"]: one for one in (await self.ask("list"))["skills"]}


def want_tidy(connection: Connection) -> None:
    """Ann's job works as `tidy` says."""
    job = find(connection, 1)
    assert job
    jobs.change(connection, replace(job, options=replace(job.options, skills=("tidy",))))


@asynccontextmanager
async def desk(home: Path, how: str, *works: Any) -> AsyncIterator[Desk]:
    """A desk with a gateway that runs, or without one."""
    await write(home, settle_in, *works)
    if how == "running":
        async with served(home):
            yield Desk(home)
    else:
        yield Desk(home)


async def refused(asked: Awaitable[object]) -> str:
    with pytest.raises(Declined) as caught:
        await asked
    return str(caught.value)


@HOW
async def test_all_of_them_are_listed_with_how_they_stand(home: Path, how: str) -> None:
    write_skill(home / "skills", "tidy")
    write_skill(home / "skills", "broken", called="other")
    write_skill(home / "skills" / ".archive", "old")
    used = [lambda c: skills.note_use(c, name="tidy", now=5), want_tidy]
    async with desk(home, how, *used) as at:
        answer = await at.ask("list")
        found = {one["name"]: one for one in answer["skills"]}
        assert sorted(found) == ["broken", "digest", "tidy"]
        assert (answer["wanted"], answer["away"]) == (["tidy"], ["old"])
        assert (found["tidy"]["uses"], found["tidy"]["last_used_at"]) == (1, 5)
        assert found["digest"]["origin"] == "bundled"
        assert "its `name` is other" in found["broken"]["fault"]
        shown = await at.ask("show", "tidy")
        assert (shown["body"], shown["origin"], shown["is_wanted"]) == ("Do it.", "home", True)
        assert (await at.ask("show", "digest"))["origin"] == "bundled"
        assert "its `name` is other" in await refused(at.ask("show", "broken"))
        assert "there is no skill new" in await refused(at.ask("show", "new"))
        assert "`talaria skills restore old`" in await refused(at.ask("show", "old"))


@HOW
async def test_one_is_put_away_and_taken_back_and_both_stay_known(home: Path, how: str) -> None:
    write_skill(home / "skills", "tidy")
    async with desk(home, how) as at:
        assert await at.ask("archive", "tidy") == {"name": "tidy", "kept": "tidy"}
        assert "tidy" not in await at.list()
        told = json.loads((at.folder / ".usage.json").read_text())
        assert told["tidy"]["state"] == "archived"
        write_skill(at.folder, "tidy", "Another.")
        said = await refused(at.ask("restore", "tidy"))
        assert said.endswith("skills/tidy is there already; put that away first")
        assert (await at.ask("archive", "tidy"))["kept"] == "tidy~2"
        assert await at.ask("restore", "tidy") == {"name": "tidy"}
        assert (await at.ask("show", "tidy"))["body"] == "Do it."
        assert names_in(at.folder / ".archive") == ["tidy~2"]
        assert "there is no skill nothing" in await refused(at.ask("restore", "nothing"))
    known: list[object] = []
    await write(home, lambda c: known.extend(deeds(c)))
    assert known == [
        ("skill.archive", "tidy"),
        ("skill.archive", "tidy~2"),
        ("skill.restore", "tidy"),
    ]


@HOW
async def test_what_is_wanted_pinned_or_comes_along_is_not_put_away(home: Path, how: str) -> None:
    write_skill(home / "skills", "tidy")
    write_skill(home / "skills", "neat")
    async with desk(home, how, want_tidy) as at:
        assert "A job uses the skill tidy" in await refused(at.ask("archive", "tidy"))
        await at.ask("pin", "neat")
        assert (await at.list())["neat"]["is_pinned"]
        assert "is pinned; `talaria skills unpin neat`" in await refused(at.ask("archive", "neat"))
        await at.ask("unpin", "neat")
        await at.ask("archive", "neat")
        for verb in ("archive", "pin"):
            assert "comes with Talaria" in await refused(at.ask(verb, "digest"))
            assert "There is no skill neat;" in await refused(at.ask(verb, "neat"))


@HOW
async def test_the_curator_tells_what_it_would_do_and_does_not(home: Path, how: str) -> None:
    write_skill(home / "skills", "old")
    write_skill(home / "skills", "broken", called="other")
    used = [lambda c: skills.note_use(c, name="old", now=0)]
    async with desk(home, how, *used) as at:
        lines = (await at.ask("curate", dry_run=True))["lines"]
        (new, broken, old) = lines
        assert new == "broken would be noted as new."
        assert "broken is broken, which the owners would be told" in broken
        assert "old was not used for" in old
        assert old.endswith("days and would be called stale.")
        assert (await at.ask("curate", dry_run=True))["lines"] == lines


async def test_the_curator_is_run_now_where_its_job_is(home: Path) -> None:
    write_skill(home / "skills", "tidy")
    async with desk(home, "running") as at:
        number = (await at.ask("curate"))["job"]
        async with asyncio.timeout(45):
            while True:
                shown = await asyncio.to_thread(perform, home, "jobs.show", {"id": number})
                if "done (" in "".join(shown["runs"]):
                    break
                await asyncio.sleep(0.01)
        assert "done (1 skill looked at; new: tidy)" in shown["runs"][0]
        own = (await asyncio.to_thread(perform, home, "jobs.list", {"system": True}))["jobs"]
        assert [job["last"].partition(": ")[2] for job in own] == [
            "",
            "done (1 skill looked at; new: tidy)",
            "",
        ]
        assert own[0]["last"] == "not run yet"
    listed = talaria(home, "jobs", "--system")
    assert "Last: " in listed.out
    assert "done (1 skill looked at; new: tidy)" in listed.out


async def test_without_its_job_the_curator_can_not_be_run(home: Path) -> None:
    async with desk(home, "beside") as at:
        assert "`talaria run` makes its job" in await refused(at.ask("curate"))
        assert (await at.ask("curate", dry_run=True))["lines"] == [
            "The home has no folder of skills."
        ]


def said(home: Path, *words: str) -> Done:
    return talaria(home, "skills", *words)


async def test_the_command_line_shows_them(home: Path) -> None:
    place = write_skill(home / "skills", "tidy")
    text = "---\nname: tidy\ndescription: Tidies.\nlicense: MIT\nhint: x\n---\nSweep.\n"
    (place / FILE).write_text(text)
    write_skill(home / "skills" / ".archive", "old")
    await write(home, settle_in)
    listed = said(home)
    assert listed.out == said(home, "list").out
    assert listed.out.splitlines()[1:] == [
        "tidy    the home's never used  Tidies.",
        "In the archive: old",
    ]
    assert said(home, "show", "tidy").out.splitlines() == [
        "tidy: Tidies.",
        "the home's, never used",
        "License: MIT",
        "Not known to Agent Skills: hint",
        "",
        "Sweep.",
    ]
    assert said(home, "archive", "tidy").out == "The skill tidy is put away as tidy.\n"
    assert said(home, "restore", "tidy").out == "The skill tidy is back.\n"
    assert said(home, "pin", "tidy").out == "The skill tidy is never put away by itself.\n"
    assert said(home, "curate", "--dry-run").out == "Nothing would be done.\n"
    assert said(home, "show", "none").code == 1


def test_the_check_of_the_house_names_broken_ones(home: Path) -> None:
    assert "skills" not in talaria(home, "check").out
    write_skill(home / "skills", "tidy")
    assert "1 of the home's own" in talaria(home, "check").out
    write_skill(home / "skills", "broken", called="other")
    done = talaria(home, "check")
    assert "2 of the home's own; skill broken must be named like its folder" in done.out
    assert done.code == 0


def test_skills_are_checked_where_they_lie_without_a_house(home: Path) -> None:
    write_skill(home / "skills", "tidy")
    assert said(home, "check").out == "tidy: good\n"
    place = write_skill(home / "skills", "broken", called="other")
    for path in (home / "skills", place, place / FILE):
        done = said(home, "check", str(path))
        assert done.code == 1
        assert "broken: broken: skill broken must be named like its folder" in done.out
    assert said(home, "check", str(home / "none")).code == 2
    (home / "empty").mkdir()
    assert "There are no skills in" in said(home, "check", str(home / "empty")).err
