"""A skill's script runs in the workspace of its reader, with every backend."""

from pathlib import Path

import pytest

from agent_core.errors import WorkspaceError
from agent_core.execution.contract import Backend, Command
from agent_core.execution.timed_command import run_command
from agent_core.skills.catalog import SkillCatalog
from agent_core.skills.tools.workspace_copy import copy_files
from tests.agent_core.execution.backends import MEGABYTE
from tests.agent_core.skills.bundled.scripts import SCRIPTS
from tests.agent_core.skills.skill_folders import write_skill
from tests.agent_core.tools.toolbox_calls import CONTEXT

pytestmark = pytest.mark.process


async def test_a_copied_script_runs_without_the_environment_of_talaria(
    backend: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TALARIA_SECRET_PROBE", "leaked")
    place = write_skill(tmp_path / "skills", "tidy")
    (place / "scripts").mkdir()
    script = "import os\nprint('swept', os.environ.get('TALARIA_SECRET_PROBE'))\n"
    (place / "scripts/sweep.py").write_text(script)
    catalog = SkillCatalog(tmp_path / "skills")
    for _ in range(2):
        shown = await copy_files(backend, catalog, catalog.find("tidy"), CONTEXT)
        assert "python3 .skills/tidy/FILE" in shown
        assert ".edited" not in shown
    argv = ("python3", ".skills/tidy/scripts/sweep.py")
    command = Command(workspace="ada", argv=argv)
    done = await run_command(backend, command, seconds=45, most_bytes=MEGABYTE)
    assert (done.output, done.status) == (b"swept None\n", 0)


async def test_the_scripts_of_bundled_skills_run_in_a_workspace(
    backend: Backend, tmp_path: Path
) -> None:
    catalog = SkillCatalog(tmp_path / "skills")
    for one in SCRIPTS:
        for _ in range(5):  # each try has 20 s, and goes on where the last one ended
            shown = await copy_files(backend, catalog, catalog.find(one.skill), CONTEXT)
            if "within 20 seconds" not in shown:
                break
        assert f"python3 .skills/{one.skill}/FILE" in shown
        await backend.write_file("ada", one.given, one.sample.read_bytes())
        words = ("python3", f".skills/{one.skill}/{one.path}", one.given, *one.options)
        command = Command(workspace="ada", argv=words)
        done = await run_command(backend, command, seconds=45, most_bytes=MEGABYTE)
        assert (done.status, one.printed in done.output.decode()) == (0, True), done.output
        evals = f".skills/{one.skill}/evals/evals.json"
        with pytest.raises(WorkspaceError):
            await backend.read_file("ada", evals, MEGABYTE)
