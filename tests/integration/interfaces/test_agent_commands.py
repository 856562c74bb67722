"""`talaria agents` and `talaria teams`: make, change, list, show and check agents and teams."""

import asyncio
from pathlib import Path

import pytest

from agent_core.state.engine.database import Database
from agent_core.state.people import people
from tests.integration.processes import talaria

pytestmark = pytest.mark.process


def test_an_agent_is_created_listed_and_shown(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert "There are no agents in" in talaria(home, "agents").out
    added = talaria(home, "agents", "add", "coder")
    assert added.code == 0, added.err
    place = home / "agents" / "coder"
    assert f"Created {place}." in added.out
    (place / "agent.toml").write_text(
        'description = "Writes code"\ntags = ["work"]\ntools = ["terminal"]\n'
    )
    listed = talaria(home, "agents", "list").out
    assert listed == f"Agents of {home}:\ncoder: Writes code, tags work\n"
    shown = talaria(home, "agents", "show", "coder").out.splitlines()
    assert shown[1:3] == ["coder: Writes code, tags work", "Tools: terminal"]
    assert talaria(home, "agents", "check").out.endswith("\n1 agent is good.\n")


def test_what_is_wrong_with_an_agent_is_one_sentence(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert talaria(home, "agents", "add", "coder").code == 0
    again = talaria(home, "agents", "add", "coder", "--soul", "You are another.")
    assert (again.code, again.err.count("\n")) == (1, 1)
    assert "coder" in again.err
    unknown = talaria(home, "agents", "show", "codr")
    assert unknown.code == 1
    assert "coder" in unknown.err
    (home / "agents" / "coder" / "agent.toml").write_text("tags = 5\n")
    checked = talaria(home, "agents", "check")
    assert (checked.code, checked.out.count("\n")) == (1, 2)
    assert "tags" in checked.out
    assert "tags" in talaria(home, "agents", "list").out, "a broken one is listed with its fault"


def test_an_agent_is_changed_put_away_and_brought_back(tmp_path: Path) -> None:
    home = tmp_path / "home"
    made = talaria(home, "agents", "add", "writer", "--soul", "You write.", "--tags", "press,news")
    assert made.code == 0, made.err
    assert (home / "agents" / "writer" / "SOUL.md").read_text() == "You write."
    assert talaria(home, "agents", "change", "writer", "--tools", "recall").code == 0
    assert "Tools: recall" in talaria(home, "agents", "show", "writer").out
    wrong = talaria(home, "agents", "change", "writer", "--tools", "recal")
    assert (wrong.code, wrong.err.count("\n")) == (1, 1)
    assert "there is no tool recal (did you mean recall?)" in wrong.err.replace("There", "there")


def test_an_agent_comes_in_from_a_file_and_goes_out(tmp_path: Path) -> None:
    home, file = tmp_path / "home", "tests/agent_core/agent/named/letta/present.af"
    early = talaria(home, "agents", "import", file)
    assert (early.code, early.err.count("\n")) == (2, 1)
    make_owner(home)
    made = talaria(home, "agents", "import", file, "--name", "anna")
    assert made.code == 0, made.err
    assert "Created the agent anna with 2 memory blocks and 6 messages." in made.out
    assert "\nLeft out:\n- 1 folder of files\n" in made.out
    again = talaria(home, "agents", "import", file, "--name", "anna")
    assert again.err == "There is an agent anna already; take another name.\n"
    written = talaria(home, "agents", "export", "anna", str(tmp_path / "anna.af"))
    assert written.code == 0, written.err
    assert (tmp_path / "anna.af").stat().st_mode & 0o077 == 0
    exists = talaria(home, "agents", "export", "anna", str(tmp_path / "anna.af"))
    assert "exists already; name another file." in exists.err
    back = talaria(home, "agents", "import", str(tmp_path / "anna.af"), "--name", "two")
    assert "Created the agent two with 2 memory blocks and 6 messages." in back.out
    assert "Left out" not in back.out
    missing = talaria(home, "agents", "import", str(tmp_path / "none.af"))
    assert missing.err.endswith("none.af can't be read: No such file or directory.\n")


def make_owner(home: Path) -> None:
    """Give a home its database with an owner, as the setup does."""

    async def work() -> None:
        database = await Database.open(home / "state.db")
        await database.write(
            "test.owner",
            lambda c: people.insert(c, slug="ada", name="Ada", role="owner", now=1),
        )
        await database.close()

    asyncio.run(work())
