"""`talaria agents` and `talaria teams`: make, change, list, show and check agents and teams."""

from pathlib import Path

import pytest

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
