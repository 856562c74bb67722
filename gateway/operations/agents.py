"""Operations on named agents and teams: list, make, change, move, archive and restore them."""

import asyncio
import os
from collections.abc import Awaitable, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import TypeVar, cast

from agent_core.agent.named import file_transfer
from agent_core.agent.named.agent_files import AgentChange
from agent_core.agent.named.chain import DEFAULT
from agent_core.agent.named.definition import NamedAgent
from agent_core.agent.named.editor import AgentEditor, Author, Deed, Wanted
from agent_core.agent.named.folder import AgentEntry
from agent_core.agent.named.letta_file import MOST_BYTES
from agent_core.agent.named.teams import Team, TeamChange, TeamEntry
from agent_core.errors import AgentBroken, AgentMissing, AgentRefused
from agent_core.ids import PersonId
from agent_core.state.engine.database import Connection
from agent_core.state.people import people
from agent_core.state.people.people import Person
from agent_core.tools.selection.call_rules import CallRule
from agent_core.tools.selection.rule_check import read_rule
from gateway.errors import Declined
from gateway.operations.agent_types import (
    AgentLine,
    AgentList,
    AgentRule,
    ChangedAgent,
    ExportAgent,
    ImportAgent,
    ImportedAgent,
    ListAgents,
    MoveAgent,
    PutAway,
    ShowAgent,
    ShownAgent,
    TeamLine,
    UseAgent,
    WriteAgent,
    WriteTeam,
)
from gateway.operations.contract import Operation, OperationContext, find_person, note_deed
from gateway.operations.wire import typed
from gateway.texts import agents as texts

_T = TypeVar("_T")


async def list_agents(context: OperationContext, _: ListAgents) -> AgentList:
    """List every agent and team, those with a fault, too. Raises `Declined`."""
    editor = context.agents

    def look() -> tuple[list[AgentEntry], list[TeamEntry]]:
        return editor.files.list_all(), editor.teams.list_all()

    try:
        found, teams = await asyncio.to_thread(look)
    except AgentBroken as error:
        raise Declined(_end(str(error))) from error
    archived = await asyncio.to_thread(editor.files.list_archived)
    archived_teams = await asyncio.to_thread(editor.teams.list_archived)
    lines = [
        _outline(one, [team.name for team in teams if team.team and one.name in team.team.everyone])
        for one in found
    ]
    return AgentList(
        agents=tuple(lines),
        teams=tuple(_outline_team(one) for one in teams),
        archived=tuple(archived),
        archived_teams=tuple(archived_teams),
    )


async def show_agent(context: OperationContext, asked: ShowAgent) -> ShownAgent:
    """Show an agent with its identity, or its fault. Raises `Declined` if there is none."""
    found = await list_agents(context, ListAgents())
    line = next((one for one in found.agents if one.name == asked.name), None)
    if line is None:
        raise Declined(texts.describe_fault(AgentMissing(asked.name, "")))
    if line.fault:
        return ShownAgent(line=line)
    try:
        agent = await asyncio.to_thread(context.agents.files.agents.find_own, line.name)
    except AgentBroken as error:
        raise Declined(texts.describe_fault(error)) from error
    return ShownAgent(line=line, soul=agent.soul)


async def use_agent(context: OperationContext, asked: UseAgent) -> ChangedAgent:
    """Let an agent answer in a person's direct chats. Raises `Declined`."""
    name = (await _find(context, asked.name)).name if asked.name else ""

    def work(connection: Connection) -> None:
        person = find_person(connection, asked.person)
        people.bind_agent(connection, person_id=person.id, agent=name)
        undo, redo = name_use(person.agent), name_use(name)
        note_deed(context, connection, undo=undo, redo=redo, did=texts.name_choice(name))

    await context.database.write("agents.use", work)
    context.forget_known()
    return ChangedAgent(name=name)


def name_use(name: str) -> str:
    """Return the command, without slash, that lets an agent answer; "" is the default."""
    return f"agents use {name or DEFAULT}"


def name_put_away(asked: PutAway, *, is_undo: bool = False) -> str:
    """Return the command, without slash, that archives or restores, or takes that back."""
    is_archive = (asked.action == "archive") != is_undo
    command = "agents" if asked.kind == "agent" else "team"
    return f"{command} {'archive' if is_archive else 'restore'} {asked.name.strip()}"


