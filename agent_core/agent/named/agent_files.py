"""Write the files of named agents: whole or not at all."""

import json
import os
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from agent_core.agent.named.definition import (
    LONGEST_NAME,
    NamedAgent,
    find_near,
    is_name,
    parse_agent,
)
from agent_core.agent.named.folder import CHANGE, AgentEntry, AgentFolder, load_change
from agent_core.errors import AgentMissing, AgentRefused, SkillBroken, SkillMissing
from agent_core.tools.selection.call_rules import CallRule
from agent_core.transcript import flatten

MOST_MADE = 50
"""The most agents that can be made; more are no help to anybody, and each costs room in lists."""
_ARCHIVE = ".archive"
_TABLE, _SOUL = "agent.toml", "SOUL.md"
_DRAFT = ".new-"
_LONGEST_SHOWN = 40
_FIRST_SOUL = "You are {name}, one of several assistants of the same person.\n"
_FIRST_TABLE = "# docs/agents.md explains each key.\n"
BAD_NAME = (
    "{name!r} is no name: a name consists of up to 32 lower-case letters, digits and -, begins"
    " with a letter, and is not default"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentChange:
    """A change of an agent; None leaves a part as it is. See `NamedAgent`.

    `any_tools` and `any_blocks` remove the list of the tools or blocks that it may use.
    """

    soul: str | None = None
    description: str | None = None
    model: str | None = None
    tools: tuple[str, ...] | None = None
    disabled: tuple[str, ...] | None = None
    skills: tuple[str, ...] | None = None
    blocks: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None
    rules: tuple[CallRule, ...] | None = None
    any_tools: bool = False
    any_blocks: bool = False

    @property
    def is_empty(self) -> bool:
        """True if it changes nothing."""
        return self == AgentChange()


class AgentFiles:
    """Makes, changes and archives the folders of agents. Each call blocks while it writes.

    Every method raises `AgentRefused` with a clause, and changes nothing then.
    """

    def __init__(self, agents: AgentFolder) -> None:
        self.agents = agents
        """Reads what these files say."""

    def create(self, name: str, change: AgentChange) -> NamedAgent:
        """Make an agent; one that exists already with just these words is returned as it is."""
        agent, files = self._plan(name, change)
        place = self.agents.place / name
        if place.exists() or place.is_symlink():
            if all(_read(place / file) == text for file, text in files.items()):
                return agent
            raise AgentRefused(f"there is an agent {name} already; change it, or take another name")
        self._check_room()
        guard(lambda: _publish(_make_draft(place.parent, files), place))
        return agent

    def prepare(self, name: str, change: AgentChange) -> Path:
        """Write the folder of a new agent, which is none before `publish` puts it in its place."""
        _, files = self._plan(name, change)
        place = self.agents.place / name
        if place.exists() or place.is_symlink():
            raise AgentRefused(f"there is an agent {name} already; take another name")
        self._check_room()
        made: list[Path] = []
        guard(lambda: made.append(_make_draft(place.parent, files)))
        return made[0]

    def publish(self, name: str, draft: str) -> None:
        """Put a prepared folder in its place, once; `draft` is its name."""
        place, path = self.agents.place / name, self.agents.place / draft
        if path.is_dir() and not place.exists():
            guard(lambda: _publish(path, place))

    def remove_drafts(self) -> None:
        """Delete prepared folders, of which none is awaited. Raises `AgentRefused`."""
        guard(lambda: _remove_all(self.agents.place.glob(f"{_DRAFT}*")))

    def read(self, name: str) -> NamedAgent:
        """Return an agent as its own files describe it, without its skills' texts."""
        place = self._find(name)
        guard(lambda: _finish_change(place))
        return self._check(name, _read(place / _TABLE), _read(place / _SOUL))

    def change(self, name: str, change: AgentChange) -> NamedAgent:
        """Change an agent, also one whose files have a fault."""
        place = self._find(name)
        guard(lambda: _finish_change(place))
        soul = change.soul or _read(place / _SOUL)
        table = _edit(_read(place / _TABLE), change)
        agent = self._check(name, table, soul)
        guard(lambda: _replace_files(place, {_TABLE: table, _SOUL: soul}))
        return agent

    def finish_changes(self) -> None:
        """Finish the changes that an earlier process began. Raises `AgentRefused`."""

        def work() -> None:
            for path in self.agents.place.glob(f"*/{CHANGE}"):
                _finish_change(path.parent)

        guard(work)

    def archive(self, name: str) -> None:
        """Put an agent's folder away; one that is there already with this name makes room."""
        away = self.agents.place / _ARCHIVE / name
        if is_name(name) and away.exists() and not (self.agents.place / name).exists():
            return  # a repetition
        place = self._find(name)

        def work() -> None:
            _finish_change(place)
            away.parent.mkdir(exist_ok=True)
            make_room(away)
            place.rename(away)

        guard(work)

    def restore(self, name: str) -> NamedAgent:
        """Bring an archived agent back."""
        place, away = self.agents.place / name, self.agents.place / _ARCHIVE / name
        if is_name(name) and place.is_dir() and not away.exists():
            away = place  # a repetition
        elif not is_name(name) or not away.is_dir():
            raise AgentRefused(f"no agent {flatten(name, _LONGEST_SHOWN)} is archived")
        elif place.exists():
            raise AgentRefused(f"there is an agent {name} now; archive that one first")
        agent = self._check(name, _read(away / _TABLE), _read(away / _SOUL))
        guard(lambda: away.rename(place))
        return agent

    def list_all(self) -> list[AgentEntry]:
        """List the agents; see `AgentFolder`. Raises `AgentBroken`."""
        return self.agents.list_all()

    def list_archived(self) -> list[str]:
        """List the names of archived agents."""
        away = self.agents.place / _ARCHIVE
        return sorted(one.name for one in away.iterdir()) if away.is_dir() else []

    def _plan(self, name: str, change: AgentChange) -> tuple[NamedAgent, dict[str, str]]:
        if not is_name(name):
            raise AgentRefused(BAD_NAME.format(name=flatten(name, _LONGEST_SHOWN)))
        soul = change.soul or _FIRST_SOUL.format(name=name)
        table = _edit(_FIRST_TABLE, change)
        return self._check(name, table, soul), {_SOUL: soul, _TABLE: table}

    def _check_room(self) -> None:
        if len(self.agents.list_all()) >= MOST_MADE:
            raise AgentRefused(
                f"there are {MOST_MADE} agents already, which is the most; archive one that nobody"
                " needs first"
            )

    def _find(self, name: str) -> Path:
        place = self.agents.place / name
        if not is_name(name) or place.is_symlink() or not place.is_dir():
            near = find_near(name.casefold(), [one.name for one in self.agents.list_all()])
            raise AgentRefused(str(AgentMissing(flatten(name, _LONGEST_SHOWN), near)))
        return place

    def _check(self, name: str, table: str, soul: str) -> NamedAgent:
        try:
            agent = parse_agent(name, table, soul, self.agents.known)
            for skill in agent.skills:
                self.agents.check_skill(skill)
        except (ValueError, SkillMissing, SkillBroken) as error:
            raise AgentRefused(str(error)) from error
        return agent


def _edit(text: str, change: AgentChange) -> str:
    """Return the text of an agent.toml with a change; comments and order stay."""
    try:
        document = tomlkit.parse(text.removeprefix("\ufeff"))
    except (ValueError, TOMLKitError) as error:
        raise AgentRefused(f"agent.toml is not valid TOML: {error}") from error
    rules = change.rules
    values: dict[str, Any] = {
        one.name: getattr(change, one.name)
        for one in fields(change)
        if one.name not in ("soul", "rules", "any_tools", "any_blocks")
    }
    for key, value in values.items():
        if value is not None:
            document.pop(key, None)
            # A key of the document's own table has to stand before its first [[rules]].
            kept = document.pop("rules", None)
            document[key] = list(value) if isinstance(value, tuple) else value
            if kept is not None:
                document["rules"] = kept
    for key, is_removed in (("tools", change.any_tools), ("blocks", change.any_blocks)):
        if is_removed:
            document.pop(key, None)
    if rules is not None:
        document.pop("rules", None)
        if rules:
            table = tomlkit.aot()
            for rule in rules:
                table.append(tomlkit.item(dump_rule(rule)))
            document["rules"] = table
    return tomlkit.dumps(document)


def dump_rule(rule: CallRule) -> dict[str, Any]:
    """Return the table of a rule, with the keys that say something."""
    values = ((one.name, getattr(rule, one.name)) for one in fields(rule))
    return {key: list(one) if isinstance(one, tuple) else one for key, one in values if one}


def _read(path: Path) -> str:
    """Return a file of an agent; "" if it is missing, so that the check names the fault."""
    try:
        return "" if path.is_symlink() else path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise AgentRefused(f"{path.name} can't be read: {error}") from error


def guard(work: Callable[[], object]) -> None:
    """Do what writes files. Raises `AgentRefused`."""
    try:
        work()
    except OSError as error:
        raise AgentRefused(f"its files can't be written: {error.strerror}") from error


def make_room(place: Path) -> None:
    """Give what lies at a place another name, so that something else can be put there.

    That name is one that an agent or a team may have, so that it can be restored.
    """
    if place.exists():
        number = 2
        while (older := place.with_name(_number(place, number))).exists():
            number += 1
        place.rename(older)


def _number(place: Path, number: int) -> str:
    end = f"-{number}"
    return f"{place.stem[: LONGEST_NAME - len(end)]}{end}{place.suffix}"


def _make_draft(folder: Path, files: dict[str, str]) -> Path:
    """Write a folder with files beside its later place."""
    folder.mkdir(parents=True, exist_ok=True)
    draft = Path(mkdtemp(prefix=_DRAFT, dir=folder))
    try:
        for name, text in files.items():
            write_file(draft / name, text)
    except OSError:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    return draft


def _remove_all(folders: Iterable[Path]) -> None:
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def _publish(draft: Path, place: Path) -> None:
    """Give a folder its name in one step: a crash leaves all of its files or none."""
    draft.rename(place)
    _sync(place.parent)


def _replace_files(place: Path, files: dict[str, str]) -> None:
    """Replace files of an agent in one step: one file with all of them counts until they lie there.

    A crash leaves the old texts or the new ones, and so does a full disk.
    """
    try:
        write_file(place / CHANGE, json.dumps(files))
    except OSError:
        (place / f".{CHANGE}.new").unlink(missing_ok=True)
        raise
    _finish_change(place)


def _finish_change(place: Path) -> None:
    for name, text in (load_change(place) or {}).items():
        write_file(place / name, text)
    (place / CHANGE).unlink(missing_ok=True)


def write_file(path: Path, text: str) -> None:
    """Replace a file: a crash leaves the old text or the new one."""
    draft = path.with_name(f".{path.name}.new")
    with draft.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    _sync(path.parent)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
