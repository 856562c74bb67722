"""What is to be done about the home's skills: broken, stale, put away, come back; pure."""

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from agent_core.skills.catalog import CatalogEntry
from agent_core.state.memory.skills import SkillRow

_DAY = 86_400_000

Found = Literal["see", "changed", "archived", "returned", "forget"]
"""What somebody has done by hand already, or a crash has left: it is only noted."""
StepKind = Literal[Found, "tell", "mended", "stale", "fresh", "archive"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CuratorRules:
    """Days without use after which a skill is stale, and put away; 0 is never."""

    stale_days: int = 30
    archive_days: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A SKILL.md that does not read as the ledger says; None where there is no such skill."""

    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CuratorView:
    """How things stand. `own` are the home's skills, `others` the names of those that come along,
    `away` those in the archive; `wanted` are used by jobs, `changes` not in the ledger yet.
    """

    own: Sequence[CatalogEntry]
    others: Collection[str]
    away: Collection[str]
    known: Mapping[str, SkillRow]
    wanted: Collection[str]
    changes: Mapping[str, Difference]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing to do about one skill. `days` is how long it was not used, `kept` its name in
    the archive once it is there.
    """

    kind: StepKind
    name: str
    fault: str = ""
    days: int = 0
    kept: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CuratorReport:
    """What a look at the skills came to: `steps` to do, or done; `stuck` says what
    could not be moved, and why. `count` is how many skills the home has.
    """

    count: int
    has_folder: bool
    steps: Sequence[Step]
    stuck: Sequence[tuple[str, str]] = ()


def plan_steps(view: CuratorView, rules: CuratorRules, now: int) -> list[Step]:
    """What is to be done, a skill after the other."""
    own = {one.name for one in view.own}
    return [
        *(step for one in view.own for step in _judge_one(one, view, rules, now)),
        *(
            step
            for row in view.known.values()
            if row.name not in own
            for step in _judge_absent(row, view)
        ),
    ]


def hash_fault(fault: str) -> str:
    """By what a fault is known that was told."""
    return hashlib.sha256(fault.encode()).hexdigest()[:16]


def count_idle(row: SkillRow, now: int) -> int:
    """Days since a skill was used, or came; none where the clock was put back since."""
    return max(0, now - max(row.seen_at, row.last_used_at or 0)) // _DAY


def _judge_one(
    one: CatalogEntry, view: CuratorView, rules: CuratorRules, now: int
) -> Iterator[Step]:
    row, change = view.known.get(one.name), view.changes.get(one.name)
    if row is None or (change and change.before is None and row.state != "archived"):
        yield Step(kind="see", name=one.name)
    elif change and change.before is not None:
        yield Step(kind="changed", name=one.name)
    told = row.told_fault if row else ""
    if one.fault and told != hash_fault(one.fault):
        yield Step(kind="tell", name=one.name, fault=one.fault)
    if told and not one.fault:
        yield Step(kind="mended", name=one.name)
    if row is None:
        return
    if row.state == "archived":
        yield Step(kind="returned", name=one.name)
        return
    days = count_idle(row, now)
    is_kept = row.is_pinned or one.name in view.wanted
    if rules.archive_days and days >= rules.archive_days and not is_kept:
        yield Step(kind="archive", name=one.name, days=days)
    elif rules.stale_days and days >= rules.stale_days:
        if row.state != "stale":
            yield Step(kind="stale", name=one.name, days=days)
    elif row.state == "stale":
        yield Step(kind="fresh", name=one.name)


def _judge_absent(row: SkillRow, view: CuratorView) -> Iterator[Step]:
    """About a skill that is not among the home's any more."""
    if row.name in view.away:
        if row.state != "archived":
            yield Step(kind="archived", name=row.name)
    elif row.name not in view.others or row.name in view.changes:
        yield Step(kind="forget", name=row.name)
