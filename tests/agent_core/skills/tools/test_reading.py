"""`skill_view` reads a skill and its files, and nothing beside them."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agent_core.skills.catalog import MOST_BYTES, SKILL_FILE, SkillCatalog
from agent_core.skills.tools.directory import SkillDirectory
from agent_core.skills.tools.toolset import make_skill_tools
from agent_core.state.engine.database import Database
from agent_core.state.memory import skills
from agent_core.tools.contract import ToolResult
from agent_core.tools.toolbox import Toolbox
from agent_core.transcript import make_source
from tests.agent_core.skills.skill_folders import write_skill
from tests.agent_core.tools.toolbox_calls import run


class Reader:
    """The tools of a home's skills."""

    def __init__(self, home: Path, database: Database) -> None:
        self.folder, self.project, self.database = home / "skills", home / "project", database
        catalog = SkillCatalog(self.folder, (), self.project)
        self.box = Toolbox(
            make_skill_tools(SkillDirectory(catalog, database, 800), database, find_name=str)
        )

    async def view(self, **arguments: object) -> ToolResult:
        return await run(self.box, "skill_view", json.dumps(arguments))

    async def search(self, query: str) -> ToolResult:
        return await run(self.box, "skills_search", json.dumps({"query": query}))


@asynccontextmanager
async def opened(home: Path) -> AsyncIterator[Reader]:
    database = await Database.open(home / "state.db")
    try:
        yield Reader(home, database)
    finally:
        await database.close()


async def test_a_skill_is_read_with_the_names_of_its_files_and_counts_a_use(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as reader:
        place = write_skill(reader.folder, "tidy", "Sweep first.")
        (place / "scripts").mkdir()
        (place / "scripts" / "sweep.py").write_text("print('swept')")
        (place / "logo.png").write_bytes(b"\x89PNG\xff")
        found = await reader.view(name="tidy")
        assert "Sweep first." in found.text
        assert "logo.png, scripts/sweep.py" in found.text
        assert found.sources == ()
        script = await reader.view(name="tidy", file="scripts/sweep.py")
        assert script.text == "print('swept')"
        assert "not a text" in (await reader.view(name="tidy", file="logo.png")).text
        row = await reader.database.read(lambda c: skills.find(c, name="tidy"))
        assert row
        assert row.uses == 1
        assert "Digest" in (await reader.view(name="digest")).text


@pytest.mark.parametrize(
    "file", ["../state.db", "/etc/passwd", "scripts/../../other/SKILL.md", ".."]
)
async def test_no_file_leads_out_of_a_skill(tmp_path: Path, file: str) -> None:
    async with opened(tmp_path) as reader:
        write_skill(reader.folder, "tidy")
        write_skill(reader.folder, "other")
        found = await reader.view(name="tidy", file=file)
        assert found.is_error
        assert "leads out of the skill tidy" in found.text


@pytest.mark.parametrize("name", ["../tidy", "", "none", ".archive", "tidy\u0000"])
async def test_a_name_without_a_skill_is_refused(tmp_path: Path, name: str) -> None:
    async with opened(tmp_path) as reader:
        write_skill(reader.folder, "tidy")
        found = await reader.view(name=name)
        assert found.is_error
        assert "there is no skill" in found.text


async def test_a_long_text_is_read_on_in_parts(tmp_path: Path) -> None:
    async with opened(tmp_path) as reader:
        body = "".join(f"line {number:05}\n" for number in range(MOST_BYTES // 12))
        write_skill(reader.folder, "long", body)
        whole, offset = "", 0
        for _ in range(20):
            found = await reader.view(name="long", offset=offset)
            text, cut, rest = found.text.partition("\n[cut here: `offset` ")
            whole += text
            if not cut:
                break
            offset = int(rest.split()[0])
        assert body.strip() in whole


async def test_a_skill_that_nobody_agreed_to_is_read_as_words_of_others(tmp_path: Path) -> None:
    async with opened(tmp_path) as reader:
        write_skill(reader.project / ".claude/skills", "review")
        source = make_source("skill", "review")
        found = await reader.view(name="review")
        assert "of others: no owner has agreed" in found.text
        assert found.sources == (source,)
        listed = await reader.search("review")
        assert "- review (of others): Does review." in listed.text
        assert listed.sources == (source,)


async def test_broken_skills_say_why_and_a_search_without_a_hit_says_so(tmp_path: Path) -> None:
    async with opened(tmp_path) as reader:
        place = write_skill(reader.folder, "tidy")
        (place / SKILL_FILE).write_text("no front matter")
        found = await reader.view(name="tidy")
        assert found.is_error
        assert "does not begin with front matter" in found.text
        assert "No skill fits" in (await reader.search("quantum")).text
