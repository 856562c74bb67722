"""The `manage_agents` tool: owners make and change named agents and teams in chat."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, cast

from agent_core.agent.named.agent_files import AgentChange
from agent_core.agent.named.editor import DEEDS, AgentEditor, Author, Deed, Wanted
from agent_core.agent.named.teams import MOST_MEMBERS, TeamChange
from agent_core.errors import AgentBroken, AgentRefused, ToolArgumentError
from agent_core.localization import Text
from agent_core.memory.approval import PATIENCE, Approval
from agent_core.state.conversations import turns
from agent_core.state.engine.database import Connection, Database
from agent_core.state.queues import agent_messages
from agent_core.tools.contract import Declaration, Effect, ToolContext, ToolResult
from agent_core.tools.schemas import make_schema
from agent_core.tools.secret_scan import find_secret
from agent_core.tools.selection.rule_check import RULE_KEYS, read_rule
from agent_core.transcript import ToolSpec

MOST_CHANGES = 8
"""Changes of one turn: a small team with everything it needs."""
_LONGEST_SHOWN = 3_000
"""Characters of a change that an owner can be expected to read."""
_WISH = Text("{name} wants to change the agents of this assistant:")
_NAMES = {"type": "array", "items": {"type": "string"}, "maxItems": 50}
_TEXT = {"type": "string"}
_NUMBER = {"type": "integer", "minimum": 1}


class ManageAgentsTool:
    """The `manage_agents` tool. An owner who asks in person decides by asking; others ask them."""

    effect: Effect = "idempotent"
    declaration = Declaration(cost="free", time_limit=PATIENCE, waits_for_person=True)
    spec = ToolSpec(
        name="manage_agents",
        description=(
            "Make, change, list or archive named agents, and teams of them, when this person asks"
            " for that. An agent has a `name` and a `soul`, the text that says who it is and how it"
            " works; everything else is optional. A team has `members` and a `manager`: an agent as"
            " `supervisor` that plans, asks and sums up; `round_robin`; or `free`, where members"
            " call each other by @name or @tag. Only for assistants that shall stay; for a single"
            " task use `delegate_task`. To talk to them use `message_agent`. Example:"
            ' {"action": "create", "name": "writer", "soul": "You write short, warm texts."}'
        ),
        schema=make_schema(
            ("action",),
            action={"enum": ["list", *DEEDS]},
            name={"type": "string", "description": "of the agent or the team"},
            soul=_TEXT,
            description=_TEXT,
            model=_TEXT,
            tools={**_NAMES, "description": "only these; left out for all"},
            disabled=_NAMES,
            skills=_NAMES,
            blocks={**_NAMES, "description": "labels of memory blocks"},
            tags=_NAMES,
            rules={
                "type": "array",
                "items": {"type": "object"},
                "maxItems": 50,
                "description": f"rules of tools, each with {', '.join(RULE_KEYS)}",
            },
            manager={"enum": ["supervisor", "round_robin", "free"]},
            supervisor=_TEXT,
            members={"type": "array", "items": _TEXT, "minItems": 1, "maxItems": MOST_MEMBERS},
            rounds=_NUMBER,
            steps=_NUMBER,
            dollars={"type": "number", "minimum": 0},
            source={"type": "string", "description": "for move: the team that the agent leaves"},
            target={"type": "string", "description": "for move: the team that it joins"},
        ),
    )

    def __init__(self, editor: AgentEditor, database: Database, approval: Approval) -> None:
        self._editor = editor
        self._database = database
        self._approval = approval

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Do what is asked. Raises `ToolArgumentError`, `StoreError` and `QuestionPending`."""
        action = str(arguments["action"])
        if action == "list":
            return ToolResult(text=await asyncio.to_thread(self._describe))
        name = str(arguments.get("name", "")).strip()
        if not name:
            raise ToolArgumentError("`name` is missing: the agent or the team")
        if secret := find_secret(json.dumps(arguments, ensure_ascii=False)):
            raise ToolArgumentError(f"it contains what looks like {secret}")
        if await self._database.read(_count_changes, context) >= MOST_CHANGES:
            raise ToolArgumentError(
                f"one answer may change agents and teams at most {MOST_CHANGES} times; the person"
                " can ask for more in their next message"
            )
        wanted = _read_wanted(arguments)  # before anybody is asked
        if refusal := await self._ask_owner(arguments, context):
            return ToolResult(text=f"Nothing was changed: {refusal}.", is_error=True)
        author = Author(person_id=context.person_id, actor="person")
        try:
            await self._editor.do(cast(Deed, action), name, wanted, author)
        except (AgentRefused, AgentBroken) as error:
            raise ToolArgumentError(str(error)) from error
        return ToolResult(text=_describe_done(action, name, arguments))

    async def _ask_owner(self, arguments: Mapping[str, object], context: ToolContext) -> str:
        """Return why the change may not be made; "" if an owner wants it.

        An owner who asks in person wants it, unless words of others may have led to it.
        """
        is_present = await self._approval.is_owner_present(context)
        is_told = bool(
            await self._database.read(agent_messages.find_chain, turn_id=context.turn_id)
        )
        if is_present and not is_told and not context.sources:
            return ""
        shown = "\n".join(f"{key}: {_show(value)}" for key, value in arguments.items())
        if len(shown) > _LONGEST_SHOWN:
            return "it is too long to be read at once; make it in smaller steps"
        return await self._approval.ask(context, _WISH, shown)

    def _describe(self) -> str:
        agents = [
            f"- agent {one.name}: {one.agent.description or 'no description'}"
            if one.agent
            else f"- {one.fault}"
            for one in self._editor.files.list_all()
        ]
        teams = [
            f"- team {one.name} ({one.team.manager}): {', '.join(one.team.everyone)}"
            if one.team
            else f"- {one.fault}"
            for one in self._editor.teams.list_all()
        ]
        return "\n".join((*agents, *teams)) or "There are no agents and no teams."