async def _find(context: OperationContext, name: str) -> NamedAgent:
    """Return an agent that can be used. Raises `Declined`."""
    try:
        return await asyncio.to_thread(context.agents.files.agents.find, name)
    except AgentBroken as error:
        raise Declined(texts.describe_fault(error)) from error


async def write_agent(context: OperationContext, asked: WriteAgent) -> ChangedAgent:
    """Make or change an agent. Raises `Declined`."""
    return await write_agent_as(context.agents, await _find_author(context, asked.by), asked)


async def write_agent_as(editor: AgentEditor, author: Author, asked: WriteAgent) -> ChangedAgent:
    """Make or change an agent for an author who may do so. Raises `Declined`."""
    return await _do(editor, author, asked.action, asked.name, Wanted(agent=read_change(asked)))


def read_change(asked: WriteAgent) -> AgentChange:
    """Return what an agent shall be. Raises `Declined` for a wrong rule."""
    try:
        rules = None if asked.rules is None else tuple(map(_read_rule, asked.rules))
    except ValueError as error:
        raise Declined(_end(f"in a rule, {error}")) from error
    values = {one.name: getattr(asked, one.name) for one in fields(AgentChange)}
    return AgentChange(**{**values, "rules": rules})


async def write_team(context: OperationContext, asked: WriteTeam) -> ChangedAgent:
    """Make or change a team. Raises `Declined`."""
    return await write_team_as(context.agents, await _find_author(context, asked.by), asked)


async def write_team_as(editor: AgentEditor, author: Author, asked: WriteTeam) -> ChangedAgent:
    """Make or change a team for an author who may do so. Raises `Declined`."""
    change = TeamChange(**{one.name: getattr(asked, one.name) for one in fields(TeamChange)})
    return await _do(editor, author, f"{asked.action}_team", asked.name, Wanted(team=change))


async def put_away(context: OperationContext, asked: PutAway) -> ChangedAgent:
    """Archive or restore an agent or a team. Raises `Declined`."""
    done = await put_away_as(context.agents, await _find_author(context, asked.by), asked)
    did = texts.name_deed(done.name, is_archive=asked.action == "archive")

    def work(connection: Connection) -> None:
        undo, redo = name_put_away(asked, is_undo=True), name_put_away(asked)
        note_deed(context, connection, undo=undo, redo=redo, did=did)

    await context.database.write("agents.deed", work)
    return done


async def put_away_as(editor: AgentEditor, author: Author, asked: PutAway) -> ChangedAgent:
    """Archive or restore an agent or a team for an author who may do so. Raises `Declined`."""
    deed = asked.action if asked.kind == "agent" else f"{asked.action}_team"
    return await _do(editor, author, deed, asked.name, Wanted())


async def move(context: OperationContext, asked: MoveAgent) -> ChangedAgent:
    """Move an agent from one team to another. Raises `Declined`."""
    return await move_as(context.agents, await _find_author(context, asked.by), asked)


async def move_as(editor: AgentEditor, author: Author, asked: MoveAgent) -> ChangedAgent:
    """Move an agent for an author who may do so. Raises `Declined`."""
    wanted = Wanted(source=asked.source, target=asked.target)
    return await _do(editor, author, "move", asked.name, wanted)


async def import_file(context: OperationContext, asked: ImportAgent) -> ImportedAgent:
    """Bring in an agent from a file: all of it or nothing. Raises `Declined`."""
    author = await _find_author(context, asked.by)
    person = await _find_holder(context, asked.person or asked.by)
    data = await asyncio.to_thread(_read_file, Path(asked.path))
    return await import_file_as(context.agents, author, person.id, data, asked)


async def import_file_as(
    editor: AgentEditor, author: Author, person_id: PersonId, data: bytes, asked: ImportAgent
) -> ImportedAgent:
    """Bring in an agent from the bytes of a file, for an author who may. Raises `Declined`."""
    name, chosen = asked.name.strip(), asked.chosen.strip()
    work = file_transfer.import_agent(editor, data, person_id, author, name=name, chosen=chosen)
    made = await _perform(work)
    return ImportedAgent(**{one.name: getattr(made, one.name) for one in fields(made)})


