"""The curator's rules: which skills are broken, stale, archived or restored. Pure."""

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from agent_core.skills.catalog import CatalogEntry
from agent_core.state.memory.skills import SkillRow

_DAY = 86_400_000

FoundStep = Literal["see", "changed", "archived", "returned", "forget"]
"""Steps that only record what a person did by hand, or what a crash interrupted."""
StepKind = Literal[FoundStep, "tell", "repaired", "stale", "fresh", "archive"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CuratorRules:
    """Days without use until a skill is stale, and until it is archived; 0 means never."""

    stale_days: int = 30
    archive_days: int = 90


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillDifference:
    """A SKILL.md that differs from the ledger; None means that there is no skill."""

    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CuratorView:
    """The present state.

    `own` are the home's skills, `others` the names of bundled ones, `away` the archived ones
    without the number of a duplicate, `known` the rows of all that are not gone or lie in the
    archive, `wanted` those that jobs use, and `changes` the changes that the ledger lacks. `made`
    are the skills whose present text the agent wrote. Only these become stale; a skill that a
    person wrote or installed stays.
    """

    own: Sequence[CatalogEntry]
    others: Collection[str]
    away: Collection[str]
    known: Mapping[str, SkillRow]
    wanted: Collection[str]
    made: Collection[str]
    changes: Mapping[str, SkillDifference]


@dataclass(frozen=True, slots=True, kw_only=True)
class CurationStep:
    """A step for one skill.

    `days` is the time without use; `kept` is the skill's name in the archive once it is there.
    """

    kind: StepKind
    name: str
    fault: str = ""
    days: int = 0
    kept: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CuratorReport:
    """The result of a curator run.

    `steps` are planned or finished. `stuck` are skills that could not be moved, with the reason.
    `count` is the number of skills in the home folder.
    """

    count: int
    has_folder: bool
    steps: Sequence[CurationStep]
    stuck: Sequence[tuple[str, str]] = ()


def plan_steps(view: CuratorView, rules: CuratorRules, now: int) -> list[CurationStep]:
    """Plan all steps, skill by skill."""
    own = {one.name for one in view.own}
    return [
        *(step for one in view.own for step in _plan_present(one, view, rules, now)),
        *(
            step
            for row in view.known.values()
            if row.name not in own
            for step in _plan_absent(row, view)
        ),
    ]


def hash_fault(fault: str) -> str:
    """Compute the short hash by which a reported fault is remembered."""
    return hashlib.sha256(fault.encode()).hexdigest()[:16]


def count_idle(row: SkillRow, now: int) -> int:
    """Count the days since a skill was used or added; 0 if the clock was set back since."""
    return max(0, now - max(row.seen_at, row.last_used_at or 0)) // _DAY


def _plan_present(
    one: CatalogEntry, view: CuratorView, rules: CuratorRules, now: int
) -> Iterator[CurationStep]:
    row, change = view.known.get(one.name), view.changes.get(one.name)
    if row is None or (change and change.before is None and row.state != "archived"):
        yield CurationStep(kind="see", name=one.name)
    elif change and change.before is not None:
        yield CurationStep(kind="changed", name=one.name)
    reported = row.told_fault if row else ""
    if one.fault and reported != hash_fault(one.fault):
        yield CurationStep(kind="tell", name=one.name, fault=one.fault)
    if reported and not one.fault:
        yield CurationStep(kind="repaired", name=one.name)
    if row is None:
        return
    if row.state == "archived":
        yield CurationStep(kind="returned", name=one.name)
        return
    days = count_idle(row, now) if one.name in view.made else 0
    is_protected = row.is_pinned or one.name in view.wanted
    if rules.archive_days and days >= rules.archive_days and not is_protected:
        yield CurationStep(kind="archive", name=one.name, days=days)
    elif rules.stale_days and days >= rules.stale_days:
        if row.state == "active":  # drafts and skills on trial wait for their proof
            yield CurationStep(kind="stale", name=one.name, days=days)
    elif row.state == "stale":
        yield CurationStep(kind="fresh", name=one.name)


def _plan_absent(row: SkillRow, view: CuratorView) -> Iterator[CurationStep]:
    """Plan the steps for a skill that is no longer in the home folder."""
    if row.name in view.away:
        if row.state != "archived":
            yield CurationStep(kind="archived", name=row.name)
    elif row.name not in view.others or row.name in view.changes:
        yield CurationStep(kind="forget", name=row.name)
