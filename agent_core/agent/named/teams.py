"""Teams of named agents: one file each, `teams/<name>.toml` in the home directory."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args

import tomlkit

from agent_core.agent.named.agent_files import BAD_NAME, guard, make_room, write_file
from agent_core.agent.named.definition import NamedAgent, find_near, is_name, suggest
from agent_core.agent.named.folder import AgentFolder
from agent_core.errors import AgentBroken, AgentRefused
from agent_core.money import count_micro_dollars
from agent_core.transcript import flatten

TEAMS = "teams"
Manager = Literal["supervisor", "round_robin", "free"]
"""Who decides which member speaks: an agent, the order of the list, or the members themselves."""
MOST_MEMBERS = 8
MOST_TEAMS = 50
_ARCHIVE = ".archive"
_MOST: Mapping[str, float] = {"rounds": 20, "steps": 200, "dollars": 100}
_LONGEST = 200
_LONGEST_SHOWN = 40
_LONGEST_FILE = 16_000
_ASKING = "message_agent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Team:
    """A team as its file describes it.

    A `supervisor` plans, asks the members and sums up; other managers have none. A run of the team
    ends after `rounds`, after `steps` calls of models, or once it has cost `dollars` (0 for no
    limit of its own). All members see and change the memory blocks whose labels are in `blocks`.
    """

    name: str
    manager: Manager = "supervisor"
    members: tuple[str, ...] = ()
    supervisor: str = ""
    description: str = ""
    blocks: tuple[str, ...] = ()
    rounds: int = 3
    steps: int = 40
    dollars: float = 0.0

    @property
    def micro_dollars(self) -> int:
        """The most that a run may cost, in millionths of a US dollar; 0 for no limit."""
        return count_micro_dollars(self.dollars)

    @property
    def everyone(self) -> tuple[str, ...]:
        """The members and the supervisor."""
        return tuple(dict.fromkeys((*self.members, *filter(None, [self.supervisor]))))


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamChange:
    """Names what changes in a team; None leaves a part as it is. See `Team`."""

    manager: Manager | None = None
    members: tuple[str, ...] | None = None
    supervisor: str | None = None
    description: str | None = None
    blocks: tuple[str, ...] | None = None
    rounds: int | None = None
    steps: int | None = None
    dollars: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamEntry:
    """A file below `teams`: a team, or the reason why it is not one."""

    name: str
    team: Team | None
    fault: str = field(default="")


class TeamFolder:
    """Reads and writes teams. Each call reads the files again, and blocks meanwhile.

    What writes raises `AgentRefused` with a clause, and changes nothing then.
    """

    def __init__(self, home: Path, agents: AgentFolder) -> None:
        self._place = home / TEAMS
        self._agents = agents
        agents.find_shared = self.list_blocks_of

    def list_all(self) -> list[TeamEntry]:
        """List the teams by name; those that can't be used have the reason."""
        if not self._place.is_dir() or self._place.is_symlink():
            return []
        names = sorted(one.stem for one in self._place.glob("*.toml") if not one.is_symlink())
        return [self._look_at(name) for name in names[:MOST_TEAMS]]

    def list_archived(self) -> list[str]:
        """List the names of archived teams."""
        away = self._place / _ARCHIVE
        return sorted(one.stem for one in away.glob("*.toml")) if away.is_dir() else []

    def find(self, name: str) -> Team:
        """Load a team. Raises `AgentBroken` if there is none, or if it can't be used."""
        path = self._path(name)
        if not is_name(name) or path.is_symlink() or not path.is_file():
            near = find_near(name.casefold(), [one.stem for one in self._place.glob("*.toml")])
            hint = f" (did you mean {near}?)" if near else ""
            raise AgentBroken(f"there is no team {flatten(name, _LONGEST_SHOWN)}{hint}")
        try:
            team = _parse(name, path.read_text(encoding="utf-8"))
            self._check(team)
        except (OSError, ValueError) as error:
            raise AgentBroken(f"the team {name} can't be used: {error}") from error
        return team

    def list_of(self, agent: str) -> list[Team]:
        """List the teams that an agent belongs to."""
        found = (one.team for one in self.list_all())
        return [team for team in found if team and agent in team.everyone]

    def list_blocks_of(self, agent: str) -> tuple[str, ...]:
        """List the labels of the blocks that an agent shares with its teams.

        A team that can't be used shares none of them.
        """
        labels: list[str] = []
        for path in sorted(self._place.glob("*.toml"))[:MOST_TEAMS]:
            try:
                team = _parse(path.stem, path.read_text(encoding="utf-8"))
                _check_form(team)
            except (OSError, ValueError):
                continue
            labels += team.blocks if agent in team.everyone else ()
        return tuple(dict.fromkeys(labels))

    def create(self, name: str, change: TeamChange) -> Team:
        """Make a team; one that exists already with just these words is returned as it is."""
        if not is_name(name):
            raise AgentRefused(BAD_NAME.format(name=flatten(name, _LONGEST_SHOWN)))
        team = _apply(Team(name=name), change)
        self._refuse(team)
        if self._path(name).exists():
            if self._look_at(name).team == team:
                return team
            raise AgentRefused(f"there is a team {name} already; change it, or take another name")
        if len(self.list_all()) >= MOST_TEAMS:
            raise AgentRefused(f"there are {MOST_TEAMS} teams already, which is the most")
        self._write(team)
        return team

    def change(self, name: str, change: TeamChange) -> Team:
        """Change a team."""
        team = _apply(self._load(name), change)
        self._refuse(team)
        self._write(team)
        return team

    def move(self, agent: str, source: str, target: str) -> Team:
        """Move an agent from one team to another; a crash leaves it in both, never in none."""
        before, after = self._load(source), self._load(target)
        if agent not in before.members:
            if agent in after.members:
                return after
            raise AgentRefused(f"the agent {agent} is no member of the team {source}")
        rest = replace(before, members=tuple(one for one in before.members if one != agent))
        joined = replace(after, members=tuple(dict.fromkeys((*after.members, agent))))
        self._refuse(rest)
        self._refuse(joined)
        self._write(joined)
        self._write(rest)
        return joined

    def archive(self, name: str) -> None:
        """Put a team's file away; one that is there already with this name makes room."""
        away = self._place / _ARCHIVE
        if is_name(name) and (away / f"{name}.toml").exists() and not self._path(name).exists():
            return  # a repetition
        self._load(name)

        def work() -> None:
            away.mkdir(exist_ok=True)
            make_room(away / f"{name}.toml")
            self._path(name).rename(away / f"{name}.toml")

        guard(work)

    def restore(self, name: str) -> Team:
        """Bring an archived team back."""
        away = self._place / _ARCHIVE / f"{name}.toml"
        if not is_name(name) or not away.is_file():
            raise AgentRefused(f"no team {flatten(name, _LONGEST_SHOWN)} is archived")
        if self._path(name).exists():
            raise AgentRefused(f"there is a team {name} now; archive that one first")
        try:
            team = _parse(name, away.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise AgentRefused(str(error)) from error
        self._refuse(team)
        guard(lambda: away.rename(self._path(name)))
        return team

    def _path(self, name: str) -> Path:
        return self._place / f"{name}.toml"

    def _look_at(self, name: str) -> TeamEntry:
        try:
            return TeamEntry(name=name, team=self.find(name))
        except AgentBroken as error:
            return TeamEntry(name=name[:_LONGEST_SHOWN], team=None, fault=str(error))

    def _load(self, name: str) -> Team:
        """Load a team to change it. Raises `AgentRefused`."""
        path = self._path(name)
        try:
            if is_name(name) and path.is_file():
                return _parse(name, path.read_text(encoding="utf-8"))
            self.find(name)
        except (AgentBroken, OSError, ValueError) as error:
            raise AgentRefused(str(error)) from error
        raise AgentRefused(f"there is no team {flatten(name, _LONGEST_SHOWN)}")

    def _refuse(self, team: Team) -> None:
        try:
            self._check(team)
        except ValueError as error:
            raise AgentRefused(str(error)) from error

    def _check(self, team: Team) -> None:
        """Raise `ValueError` with a clause if a team can't work."""
        _check_form(team)
        found: dict[str, NamedAgent] = {}
        for name in team.everyone:
            try:
                found[name] = self._agents.find(name)
            except AgentBroken as error:
                raise ValueError(str(error)) from error
        if team.supervisor and not found[team.supervisor].may_use(_ASKING):
            raise ValueError(
                f"its supervisor {team.supervisor} can't ask anybody: it may not use {_ASKING}"
            )

    def _write(self, team: Team) -> None:
        document = tomlkit.document()
        for one in fields(team):
            value = getattr(team, one.name)
            if one.name != "name" and value != one.default:
                document[one.name] = list(value) if isinstance(value, tuple) else value

        def work() -> None:
            self._place.mkdir(parents=True, exist_ok=True)
            write_file(self._path(team.name), tomlkit.dumps(document))

        guard(work)


def _apply(team: Team, change: TeamChange) -> Team:
    values = {one.name: getattr(change, one.name) for one in fields(change)}
    given = {key: value for key, value in values.items() if value is not None}
    if given.get("manager", "supervisor") != "supervisor":
        given.setdefault("supervisor", "")
    return replace(team, **given)


def _parse(name: str, text: str) -> Team:
    """Build a team from the text of its file. Raises `ValueError` with a clause."""
    if len(text) > _LONGEST_FILE:
        raise ValueError(f"its file is longer than {_LONGEST_FILE:,} characters")
    try:
        values = tomllib.loads(text.removeprefix("\ufeff"))
    except RecursionError as error:
        raise ValueError("its file is nested too deeply") from error
    keys = [one.name for one in fields(TeamChange)]
    for key, value in values.items():
        if key not in keys:
            raise ValueError(f"it has an unknown key {key}{suggest(key, keys)}")
        if key in ("members", "blocks"):
            if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
                raise ValueError(f"{key} must be a list of names")
        elif key in _MOST:
            if not isinstance(value, int | float) or isinstance(value, bool):
                raise ValueError(f"{key} must be a number")
        elif not isinstance(value, str):
            raise ValueError(f"{key} must be a text")
    given: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in values.items()
    }
    return Team(name=name, **given)


