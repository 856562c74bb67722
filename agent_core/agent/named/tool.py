"""The `message_agent` tool: one named agent writes to others."""

import asyncio
from collections.abc import Mapping, Sequence

from agent_core.agent.named.definition import NamedAgent
from agent_core.agent.named.folder import AgentFolder
from agent_core.agent.named.team_run import run_team
from agent_core.agent.named.teams import TeamEntry, TeamFolder
from agent_core.errors import AgentBroken, ToolArgumentError
from agent_core.tools.contract import Declaration, Effect, ToolContext, ToolResult
from agent_core.tools.delegated_tasks import HelperReport, Helpers, HelperTask
from agent_core.tools.delegation import join_reports, run_at_once
from agent_core.tools.schemas import make_schema
from agent_core.transcript import UNSHOWN, ToolSpec

MOST_ASKED = 8
_LONGEST_TEXT = 8_000
_SECONDS = 300
_MOST_SECONDS = 1_800
_SLACK = 60.0
"""Seconds that the call may take beyond its agents' deadline, so that they can end first."""


class MessageAgentTool:
    """The `message_agent` tool. A repeated call after a crash continues the work that it began."""

    effect: Effect = "idempotent"
    declaration = Declaration(cost="money", time_limit=_MOST_SECONDS + _SLACK, has_receipts=True)
    spec = ToolSpec(
        name="message_agent",
        description=(
            "Write to other agents: named assistants of the same person, each with its own"
            " identity, tools and conversation. Not to people (`send_message`), and not for helpers"
            " without a name (`delegate_task`). `list` shows which agents there are; `tell` leaves"
            " a message for one and goes on; `ask` waits for its answer until the deadline;"
            " `broadcast` asks all that have one of the tags, at the same time; `team` gives a"
            " task to a team, and its result returns. Example:"
            ' {"mode": "ask", "to": "coder", "text": "Which tests fail?"}'
        ),
        schema=make_schema(
            ("mode",),
            mode={"enum": ["list", "tell", "ask", "broadcast", "team"]},
            to={"type": "string", "description": "the agent, for tell and ask; the team"},
            tags={
                "type": "array",
                "items": {"type": "string"},
                "minItems": 1,
                "maxItems": 8,
                "description": "for broadcast",
            },
            text={"type": "string", "minLength": 1, "maxLength": _LONGEST_TEXT},
            deadline_s={
                "type": "integer",
                "minimum": 1,
                "maximum": _MOST_SECONDS,
                "description": "seconds, for ask and broadcast",
            },
        ),
    )

    def __init__(self, agents: AgentFolder, teams: TeamFolder) -> None:
        self._agents = agents
        self._teams = teams

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Deliver a message. Raises `ToolArgumentError`, `StoreError` and `QuestionPending`."""
        mode, text = arguments["mode"], str(arguments.get("text", "")).strip()
        if mode == "list":
            teams = await asyncio.to_thread(self._teams.list_all)
            return ToolResult(text=_describe(await self._list(), teams))
        if context.helpers is None:
            raise ToolArgumentError("no agent can be reached from here")
        if not text:
            raise ToolArgumentError("`text` is missing")
        helpers = context.helpers()
        if mode == "broadcast":
            return await self._broadcast(arguments, text, helpers, context)
        name = str(arguments.get("to", "")).strip()
        if not name:
            raise ToolArgumentError("`to` is missing: the name of an agent or a team")
        if mode == "team":
            return await self._ask_team(name, text, arguments, helpers, context)
        await self._find(name)
        if objection := await helpers.find_objection(name):
            raise ToolArgumentError(objection)
        if mode == "tell":
            await helpers.tell(context.call_id, name)
            return ToolResult(
                text=f"{name} has the message and works on it; nothing returns here.",
                receipts=(UNSHOWN,),
            )
        task = _make_task(name, text, arguments)
        return _join([task], [await helpers.run(context.call_id, 1, task)])

    async def _broadcast(
        self, arguments: Mapping[str, object], text: str, helpers: Helpers, context: ToolContext
    ) -> ToolResult:
        tags = arguments.get("tags")
        if not isinstance(tags, list):
            raise ToolArgumentError("`tags` is missing: whom a broadcast is for")
        called = [one for one in await self._list() if set(one.tags) & set(tags)]
        objections = [await helpers.find_objection(one.name) for one in called]
        asked = [one for one, objection in zip(called, objections, strict=True) if not objection]
        if not asked:
            reason = next(filter(None, objections), f"no agent has one of the tags {tags}")
            raise ToolArgumentError(reason)
        if len(asked) > MOST_ASKED:
            raise ToolArgumentError(f"{len(asked)} agents have these tags; name fewer tags")
        tasks = [_make_task(one.name, text, arguments) for one in asked]
        return _join(tasks, await run_at_once(helpers, context.call_id, tasks))

    async def _ask_team(
        self,
        name: str,
        text: str,
        arguments: Mapping[str, object],
        helpers: Helpers,
        context: ToolContext,
    ) -> ToolResult:
        try:
            team = await asyncio.to_thread(self._teams.find, name)
        except AgentBroken as error:
            raise ToolArgumentError(str(error)) from error
        for one in team.everyone:
            if objection := await helpers.find_objection(one):
                raise ToolArgumentError(objection)
        people = [await self._find(one) for one in team.members]
        seconds = _read_seconds(arguments, _MOST_SECONDS)
        return await run_team(team, people, text, context, seconds)

    async def _find(self, name: str) -> NamedAgent:
        try:
            return await asyncio.to_thread(self._agents.find, name)
        except AgentBroken as error:
            raise ToolArgumentError(str(error)) from error

    async def _list(self) -> Sequence[NamedAgent]:
        try:
            return await asyncio.to_thread(self._agents.list_good)
        except AgentBroken as error:
            raise ToolArgumentError(str(error)) from error


def _make_task(name: str, text: str, arguments: Mapping[str, object]) -> HelperTask:
    return HelperTask(goal=text, agent=name, seconds=_read_seconds(arguments, _SECONDS))


def _read_seconds(arguments: Mapping[str, object], usual: int) -> float:
    seconds = arguments.get("deadline_s", usual)
    assert isinstance(seconds, int)  # noqa: S101 - the schema says so
    return float(seconds)


def _describe(agents: Sequence[NamedAgent], teams: Sequence[TeamEntry]) -> str:
    lines = [
        f"- {one.name} [{', '.join(one.tags)}]: {one.description or 'no description'}"
        for one in agents
    ]
    lines += [
        f"- team {one.name}: {one.team.description or ', '.join(one.team.everyone)}"
        for one in teams
        if one.team
    ]
    return "\n".join(lines) or "There are no agents."


def _join(tasks: Sequence[HelperTask], reports: Sequence[HelperReport]) -> ToolResult:
    heads = [
        f"{task.agent}, {'failed' if report.is_error else 'answered'}"
        for task, report in zip(tasks, reports, strict=True)
    ]
    return join_reports(heads, reports)
