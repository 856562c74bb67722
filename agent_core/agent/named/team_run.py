"""Let a team of named agents work on one task, as turns that a crash can't lose or repeat."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from agent_core.agent.named.definition import NamedAgent
from agent_core.agent.named.supervisor_order import write_order
from agent_core.agent.named.teams import Team
from agent_core.ids import CallId
from agent_core.money import show_dollars
from agent_core.tools.contract import ToolContext, ToolResult
from agent_core.tools.delegated_tasks import HelperReport, Helpers, HelperTask
from agent_core.tools.delegation import join_reports, run_at_once_from

PASS = "PASS"  # noqa: S105 - the word with which a member has nothing to add
_LONGEST_SAID = 12_000
"""Characters of what was said before, for the next who speaks."""
_MENTION = re.compile(r"(?<![\w@])@([a-z][a-z0-9-]{0,31})\b")
_IN_TURN = (
    "You are {me}, one of the team {team}: {members}. You speak one after the other, for at most"
    " {rounds} rounds. Add your part; build on what the others said."
)
_IN_LATER_TURN = f"{_IN_TURN} If nothing is left to add, answer only with the word PASS."
"""A small model that reads of a way out takes it in the first round already."""
_FREE = (
    "You are {me}, one of the team {team}: {members}. Whoever you call with @name or @tag answers"
    " next; call nobody when the task is done. This is round {round} of at most {rounds}."
)
_LIMITS = {
    "rounds": "it has used its {rounds} rounds",
    "steps": "it has used its {steps} steps",
    "money": "it has used its {dollars}",
    "tokens": "this answer has used its tokens",
    "time": "this answer has used its time",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """The words of a member in a round."""

    name: str
    round: int
    report: HelperReport


@dataclass(slots=True)
class _Run:
    """A run with the words of its members so far, in the order of its numbers."""

    team: Team
    text: str
    helpers: Helpers
    call_id: CallId
    people: Sequence[NamedAgent]
    seconds: float
    show: Callable[[str], None]
    said: list[_Said] = field(default_factory=list)

    async def hear(self, names: Sequence[str], number: int, order: str) -> list[_Said]:
        """Ask members at the same time; a repetition after a crash returns what they said."""
        tasks = [
            HelperTask(
                goal=f"{self._word(order, name, number)}\n\nThe task: {self.text}",
                context=self._recount(),
                agent=name,
                seconds=self.seconds,
            )
            for name in names
        ]
        self.show(f"{self.team.name}: {', '.join(names)} ({number}/{self.team.rounds})")
        first = len(self.said) + 1
        reports = await run_at_once_from(first, self.helpers, self.call_id, tasks)
        new = [
            _Said(name=name, round=number, report=report)
            for name, report in zip(names, reports, strict=True)
        ]
        self.said += new
        return new

    def _word(self, order: str, name: str, number: int) -> str:
        return order.format(
            me=name,
            team=self.team.name,
            members=list_members(self.people),
            round=number,
            rounds=self.team.rounds,
        )

    def _recount(self) -> str:
        """Return what was said before, the newest whole."""
        parts = [f"{one.name} said:\n{one.report.text.strip()}" for one in self.said]
        text = "\n\n".join(parts)
        left_out = len(text) - _LONGEST_SAID
        return (
            f"[… {left_out:,} characters left out …]\n{text[left_out:]}" if left_out > 0 else text
        )

    def end(self, limit: str = "") -> ToolResult:
        """Return what the team has said; `limit` is why it ended before it was done."""
        told = [one for one in self.said if not _is_pass(one.report)]
        heads = [
            f"{one.name}, round {one.round}{', failed' if one.report.is_error else ''}"
            for one in told
        ]
        result = join_reports(heads, [one.report for one in told])
        if not limit:
            return result
        note = describe_limit(self.team, limit, len(told))
        return replace(result, text=f"{result.text}\n\n{note}", is_error=not told)


async def run_team(
    team: Team,
    people: Sequence[NamedAgent],
    text: str,
    context: ToolContext,
    seconds: float,
) -> ToolResult:
    """Let a team work on a text for a call, and return what came of it.

    `people` are the members. Raises `StoreError`, and `QuestionPending` if the process stops.
    """
    assert context.helpers  # noqa: S101 - the caller has seen to that
    together = context.helpers().as_team(team.steps, team.micro_dollars)
    show = context.show_progress
    run = _Run(team, text, together, context.call_id, people, seconds, show)
    if team.manager == "supervisor":
        return await _supervise(run)
    if team.manager == "round_robin":
        return await _take_turns(run)
    return await _speak_freely(run)


async def _supervise(run: _Run) -> ToolResult:
    team = run.team
    members = list(map(_describe, run.people))
    task = HelperTask(
        goal=write_order(team.name, team.rounds, members, run.text),
        agent=team.supervisor,
        seconds=run.seconds,
        steps=team.rounds + 1,
    )
    run.show(f"{team.name}: {team.supervisor}")
    report = await run.helpers.run(run.call_id, 1, task)
    limit = run.helpers.find_limit() or ("rounds" if report.limit == "steps" else report.limit)
    head = f"{team.supervisor}, for the team {team.name}"
    result = join_reports([head], [report])
    if not limit:
        return result
    note = describe_limit(team, limit, 0)
    return replace(result, text=f"{result.text}\n\n{note}", is_error=False)


async def _take_turns(run: _Run) -> ToolResult:
    for number in range(1, run.team.rounds + 1):
        new: list[_Said] = []
        for name in run.team.members:
            if limit := run.helpers.find_limit():
                return run.end(limit)
            order = _IN_TURN if number == 1 else _IN_LATER_TURN
            new += await run.hear([name], number, order)
        if all(_is_pass(one.report) or one.report.is_error for one in new):
            return run.end()
    return run.end()


async def _speak_freely(run: _Run) -> ToolResult:
    asked = find_called(run.text, "", run.people) or list(run.team.members)
    for number in range(1, run.team.rounds + 1):
        if limit := run.helpers.find_limit():
            return run.end(limit)
        new = await run.hear(asked, number, _FREE)
        called = [find_called(one.report.text, one.name, run.people) for one in new]
        asked = list(dict.fromkeys(name for names in called for name in names))
        if not asked:
            return run.end()
    return run.end("rounds")


def find_called(text: str, speaker: str, people: Sequence[NamedAgent]) -> list[str]:
    """Return the members whom a text calls by @name or @tag; nobody calls itself."""
    called = set(_MENTION.findall(text))
    return [
        one.name
        for one in people
        if one.name != speaker and (one.name in called or called & set(one.tags))
    ]


def list_members(people: Sequence[NamedAgent]) -> str:
    """Return the members with their tags and descriptions."""
    return "; ".join(map(_describe, people))


def describe_limit(team: Team, limit: str, count: int) -> str:
    """Return the sentence on why a team stopped."""
    why = _LIMITS[limit].format(
        rounds=team.rounds, steps=team.steps, dollars=show_dollars(team.micro_dollars)
    )
    after = f" after {count} contributions" if count > 1 else ""
    return f"[The team {team.name} stopped{after}: {why}. Tell the person so.]"


def _describe(one: NamedAgent) -> str:
    tags = f"[{', '.join(one.tags)}]" if one.tags else ""
    description = f"({one.description})" if one.description else ""
    return " ".join(filter(None, (one.name, tags, description)))


def _is_pass(report: HelperReport) -> bool:
    return report.text.strip().strip(".!*`").upper() == PASS
