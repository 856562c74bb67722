"""The `message_agent` tool: one named agent writes to others."""

import asyncio
from collections.abc import Mapping, Sequence

from agent_core.agent.named.definition import NamedAgent
from agent_core.agent.named.folder import AgentFolder
from agent_core.errors import AgentBroken, ToolArgumentError
from agent_core.tools.contract import Declaration, Effect, ToolContext, ToolResult
from agent_core.tools.delegated_tasks import HelperReport, Helpers, HelperTask
from agent_core.tools.delegation import join_reports, run_at_once
from agent_core.tools.schemas import make_schema
from agent_core.transcript import ToolSpec

MOST_ASKED = 8
_LONGEST_TEXT = 8_000
_SECONDS = 300
_MOST_SECONDS = 1_800
_SLACK = 60.0
"""Seconds that the call may take beyond its agents' deadline, so that they can end first."""


class MessageAgentTool:
    """The `message_agent` tool. A repeated call after a crash continues the work that it began."""

    effect: Effect = "idempotent"
    declaration = Declaration(cost="money", time_limit=_MOST_SECONDS + _SLACK)
    spec = ToolSpec(
        name="message_agent",
        description=(
            "Write to other agents: named assistants of the same person, each with its own"
            " identity, tools and conversation. `tell` leaves a message for one and goes on; `ask`"
            " waits for its answer until the deadline; `broadcast` asks all that have one of the"
            " tags, at the same time. With `list`, see which agents there are."
        ),
        schema=make_schema(
            ("mode",),
            mode={"enum": ["list", "tell", "ask", "broadcast"]},
            to={"type": "string", "description": "the agent, for tell and ask"},
            tags={
                "type": "array",
                "items": {"type": "string"},
                "minItems": 1,
                "maxItems": 8,
                "description": "for broadcast",
            },
            text={"type": "string", "minLength": 1, "maxLength": _LONGEST_TEXT},
            deadline_s={"type": "integer", "minimum": 1, "maximum": _MOST_SECONDS},
        ),
    )

    def __init__(self, agents: AgentFolder) -> None:
        self._agents = agents

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Deliver a message. Raises `ToolArgumentError`, `StoreError` and `QuestionPending`."""
        mode, text = arguments["mode"], str(arguments.get("text", "")).strip()
        if mode == "list":
            return ToolResult(text=_describe(await self._list()))
        if context.helpers is None:
            raise ToolArgumentError("no agent can be reached from here")
        if not text:
            raise ToolArgumentError("`text` is missing")
        helpers = context.helpers()
        if mode == "broadcast":
            return await self._broadcast(arguments, text, helpers, context)
        name = str(arguments.get("to", "")).strip()
        if not name:
            raise ToolArgumentError("`to` is missing: the name of an agent")
        await self._find(name)
        if objection := await helpers.find_objection(name):
            raise ToolArgumentError(objection)
        if mode == "tell":
            await helpers.tell(context.call_id, name)
            return ToolResult(text=f"{name} has the message and works on it; nothing returns here.")
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
    seconds = arguments.get("deadline_s", _SECONDS)
    assert isinstance(seconds, int)  # noqa: S101 - the schema says so
    return HelperTask(goal=text, agent=name, seconds=float(seconds))


def _describe(agents: Sequence[NamedAgent]) -> str:
    lines = [
        f"- {one.name} [{', '.join(one.tags)}]: {one.description or 'no description'}"
        for one in agents
    ]
    return "\n".join(lines) or "There are no agents."


def _join(tasks: Sequence[HelperTask], reports: Sequence[HelperReport]) -> ToolResult:
    heads = [
        f"{task.agent}, {'failed' if report.is_error else 'answered'}"
        for task, report in zip(tasks, reports, strict=True)
    ]
    return join_reports(heads, reports)
