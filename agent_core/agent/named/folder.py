"""The folder of the named agents: `agents/<name>/` in the home directory."""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from agent_core.agent.named.definition import (
    LONGEST_SOUL,
    LONGEST_TABLE,
    KnownNames,
    NamedAgent,
    find_near,
    is_name,
    read_agent,
)
from agent_core.errors import AgentBroken, AgentMissing, SkillBroken, SkillMissing
from agent_core.tools.selection.call_rules import describe_rules
from agent_core.transcript import escape, flatten

if TYPE_CHECKING:  # `talaria agents` reads the folder without the database
    from agent_core.schedule.resources import JobTurn
    from agent_core.state.conversations.sessions import Conversation

AGENTS = "agents"
_TABLE, _SOUL = "agent.toml", "SOUL.md"
CHANGE = "change.json"
"""The file with the new texts of both files of an agent, while a change replaces them."""
FOREIGN_SKILL = ", which is of others"
"""The end of the heading of a preloaded skill that Talaria did not bring."""
_LONGEST_SHOWN = 40
_BYTES_OF_CHARACTER = 4
_MOST_AGENTS = 200
"""The most folders that are read; Talaria ignores the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentEntry:
    """A folder below `agents`: an agent, or the reason why it is not one."""

    name: str
    agent: NamedAgent | None
    fault: str = ""


def no_skills(name: str) -> str:
    """Refuse any skill, for a deployment without skills."""
    raise SkillMissing(f"there is no skill {name}")


class AgentFolder:
    """Reads named agents. Each call reads the files again, so that an edit applies at once.

    The calls block while they read a few small files.
    """

    def __init__(
        self,
        home: Path,
        known: KnownNames | None = None,
        load_skill: Callable[[str], str] = no_skills,
        is_bundled: Callable[[str], bool] = lambda name: False,
    ) -> None:
        """`load_skill` returns the text of a skill; it raises `SkillMissing` or `SkillBroken`.

        `is_bundled` returns whether a skill comes with Talaria; the text of any other skill counts
        as words of others.
        """
        self._folder = home / AGENTS
        self.known = known or KnownNames()
        """The models and tools that an agent may name."""
        self.find_shared: Callable[[str], tuple[str, ...]] = lambda name: ()
        """Returns the labels of the blocks that an agent shares with its teams."""
        self._load_skill = load_skill
        self._is_bundled = is_bundled

    @property
    def place(self) -> Path:
        """The folder of all agents, which need not exist."""
        return self._folder

    def list_all(self) -> list[AgentEntry]:
        """List the folders by name; those that are no agents have the reason.

        Raises `AgentBroken` if the folder of all agents can't be read.
        """
        if self._folder.is_symlink():
            raise AgentBroken(f"{self._folder} is a link; it must be a folder")
        try:
            if not self._folder.exists():
                return []
            places = sorted(one.name for one in self._folder.iterdir() if one.is_dir())
        except OSError as error:
            raise AgentBroken(f"{self._folder} can't be read: {error.strerror}") from error
        shown = [one for one in places if not one.startswith(".")][:_MOST_AGENTS]
        return [self._look_at(name) for name in shown]

    def list_good(self) -> list[NamedAgent]:
        """List the agents that can be used. Raises `AgentBroken` as `list_all`."""
        return [entry.agent for entry in self.list_all() if entry.agent]

    def find(self, name: str) -> NamedAgent:
        """Load an agent whose identity ends with the texts of its skills and its rules.

        Raises `AgentBroken` if no agent has this name, or if it can't be used.
        """
        agent = self.find_own(name)
        return replace(agent, soul=self._add_skills(agent), shared=self.find_shared(name))

    def find_own(self, name: str) -> NamedAgent:
        """Load an agent with the identity that its file has. Raises `AgentBroken` as `find`."""
        if not is_name(name):
            near = find_near(name.casefold(), self._list_names())
            raise AgentMissing(flatten(name, _LONGEST_SHOWN), near)
        place = self._folder / name
        try:
            for path in (self._folder, place, place / _TABLE, place / _SOUL):
                if path.is_symlink():
                    raise AgentBroken(f"the agent {name} can't be used: {path.name} is a link")
            if not place.is_dir():
                raise AgentMissing(name, find_near(name, self._list_names()))
        except OSError as error:
            raise AgentBroken(f"the agent {name} can't be used: {error.strerror}") from error
        table, soul = _read_both(place, name)
        return read_agent(name, table, soul, self.known)

    def check_skill(self, name: str) -> None:
        """Raise `SkillMissing` or `SkillBroken` if a skill can't be preloaded."""
        self._load_skill(name)

    def _list_names(self) -> list[str]:
        return [one.name for one in self._folder.iterdir()] if self._folder.is_dir() else []

    def _look_at(self, name: str) -> AgentEntry:
        try:
            return AgentEntry(name=name, agent=self.find(name))
        except AgentBroken as error:
            return AgentEntry(name=name[:40], agent=None, fault=str(error))

    def _add_skills(self, agent: NamedAgent) -> str:
        parts = [agent.soul]
        for skill in agent.skills:
            try:
                text = escape(self._load_skill(skill).strip())
            except (SkillMissing, SkillBroken) as error:
                raise AgentBroken(f"the agent {agent.name} can't be used: {error}") from error
            mark = "" if self._is_bundled(skill) else FOREIGN_SKILL
            parts.append(f"# Skill {skill}{mark}\n{text}")
        if rules := describe_rules(agent.rules):
            parts.append(f"# Rules of your tools\n{rules}")
        return "\n\n".join(parts)