async def export_file(context: OperationContext, asked: ExportAgent) -> ChangedAgent:
    """Write an agent to a new file. Raises `Declined`."""
    await _find_author(context, asked.by)
    person = await _find_holder(context, asked.person or asked.by)
    data = await export_file_as(context.agents, person.id, asked.name)
    await asyncio.to_thread(_write_file, Path(asked.path), data)
    return ChangedAgent(name=asked.name.strip())


async def export_file_as(editor: AgentEditor, person_id: PersonId, name: str) -> bytes:
    """Return the file of an agent, for somebody who may have it. Raises `Declined`."""
    return await _perform(file_transfer.export_agent(editor, name.strip(), person_id))


def _read_file(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except OSError as error:
        raise Declined(f"{path} can't be read: {error.strerror}.") from error


def _write_file(path: Path, data: bytes) -> None:
    if not path.is_absolute():
        raise Declined(f"{path} is not an absolute path.")
    try:
        with path.open("xb") as file:
            os.fchmod(file.fileno(), 0o600)
            try:
                file.write(data)
                file.flush()
            except OSError:
                path.unlink()
                raise
    except FileExistsError as error:
        raise Declined(f"{path} exists already; name another file.") from error
    except OSError as error:
        raise Declined(f"{path} can't be written: {error.strerror}.") from error


async def _find_holder(context: OperationContext, slug: str) -> Person:
    """Return the person whose blocks and messages they are. Raises `Declined`."""
    if slug:
        return await context.database.read(find_person, slug)
    owner = await context.database.read(people.find_owner)
    if owner is None:
        raise Declined("Nobody owns this home yet; say hello to Talaria first, or run setup.")
    return owner


async def _do(
    editor: AgentEditor, author: Author, deed: str, name: str, wanted: Wanted
) -> ChangedAgent:
    await _perform(editor.do(cast(Deed, deed), name, wanted, author))
    return ChangedAgent(name=name.strip())


async def _perform(work: Awaitable[_T]) -> _T:
    try:
        return await work
    except (AgentRefused, AgentBroken) as error:
        raise Declined(_end(str(error))) from error


async def _find_author(context: OperationContext, slug: str) -> Author:
    """Return the author of a change; only owners may be one. Raises `Declined`."""
    if not slug:
        return Author()
    person = await context.database.read(find_person, slug)
    if not person.is_owner:
        raise Declined(texts.ONLY_OWNER_MAKES())
    return Author(person_id=person.id, actor=context.actor)


def _read_rule(rule: AgentRule) -> CallRule:
    return read_rule({key: value for key, value in asdict(rule).items() if value})


def _outline(entry: AgentEntry, teams: list[str]) -> AgentLine:
    agent = entry.agent
    if agent is None:
        return AgentLine(name=entry.name, fault=entry.fault, teams=tuple(teams))
    return describe_agent(agent, teams)


def describe_agent(agent: NamedAgent, teams: list[str]) -> AgentLine:
    """Return an agent as an answer."""
    return AgentLine(
        name=agent.name,
        description=agent.description,
        model=agent.model,
        tools=agent.tools,
        disabled=agent.disabled,
        skills=agent.skills,
        blocks=agent.blocks,
        tags=agent.tags,
        rules=tuple(map(_outline_rule, agent.rules)),
        teams=tuple(teams),
    )


def _outline_rule(rule: CallRule) -> AgentRule:
    return AgentRule(**{one.name: getattr(rule, one.name) for one in fields(AgentRule)})


def _outline_team(entry: TeamEntry) -> TeamLine:
    team: Team | None = entry.team
    if team is None:
        return TeamLine(name=entry.name, fault=entry.fault)
    return TeamLine(**{one.name: getattr(team, one.name) for one in fields(team)})


def _end(clause: str) -> str:
    """Make a sentence from a clause."""
    return f"{clause[:1].upper()}{clause[1:]}."


OPERATIONS: Mapping[str, Operation] = {
    "agents.list": typed(list_agents),
    "agents.show": typed(show_agent),
    "agents.use": typed(use_agent),
    "agents.write": typed(write_agent),
    "agents.write_team": typed(write_team),
    "agents.put_away": typed(put_away),
    "agents.move": typed(move),
    "agents.import": typed(import_file),
    "agents.export": typed(export_file),
}
