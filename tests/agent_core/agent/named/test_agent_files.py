"""Agents and teams are made, changed and put away: whole or not at all, and once."""

import json
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_core.agent.named.agent_files import MOST_MADE, AgentChange, AgentFiles
from agent_core.agent.named.definition import KnownNames
from agent_core.agent.named.folder import CHANGE, AgentFolder
from agent_core.agent.named.teams import Team, TeamChange, TeamFolder
from agent_core.errors import AgentBroken, AgentRefused
from agent_core.tools.selection.call_rules import CallRule

KNOWN = KnownNames(models=("big", "small"), tools=("look", "send", "message_agent"))


@pytest.fixture
def files(tmp_path: Path) -> AgentFiles:
    return AgentFiles(AgentFolder(tmp_path, KNOWN))


@pytest.fixture
def teams(files: AgentFiles, tmp_path: Path) -> TeamFolder:
    for name in ("editor", "writer", "checker"):
        files.create(name, AgentChange())
    return TeamFolder(tmp_path, files.agents)


def refusal(work: Callable[[], object]) -> str:
    with pytest.raises(AgentRefused) as caught:
        work()
    return str(caught.value)


def test_a_new_agent_can_be_used_at_once(files: AgentFiles) -> None:
    rule = CallRule(tool="look", must_run_first=True)
    change = AgentChange(
        soul="You look.", description='A "look-out"', tools=("look",), tags=("work",), rules=(rule,)
    )
    assert files.create("spy", change) == files.create("spy", change), "a repeat changes nothing"
    agent = files.agents.find("spy")
    assert (agent.description, agent.tools, agent.rules) == ('A "look-out"', ("look",), (rule,))
    assert agent.soul.startswith("You look.\n\n# Rules of your tools\n- `look`: runs first")
    assert "already; change it" in refusal(lambda: files.create("spy", AgentChange()))


@pytest.mark.parametrize(
    ("name", "change", "fault"),
    [
        ("../x", AgentChange(), "'../x' is no name"),
        ("default", AgentChange(), "'default' is no name"),
        ("Ä", AgentChange(), "is no name"),
        ("a", AgentChange(tools=("lok",)), "there is no tool lok (did you mean look?)"),
        ("a", AgentChange(model="huge"), "the model huge is not among the configured models"),
        ("a", AgentChange(skills=("none",)), "there is no skill none"),
        ("a", AgentChange(tags=("A B",)), "the tag A B must consist of lower-case letters"),
        ("a", AgentChange(soul="x" * 20_001), "SOUL.md is longer than 20,000 characters"),
        (
            "a",
            AgentChange(tools=("send",), rules=(CallRule(tool="look", must_run_first=True),)),
            "the tool look must run first, but it has no such tool",
        ),
    ],
)
def test_a_wrong_agent_is_refused_and_nothing_is_written(
    files: AgentFiles, tmp_path: Path, name: str, change: AgentChange, fault: str
) -> None:
    assert fault in refusal(lambda: files.create(name, change))
    assert list(tmp_path.rglob("*.toml")) == []


def test_a_change_keeps_comments_and_what_it_does_not_name(files: AgentFiles) -> None:
    rules = (CallRule(tool="look", ends_turn=True),)
    files.create("spy", AgentChange(soul="You look.", tools=("look",), rules=rules))
    table = files.agents.place / "spy" / "agent.toml"
    table.write_text(f"# mine\n{table.read_text()}")
    files.change("spy", AgentChange(description="Looks", tags=("a", "b")))
    agent = files.agents.find("spy")
    assert (agent.description, agent.tags, agent.tools) == ("Looks", ("a", "b"), ("look",))
    assert agent.rules == rules
    assert table.read_text().startswith("# mine\n")
    files.change("spy", AgentChange(any_tools=True, soul="You see."))
    assert (files.agents.find("spy").tools, files.agents.find("spy").soul[:8]) == (None, "You see.")
    before = table.read_text()
    assert "no tool" in refusal(lambda: files.change("spy", AgentChange(tools=("nothing",))))
    assert table.read_text() == before


def test_an_archived_agent_comes_back_and_repeats_change_nothing(files: AgentFiles) -> None:
    files.create("spy", AgentChange(soul="You look."))
    files.archive("spy")
    files.archive("spy")
    assert files.list_all() == []
    assert files.list_archived() == ["spy"]
    assert files.restore("spy").soul == files.restore("spy").soul == "You look."
    files.archive("spy")
    files.create("spy", AgentChange(soul="You are new."))
    assert "archive that one first" in refusal(lambda: files.restore("spy"))
    files.archive("spy")
    assert files.list_archived() == ["spy", "spy-2"]
    assert "there is no agent spi" in refusal(lambda: files.archive("spi"))


def test_what_makes_room_in_the_archive_can_be_restored(
    files: AgentFiles, teams: TeamFolder
) -> None:
    name = "a" * 32
    for soul in ("You are old.", "You are new."):
        files.create(name, AgentChange(soul=soul))
        files.archive(name)
        teams.create(name, TeamChange(supervisor="editor", members=("writer",)))
        teams.archive(name)
    older = "a" * 30 + "-2"
    assert set(files.list_archived()) == {name, older}
    assert files.restore(older).soul == "You are old."
    assert teams.restore(older).members == ("writer",)