def load_change(place: Path) -> Mapping[str, str] | None:
    """Return the texts of an agent's files that a change is about to put there, if there is one.

    Until it has, they count and the files don't. Raises `OSError`.
    """
    try:
        found = json.loads((place / CHANGE).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    is_whole = isinstance(found, dict) and all(
        isinstance(found.get(one), str) for one in (_TABLE, _SOUL)
    )
    return {one: found[one] for one in (_TABLE, _SOUL)} if is_whole else None


def _read_both(place: Path, name: str) -> tuple[str, str]:
    """Read the agent.toml and the SOUL.md of the same change. Raises `AgentBroken`."""
    while True:
        try:
            change = load_change(place)
        except OSError as error:
            fault = f"the agent {name} can't be used: {CHANGE} can't be read: {error.strerror}"
            raise AgentBroken(fault) from error
        if change:
            return change[_TABLE], change[_SOUL]
        table = _read(place / _TABLE, name, LONGEST_TABLE)
        soul = _read(place / _SOUL, name, LONGEST_SOUL)
        if not (place / CHANGE).exists() and table == _read(place / _TABLE, name, LONGEST_TABLE):
            return table, soul  # otherwise a change came between


def _read(path: Path, name: str, most: int) -> str:
    """Read a file of at most `most` characters. Raises `AgentBroken`."""
    limit = most * _BYTES_OF_CHARACTER
    try:
        with path.open("rb") as file:
            data = file.read(limit + 1)
        if len(data) <= limit:
            return data.decode()
        fault = f"{path.name} is longer than {most:,} characters"
    except FileNotFoundError:
        fault = f"it has no {path.name}"
    except OSError as error:
        fault = f"{path.name} can't be read: {error.strerror}"
    except UnicodeDecodeError:
        fault = f"{path.name} is not UTF-8 text"
    raise AgentBroken(f"the agent {name} can't be used: {fault}")


async def load_agent(
    agents: AgentFolder,
    conversation: "Conversation",
    job_turn: "JobTurn | None",
    *,
    is_begun: bool = False,
) -> NamedAgent | None:
    """Load the named agent of a job or of the conversation; None if neither names one.

    Raises `AgentBroken` if the agent can't be used. If `is_begun`, its turn continues without tools
    instead.
    """
    name = (job_turn.agent if job_turn else "") or conversation.agent
    if not name:
        return None
    try:
        return await asyncio.to_thread(agents.find, name)
    except AgentBroken:
        if is_begun:
            return NamedAgent(name=name, soul="", tools=())
        raise