def _count_changes(connection: Connection, context: ToolContext) -> int:
    """Count the changes that this turn has made."""
    steps = turns.list_steps(connection, turn_id=context.turn_id)
    own = ManageAgentsTool.spec.name
    return sum(one.name == own and one.outcome is not None and not one.is_error for one in steps)


def _read_wanted(arguments: Mapping[str, object]) -> Wanted:
    """Read what a deed shall make. Raises `ToolArgumentError`."""
    return Wanted(
        agent=_read_agent(arguments),
        team=TeamChange(**_pick(TeamChange, arguments)),
        source=str(arguments.get("source", "")),
        target=str(arguments.get("target", "")),
    )


def _read_agent(arguments: Mapping[str, object]) -> AgentChange:
    """Read what an agent shall be. Raises `ToolArgumentError`."""
    rules = arguments.get("rules")
    values = _pick(AgentChange, arguments, leave_out="rules")
    try:
        read = tuple(map(read_rule, rules)) if isinstance(rules, list) else None
    except (ValueError, AttributeError, TypeError) as error:
        raise ToolArgumentError(f"in `rules`, {error}") from error
    return AgentChange(**values, rules=read)


def _pick(kind: type, arguments: Mapping[str, object], leave_out: str = "") -> dict[str, Any]:
    names = [one.name for one in fields(kind) if one.name != leave_out]
    return {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in arguments.items()
        if key in names
    }


def _show(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _describe_done(action: str, name: str, arguments: Mapping[str, object]) -> str:
    if action == "move":
        return f"{name} has moved from {arguments.get('source')} to {arguments.get('target')}."
    what = "The team" if action.endswith("_team") else "The agent"
    done = {"create": "made", "change": "changed", "archive": "archived", "restore": "back"}
    word = done[action.removesuffix("_team")]
    how = ""
    if action == "create":
        how = f" /agents use {name} lets it answer; `message_agent` asks it."
    elif action == "create_team":
        how = f' `message_agent` with mode "team" gives it a task, as does /team {name} TASK.'
    return f"{what} {name} is {word}.{how}"
