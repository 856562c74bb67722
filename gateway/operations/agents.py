"""Operations on named agents and teams: list, make, change, move, archive and restore them."""

import asyncio
from collections.abc import Awaitable, Mapping
from dataclasses import asdict, fields
from typing import TypeVar

from agent_core.agent.named.agent_files import AgentChange
from agent_core.agent.named.definition import NamedAgent
from agent_core.agent.named.editor import AgentEditor, Author
from agent_core.agent.named.folder import AgentEntry
from agent_core.agent.named.teams import Team, TeamChange, TeamEntry
from agent_core.errors import AgentBroken, AgentRefused
from agent_core.tools.selection.call_rules import CallRule
from agent_core.tools.selection.rule_check import read_rule
from gateway.errors import Declined
from gateway.operations.agent_types import (
    AgentLine,
    AgentList,
    AgentRule,
    ChangedAgent,
    ListAgents,
    MoveAgent,
    PutAway,
    TeamLine,
    WriteAgent,
    WriteTeam,
)
from gateway.operations.contract import Operation, OperationContext, find_person
from gateway.operations.wire import typed

_T = TypeVar("_T")


async def list_agents(context: OperationContext, _: ListAgents) -> AgentList:
    """List every agent and team, those with a fault, too. Raises `Declined`."""
    editor = context.agents

    def look() -> tuple[list[AgentEntry], list[TeamEntry], list[str]]:
        return editor.files.list_all(), editor.teams.list_all(), editor.files.list_archived()

    try:
        found, teams, archived = await asyncio.to_thread(look)
    except AgentBroken as error:
        raise Declined(_end(str(error))) from error
    lines = [
        _outline(one, [team.name for team in teams if team.team and one.name in team.team.everyone])
        for one in found
    ]
    return AgentList(
        agents=tuple(lines),
        teams=tuple(_outline_team(one) for one in teams),
        archived=tuple(archived),
    )


async def write_agent(context: OperationContext, asked: WriteAgent) -> ChangedAgent:
    """Make or change an agent. Raises `Declined`."""
    return await write_agent_as(context.agents, await _find_author(context, asked.by), asked)


async def write_agent_as(editor: AgentEditor, author: Author, asked: WriteAgent) -> ChangedAgent:
    """Make or change an agent for an author who may do so. Raises `Declined`."""
    work = editor.create if asked.action == "create" else editor.change
    await _perform(work(asked.name.strip(), read_change(asked), author))
    return ChangedAgent(name=asked.name.strip())


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
    work = editor.create_team if asked.action == "create" else editor.change_team
    await _perform(work(asked.name.strip(), change, author))
    return ChangedAgent(name=asked.name.strip())


async def put_away(context: OperationContext, asked: PutAway) -> ChangedAgent:
    """Archive or restore an agent or a team. Raises `Declined`."""
    return await put_away_as(context.agents, await _find_author(context, asked.by), asked)


async def put_away_as(editor: AgentEditor, author: Author, asked: PutAway) -> ChangedAgent:
    """Archive or restore an agent or a team for an author who may do so. Raises `Declined`."""
    name = asked.name.strip()
    if asked.action == "archive":
        put = editor.archive if asked.kind == "agent" else editor.archive_team
        await _perform(put(name, author))
    elif asked.kind == "agent":
        await _perform(editor.restore(name, author))
    else:
        await _perform(editor.restore_team(name, author))
    return ChangedAgent(name=name)


async def move(context: OperationContext, asked: MoveAgent) -> ChangedAgent:
    """Move an agent from one team to another. Raises `Declined`."""
    return await move_as(context.agents, await _find_author(context, asked.by), asked)


async def move_as(editor: AgentEditor, author: Author, asked: MoveAgent) -> ChangedAgent:
    """Move an agent for an author who may do so. Raises `Declined`."""
    await _perform(editor.move(asked.name, asked.source, asked.target, author))
    return ChangedAgent(name=asked.name)


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
        raise Declined("Only an owner can make or change agents and teams.")
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
    "agents.write": typed(write_agent),
    "agents.write_team": typed(write_team),
    "agents.put_away": typed(put_away),
    "agents.move": typed(move),
}