def _check_form(team: Team) -> None:
    if team.manager not in get_args(Manager):
        raise ValueError(f"manager must be one of {', '.join(get_args(Manager))}")
    if len(team.description) > _LONGEST:
        raise ValueError(f"its description is longer than {_LONGEST} characters")
    for key, most in _MOST.items():
        value, least = getattr(team, key), 0 if key == "dollars" else 1
        if not least <= value <= most or (key != "dollars" and not isinstance(value, int)):
            raise ValueError(f"{key} must be a number from {least} to {most:g}")
    try:
        count_micro_dollars(team.dollars)
    except ValueError as error:
        raise ValueError(f"in dollars, {error}") from error
    twice = next((one for one in team.members if team.members.count(one) > 1), "")
    if twice:
        raise ValueError(f"the agent {twice} is among its members twice")
    if (team.manager == "supervisor") != bool(team.supervisor):
        raise ValueError(
            "a team with a supervisor needs its name: supervisor"
            if team.manager == "supervisor"
            else f"a team with the manager {team.manager} has no supervisor"
        )
    if team.supervisor in team.members and team.supervisor:
        raise ValueError(f"its supervisor {team.supervisor} can't be a member, too")
    least_members = 1 if team.supervisor else 2
    if not least_members <= len(team.members) <= MOST_MEMBERS:
        raise ValueError(f"it needs {least_members} to {MOST_MEMBERS} members")
    _check_labels(team.blocks)


def _check_labels(labels: Sequence[str]) -> None:
    if bad := next((one for one in labels if not one.strip() or len(one) > _LONGEST_SHOWN), None):
        raise ValueError(f"{bad!r} is no name of a memory block")