def test_a_change_that_a_crash_cut_off_counts_whole(files: AgentFiles) -> None:
    files.create("spy", AgentChange(soul="You look."))
    place = files.agents.place / "spy"
    cut_off = {"agent.toml": 'tags = ["new"]\n', "SOUL.md": "You are new."}
    (place / CHANGE).write_text(json.dumps(cut_off))
    (place / "SOUL.md").write_text("You are new.")
    agent = files.agents.find("spy")
    assert (agent.tags, agent.soul) == (("new",), "You are new.")
    files.change("spy", AgentChange(description="Looks"))
    assert not (place / CHANGE).exists()
    agent = files.agents.find("spy")
    assert (agent.tags, agent.soul, agent.description) == (("new",), "You are new.", "Looks")
    (place / CHANGE).write_text(json.dumps(cut_off))
    files.finish_changes()
    assert sorted(one.name for one in place.iterdir()) == ["SOUL.md", "agent.toml"]
    assert (place / "agent.toml").read_text() == cut_off["agent.toml"]


def test_nobody_reads_half_a_change(files: AgentFiles) -> None:
    files.create("spy", AgentChange(soul="0", tags=("t0",)))
    found, is_over = set(), threading.Event()

    def read() -> None:
        while not is_over.is_set():
            agent = files.agents.find("spy")
            found.add((agent.tags[0], f"t{agent.soul}"))

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(60):
        files.change("spy", AgentChange(soul=str(number), tags=(f"t{number}",)))
    is_over.set()
    reader.join()
    assert [pair for pair in found if pair[0] != pair[1]] == []
    assert len(found) > 1


def test_agents_can_not_be_made_without_end(files: AgentFiles) -> None:
    for number in range(MOST_MADE):
        files.create(f"a{number}", AgentChange())
    fault = refusal(lambda: files.create("more", AgentChange()))
    assert fault.startswith(f"there are {MOST_MADE} agents already, which is the most; archive one")


def test_a_team_is_made_changed_and_put_away(teams: TeamFolder) -> None:
    change = TeamChange(supervisor="editor", members=("writer", "checker"), rounds=2, dollars=0.5)
    assert teams.create("desk", change) == teams.create("desk", change)
    team = teams.find("desk")
    assert team == Team(
        name="desk", supervisor="editor", members=("writer", "checker"), rounds=2, dollars=0.5
    )
    assert (team.everyone, team.micro_dollars) == (("writer", "checker", "editor"), 500_000)
    teams.change("desk", TeamChange(manager="round_robin", description="News"))
    assert (teams.find("desk").supervisor, teams.find("desk").rounds) == ("", 2)
    assert [one.name for one in teams.list_of("writer")] == ["desk"]
    assert teams.list_of("editor") == []
    teams.archive("desk")
    teams.archive("desk")
    assert teams.list_all() == []
    teams.create("desk", TeamChange(supervisor="editor", members=("checker",)))
    teams.archive("desk")
    assert teams.restore("desk").members == ("checker",)
    assert teams.restore("desk-2").description == "News", "an older one is kept"


def test_an_agent_moves_from_one_team_to_another(teams: TeamFolder) -> None:
    teams.create("desk", TeamChange(supervisor="editor", members=("writer", "checker")))
    teams.create("radio", TeamChange(supervisor="checker", members=("editor",)))
    for _ in range(2):  # a repeat changes nothing
        teams.move("writer", "desk", "radio")
        assert teams.find("desk").members == ("checker",)
        assert teams.find("radio").members == ("editor", "writer")
    assert "needs 1 to 8 members" in refusal(lambda: teams.move("checker", "desk", "radio"))
    assert teams.find("desk").members == ("checker",)
    assert "there is no team press" in refusal(lambda: teams.move("writer", "radio", "press"))
    assert "no member of the team" in refusal(lambda: teams.move("cook", "desk", "radio"))


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (TeamChange(members=("writer",)), "needs its name: supervisor"),
        (TeamChange(supervisor="editor"), "it needs 1 to 8 members"),
        (
            TeamChange(supervisor="editor", members=("writr",)),
            "there is no agent writr (did you mean writer?)",
        ),
        (TeamChange(supervisor="editor", members=("editor",)), "can't be a member, too"),
        (TeamChange(manager="round_robin", members=("writer",)), "it needs 2 to 8 members"),
        (TeamChange(manager="round_robin", members=("writer", "writer")), "members twice"),
        (
            TeamChange(manager="free", supervisor="editor", members=("writer", "checker")),
            "has no supervisor",
        ),
        (TeamChange(supervisor="editor", members=("writer",), rounds=0), "rounds must be a number"),
        (TeamChange(supervisor="editor", members=("writer",), steps=999), "from 1 to 200"),
        (TeamChange(supervisor="editor", members=("writer",), dollars=-1), "from 0 to 100"),
    ],
)
def test_a_team_that_can_not_work_is_refused(
    teams: TeamFolder, change: TeamChange, fault: str
) -> None:
    assert fault in refusal(lambda: teams.create("desk", change))
    assert teams.list_all() == []


def test_a_supervisor_must_be_able_to_ask(teams: TeamFolder, files: AgentFiles) -> None:
    files.change("editor", AgentChange(tools=("look",)))
    change = TeamChange(supervisor="editor", members=("writer",))
    assert "it may not use message_agent" in refusal(lambda: teams.create("desk", change))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("manager = ", "can't be used: Invalid value"),
        ('leader = "editor"', "an unknown key leader"),
        ('members = "writer"', "members must be a list of names"),
        ('rounds = "two"', "rounds must be a number"),
        ('manager = "boss"', "manager must be one of supervisor, round_robin, free"),
    ],
)
def test_a_broken_file_is_one_sentence_and_the_others_work(
    teams: TeamFolder, tmp_path: Path, text: str, fault: str
) -> None:
    teams.create("desk", TeamChange(supervisor="editor", members=("writer",)))
    (tmp_path / "teams" / "bad.toml").write_text(text)
    with pytest.raises(AgentBroken, match=fault):
        teams.find("bad")
    assert [one.name for one in teams.list_all() if one.team] == ["desk"]
