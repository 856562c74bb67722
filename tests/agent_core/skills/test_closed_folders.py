"""Folders of skills and agents that this user may not read."""

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import pytest

from agent_core.agent.named.folder import AgentFolder
from agent_core.skills.catalog import SkillCatalog
from tests.agent_core.agent.named.agent_folders import write
from tests.agent_core.execution.plain_user import drop_rights_over_files
from tests.agent_core.skills.skill_folders import write_skill

T = TypeVar("T")


def without_rights(work: Callable[[], T]) -> T:
    """Do work in a thread that obeys the modes of files."""

    def run() -> T:
        drop_rights_over_files()
        return work()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(run).result()


@pytest.mark.parametrize("mode", [0o000, 0o400, 0o100])
@pytest.mark.parametrize("closed", ["", "tidy", "tidy/SKILL.md"])
def test_a_closed_folder_of_a_bundle_hides_no_other_skill(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, mode: int, closed: str
) -> None:
    home, bundle = tmp_path / "home", tmp_path / "bundle"
    write_skill(home, "own")
    write_skill(bundle, "tidy")
    write_skill(bundle, "other")
    catalog = SkillCatalog(home, [bundle])
    catalog.list_all()
    (bundle / closed).chmod(mode)
    caplog.set_level(logging.WARNING)

    def look() -> tuple[set[str], list[str], str]:
        good = {one.name for one in catalog.list_all() if one.skill}
        catalog.list_collisions()
        return good, catalog.find_faults(), catalog.load("own").name

    try:
        good, faults, own = without_rights(look)
    finally:
        (bundle / closed).chmod(0o700)
    assert own == "own"
    assert "own" in good
    assert closed == "" or "other" in good
    is_open = {"": {0o400, 0o100}, "tidy": {0o100}, "tidy/SKILL.md": {0o400}}
    if not (mode in is_open[closed] and "tidy" in good):
        named = "; ".join([*faults, caplog.text])
        assert str(bundle) in named or "tidy" in named


@pytest.mark.parametrize("mode", [0o000, 0o400, 0o100])
@pytest.mark.parametrize("closed", ["", "ada", "ada/agent.toml", "ada/SOUL.md"])
def test_a_closed_agent_is_named_and_hides_no_other(tmp_path: Path, mode: int, closed: str) -> None:
    folder = tmp_path / "agents"
    agents = AgentFolder(tmp_path)
    write(tmp_path, "ada")
    write(tmp_path, "bob")
    (folder / closed).chmod(mode)

    def look() -> str:
        try:
            found = {one.name: one.fault for one in agents.list_all()}
        except Exception as error:
            return f"{type(error).__name__} {error}"
        assert closed == "" or found["bob"] == ""
        return "; ".join(found.values())

    try:
        said = without_rights(look)
    finally:
        (folder / closed).chmod(0o700)
    assert said.startswith("AgentBroken") or "can't be" in said or said == "; "
