"""The order to the supervisor of a team, written for models and read in guided mode. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_ORDER = (
    "You lead the team {team}. Plan who does what, ask the members with `message_agent` (`ask`, or"
    " several at once), and sum up. You have {rounds} rounds of questions; then you must answer"
    " with what there is. Your last message is the result of the whole team.\n\n"
    "The members:\n{members}\n\nThe task: {task}"
)
_WRITTEN = re.compile(
    r"You lead the team (?P<team>\S+)\. .*? You have (?P<rounds>\d+) rounds [^\n]*\n\n"
    r"The members:\n(?P<members>.*?)\n\nThe task: (?P<task>.*)",
    re.DOTALL,
)
_MEMBER = re.compile(r"^- ([a-z][a-z0-9-]{0,31})\b", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class SupervisorOrder:
    """The question to a supervisor: its team, how often it may ask, and the task.

    `described` has a line for each of the `members`.
    """

    team: str
    rounds: int
    described: str
    members: tuple[str, ...]
    task: str


def write_order(team: str, rounds: int, members: Sequence[str], task: str) -> str:
    """Return the order; each of the `members` is a name, with what is known of it."""
    listed = "\n".join(f"- {' '.join(one.split())}" for one in members)
    return _ORDER.format(team=team, rounds=rounds, members=listed, task=task)


def read_order(said: str) -> SupervisorOrder | None:
    """Read the order in the words to an agent; None if it leads no team."""
    found = _WRITTEN.search(said)
    if found is None:
        return None
    return SupervisorOrder(
        team=found["team"],
        rounds=int(found["rounds"]),
        described=found["members"],
        members=tuple(_MEMBER.findall(found["members"])),
        task=found["task"].strip(),
    )
