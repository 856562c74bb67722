"""A skill's script as a tool of its own runs in the workspace of its person, with every backend."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from agent_core.execution.contract import Backend
from agent_core.execution.selected import UNKNOWN, SelectedBackends
from agent_core.ids import TurnId
from agent_core.state.engine.database import Connection
from agent_core.state.memory import skill_uses, skills
from tests.agent_core.execution.backends import make_local, needs_bubblewrap
from tests.agent_core.execution.tally_skill import TALLY, list_by_name, opened, write
from tests.agent_core.state.rows import add_dialogue, add_person, add_turn
from tests.agent_core.tools.toolbox_calls import CONTEXT


@pytest.mark.process
async def test_a_script_runs_with_its_arguments_and_counts_as_a_use(
    backend: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TALARIA_SECRET_PROBE", "leaked")
    write(tmp_path, {"add.py": TALLY}, "  tools: add\n")
    scripts, database, _ = await opened(tmp_path, backend)
    try:

        def begin(connection: Connection) -> int:
            return add_turn(connection, add_dialogue(connection, add_person(connection)))

        turn_id = await database.write("turn", begin)
        context = replace(CONTEXT, turn_id=turn_id)  # type: ignore[arg-type]
        tool = (await list_by_name(scripts))["skill__tally__add"]
        done = await tool.run({"prices": [1.5, 2], "currency": "it's '$(id)'"}, context)
        assert not done.is_error, done.text
        found = json.loads(done.text)
        assert found == {"total": 3.5, "currency": "it's '$(id)'", "secret": None}
        assert done.sources, "the output is that of a command"
        failed = await tool.run({"prices": ["x"]}, context)
        assert failed.is_error
        assert "Exit status 1" in failed.text
        row = await database.read(lambda c: skills.find(c, name="tally"))
        assert row
        assert row.uses == 1
        assert await database.read(
            lambda c: skill_uses.is_used(c, skill_id=row.id, turn_id=context.turn_id)
        )
    finally:
        await database.close()


@needs_bubblewrap
@pytest.mark.process
async def test_a_script_runs_in_the_backend_that_its_skill_names(tmp_path: Path) -> None:
    here, there = make_local(tmp_path / "here"), make_local(tmp_path / "there")
    places = {"backend:gpu": there, UNKNOWN: SelectedBackends(None, {}, refusal="there is none")}
    skill = write(tmp_path, {"add.py": TALLY}, "  tools: add\n  backend: gpu\n") / "SKILL.md"
    scripts, database, directory = await opened(tmp_path, here, places)
    copies = [tmp_path / one / "workspaces/ada/.skills/tally" for one in ("here", "there")]

    async def run(named: str) -> str:
        skill.write_text(re.sub("backend:.*", f"backend: {named}", skill.read_text()))
        await directory.refresh()
        tool = (await list_by_name(scripts))["skill__tally__add"]
        turn_id = await database.write("turn", begin)
        return (await tool.run({"prices": [1, 2]}, replace(CONTEXT, turn_id=turn_id))).text

    def begin(connection: Connection) -> TurnId:
        return TurnId(add_turn(connection, add_dialogue(connection, add_person(connection))))

    try:
        assert '"total": 3' in await run("gpu")
        assert [one.exists() for one in copies] == [False, True]
        assert "there is none" in await run("moon")
        assert '"total": 3' in await run("''")
        assert [one.exists() for one in copies] == [True, True]
    finally:
        await database.close()
        await here.close()
        await there.close()
