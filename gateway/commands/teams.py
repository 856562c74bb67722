"""The command about teams of agents: list, make and change them, and give one a task."""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from agent_core.agent.named.editor import AgentEditor
from agent_core.errors import AgentBroken
from gateway.commands.agents import make_author, note_put_away
from gateway.commands.numbers import read_number
from gateway.commands.registry import Call, Handler, Reply
from gateway.errors import Declined
from gateway.operations.agent_types import MoveAgent, PutAway, WriteTeam
from gateway.operations.agents import move_as, put_away_as, write_team_as
from gateway.operations.wire import load
from gateway.texts import agents as texts

_VERBS = ("new", "change", "move", "archive", "restore")
_FIELDS = (
    "description",
    "manager",
    "supervisor",
    "members",
    "blocks",
    "rounds",
    "steps",
    "dollars",
)
_LISTS = ("members", "blocks")
_FREE = "free"
_AMOUNT = re.compile(r"\$?\d{1,4}([.,]\d{1,9})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamCommands:
    """Lists, makes and changes teams, and lets one work on a task."""

    editor: AgentEditor

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers by command name."""
        return {"team": self._run}

    async def _run(self, call: Call) -> Reply:
        name, _, words = call.argument.strip().partition(" ")
        if not name:
            entries = await asyncio.to_thread(self.editor.teams.list_all)
            usable = [one for one in entries if one.team or call.person.is_owner]
            return Reply(text=texts.list_teams(usable))
        if name not in _VERBS:
            return await self._give(call, name, words.strip())
        if not call.person.is_owner:
            return Reply(text=texts.ONLY_OWNER_MAKES())
        try:
            return await self._edit(call, name, words.split(maxsplit=1))
        except Declined as error:
            return Reply(text=texts.REFUSED(reason=error))

    async def _give(self, call: Call, name: str, task: str) -> Reply:
        try:
            team = await asyncio.to_thread(self.editor.teams.find, name)
        except AgentBroken as error:
            return Reply(text=texts.REFUSED(reason=f"{str(error)[:1].upper()}{str(error)[1:]}."))
        if not task:
            return Reply(text=texts.describe_team(team))
        return Reply(pending=call.as_message(texts.TEAM_TASK(name=name, task=task)))

    async def _edit(self, call: Call, verb: str, words: list[str]) -> Reply:
        """Make or change a team; return the reply. Raises `Declined`."""
        author, editor = make_author(call), self.editor
        name, rest = (*words, "", "")[:2]
        if verb == "move":
            match [name, *rest.split()]:
                case [agent, source, target]:
                    await move_as(
                        editor, author, MoveAgent(name=agent, source=source, target=target)
                    )
                    moved = texts.MOVED(name=agent, source=source, target=target)
                    return Reply(text=moved)
            return Reply(text=texts.TEAM_USAGE())
        if verb in ("archive", "restore") and name and not rest:
            asked = load(PutAway, {"kind": "team", "action": verb, "name": name})
            await put_away_as(editor, author, asked)
            done = texts.TEAM_ARCHIVED if verb == "archive" else texts.TEAM_RESTORED
            return note_put_away(call, asked, done(name=name))
        wish = _read_new(name, rest) if verb == "new" else _read_change(name, rest)
        if wish is None:
            return Reply(text=texts.TEAM_USAGE())
        await write_team_as(editor, author, wish)
        return Reply(text=(texts.TEAM_MADE if verb == "new" else texts.TEAM_CHANGED)(name=name))


def _read_new(name: str, words: str) -> WriteTeam | None:
    """Read a new team: `editor: writer, checker`, `writer, checker`, or `free: writer, checker`."""
    leader, colon, members = words.rpartition(":")
    leader, names = leader.strip(), _split(members)
    if not name or not names or (colon and (not leader or " " in leader)):
        return None
    manager: Literal["supervisor", "round_robin", "free"] = "round_robin"
    if colon:
        manager = "free" if leader == _FREE else "supervisor"
    supervisor = leader if manager == "supervisor" else None
    return WriteTeam(
        action="create", name=name, manager=manager, supervisor=supervisor, members=names
    )


def _read_change(name: str, words: str) -> WriteTeam | None:
    """Read a change: a field and its new value; None without one. Raises `Mistaken`."""
    key, _, value = words.partition(" ")
    key, value = key.casefold(), value.strip()
    if key not in _FIELDS or not value:
        return None
    given: object = value
    if key in _LISTS:
        given = _split(value)
    elif key in ("rounds", "steps") and (number := read_number(value)) is not None:
        given = number
    elif key == "dollars" and _AMOUNT.fullmatch(value):
        given = float(value.removeprefix("$").replace(",", "."))
    return load(WriteTeam, {"action": "change", "name": name, key: given})


def _split(names: str) -> tuple[str, ...]:
    return tuple(one for one in names.replace(",", " ").split() if one != "-")
