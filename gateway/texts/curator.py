"""Sentences about the curator and about tests of skills: what was done, and what is proposed."""

import re
from collections.abc import Iterable, Sequence

from agent_core.localization import Plural, Text, format_date, join_list
from agent_core.memory.approval import fence, show_changes, show_difference
from agent_core.skills.curation.record import CurationProposal, Merge, ProposalState
from agent_core.skills.curation.snapshot import RestoredSnapshot
from agent_core.skills.decline import Decline
from agent_core.skills.evaluation.record import CaseRun
from agent_core.state.memory.ledger import Change, LedgerEntry
from agent_core.state.memory.skills import SkillState
from agent_core.tools.clock import local_time
from agent_core.transcript import flatten, strip_controls

_LONGEST = 240
_LONGEST_DIFFERENCE = 2_500
"""Characters of a difference in a chat; a longer one is shown up to there."""

RUN, SHOW_REPORT = Text("Run now"), Text("Report")
SHOW_PROPOSALS, SHOW_STATUS = Text("Show proposals"), Text("Back")
ACCEPT, DECLINE = Text("Accept {number}"), Text("Decline {number}")
RESTORE = Text("Restore the skills from before")
USAGE = Text(
    "Send /curator, /curator run, /curator report, /curator proposals or /curator restore."
)
_STATUS = Text(
    "Once a week, I look for skills that nobody uses. I also look for notes and skills that repeat"
    " or contradict each other, and propose changes."
)
_LAST = Text("Last run: {date}.")
_NEXT = Text("Next run: {date}.")
_WAITING = Plural("{n} proposal needs your decision.", "{n} proposals need your decision.")
TIDY_UP = Plural(
    "I see {n} thing that could be tidier. Nothing changes before you accept it.",
    "I see {n} things that could be tidier. Nothing changes before you accept it.",
)
LOOKING = Text(
    "I'm looking through what I remember of you. I'll write if something could be tidier."
)
RUNNING = Text("The curator is running. I'll write if something could be tidier.")
RUNS_ALREADY = Text("The curator is running already.")
LEARNING_OFF = Text("You chose that I don't learn. /learned changes that.")
NO_JOB = Text("The curator isn't set up yet. Try again after a restart.")
NOTHING_WAITS = Text("No proposal needs your decision.")
UNKNOWN = Text("I don't know that proposal. /curator proposals shows those that wait.")
DECIDED: dict[ProposalState, Text] = {
    "open": NOTHING_WAITS,
    "accepted": Text("Done."),
    "declined": Text("Declined. I won't propose that again."),
    "outdated": Text("I changed nothing: this has changed since I proposed it."),
}
_TIDIED = Text("Done:\n\n{change}\n\n{command} takes this back.")
_TIDIED_MORE = Text(
    "Done:\n\n{change}\n\nTo take this back, send these one after the other: {commands}."
)
MERGED_BEFORE = Text("You accepted this already. /curator report shows what has changed.")
_REFUSED = Text("I changed nothing. Details in English: “{reason}.”")
_MERGED = Text(
    "Done: the skill {name} replaces {names}. Those are in the archive, and a snapshot has all"
    " skills as they were."
)
_RESTORED = Text("The skills are as they were in the snapshot {name}: {names}.")
_REMOVED_NEWER = Text("I archived what the curator wrote since: {names}.")
_MERGE = Text("**{number}. Merge the skills {names} into {name}.** {reason}")
_DUPLICATE = Text("**{number}. Remove what another note says, too.** {reason}")
_CONTRADICTION = Text("**{number}. Remove what is out of date.** {reason}")
_SHORTEN = Text("**{number}. Say the same in fewer words.** {reason}")
_STAYS = Text("This note stays:")
_CUT = Text("The text goes on. `talaria skills curate --dry-run` shows all of it.")
_MORE = Plural("{n} more waits.", "{n} more wait.")
_REPORT = Text("**What the curator sees**")
_SKILLS = Text(
    "Skills: active {active}, on trial {trial}, drafts {draft}, unused {stale}, archived {archived}"
)
_LISTS = (
    Plural(
        "About you: {n} note; this list is {percent} % full.",
        "About you: {n} notes; this list is {percent} % full.",
    ),
    Plural(
        "Other notes: {n}; this list is {percent} % full.",
        "Other notes: {n}; this list is {percent} % full.",
    ),
)
_CHANGES = Text("Newest changes:")
_NO_CHANGES = Text("It has changed no skill yet.")
_ARCHIVED = Text("- {date}: {name} moved to the archive; nobody used it for {number} days.")
_MERGED_AWAY = Text("- {date}: {name} moved to the archive, merged into another skill.")
_STALE = Text("- {date}: {name} counts as unused; nobody used it for {number} days.")
_FRESH = Text("- {date}: {name} is in use again.")
_WRITTEN = Text("- {date}: {name} got a text that you accepted.")
_UNDO_HINT = Text("/curator restore brings back the skills from before the newest change.")
_DAYS = re.compile(r"not used for (\d+) days")

_COUNTS = Text(
    "With it, {done} of {count} of your earlier requests came out right; without it, {number} did."
)
_PASSED = Text("The skill {name} passed its test, so I use it on my own from now on. {counts}")
_FAILED = Text(
    "The skill {name} failed its test, so it stays a draft. {counts} You can still start it with"
    " /{name}."
)
_ROLLED_BACK = Text(
    "I returned the skill {name} to version {number}, because the newer one failed its test."
    " {counts} An owner can take this back with `talaria skills undo {id}`."
)
_WENT_BADLY = Text(
    "I returned the skill {name} to version {number}, because {count} of {total} uses of the newer"
    " one went badly. An owner can take this back with `talaria skills undo {id}`."
)
_DRAFT_AGAIN = Text(
    "The skill {name} is a draft again, because {count} of {total} uses went badly. You can still"
    " start it with /{name}. An owner can take this back with `talaria skills undo {id}`."
)


def describe_status(last: int | None, following: int | None, waiting: int, zone: str) -> str:
    """Say what the curator does, when it ran, and what waits. Times are in milliseconds."""
    parts = [_STATUS()]
    if last is not None:
        parts.append(_LAST(date=format_date(local_time(last, zone).date())))
    if following is not None:
        parts.append(_NEXT(date=format_date(local_time(following, zone).date())))
    if waiting:
        parts.append(_WAITING(waiting))
    return "\n".join(parts)


def describe_looked_at(count: int) -> str:
    """Say how many skills a model would look at; for the command line."""
    return f"A model would look at {count} skills of the assistant for what overlaps."


def describe_proposals(
    proposals: Sequence[CurationProposal], more: int, *, is_whole: bool = False
) -> str:
    """Show proposals with their reasons and their differences, numbered from 1.

    Long differences are cut, unless `is_whole`.
    """
    parts = [_describe(number, one, is_whole) for number, one in enumerate(proposals, 1)]
    return "\n\n".join([*parts, *([_MORE(more)] if more else [])])


def describe_tidied(changes: Sequence[Change], numbers: Sequence[int]) -> str:
    """Tell what went and what came. `numbers` are those of the changes, in the order to undo."""
    shown = fence(strip_controls(show_changes(changes)))
    commands = [f"/undo {one}" for one in numbers]
    match commands:
        case []:
            return DECIDED["accepted"]()
        case [command]:
            return _TIDIED(change=shown, command=command)
        case _:
            return _TIDIED_MORE(change=shown, commands=join_list(commands))


def describe_refused(reason: str) -> str:
    """Say why a change was not made."""
    return _REFUSED(reason=reason.rstrip("."))


def describe_merged(merge: Merge) -> str:
    """Tell that skills were merged."""
    return _MERGED(name=merge.into, names=_name(one for one in merge.before if one != merge.into))


def describe_restored(done: RestoredSnapshot) -> str:
    """Tell which skills a snapshot brought back."""
    names = _name(done.restored) if done.restored else "–"
    parts = [_RESTORED(name=done.name, names=names)]
    if done.archived:
        parts.append(_REMOVED_NEWER(names=_name(done.archived)))
    return " ".join(parts)


def describe_report(
    changes: Sequence[tuple[str, LedgerEntry]],
    states: Sequence[SkillState],
    memory: Sequence[tuple[int, int, int]],
    waiting: int,
    zone: str,
) -> str:
    """Report on skills and notes. `memory` has the entries, characters and limit of each list."""
    parts = [_REPORT()]
    if states:
        counts = {one: states.count(one) for one in ("active", "trial", "draft", "stale")}
        parts.append(_SKILLS(**counts, archived=states.count("archived")))
        lines = [_describe_change(name, row, zone) for name, row in changes]
        parts.append("\n".join([_CHANGES(), *lines]) if lines else _NO_CHANGES())
        if lines:
            parts.append(_UNDO_HINT())
    parts += [
        sentence(count, percent=100 * size // max(limit, 1))
        for sentence, (count, size, limit) in zip(_LISTS, memory, strict=True)
    ]
    if waiting:
        parts.append(_WAITING(waiting))
    return "\n\n".join(parts)


def _describe(number: int, proposal: CurationProposal, is_whole: bool) -> str:
    change, reason = proposal.change, flatten(proposal.reason, _LONGEST)
    if isinstance(change, Merge):
        names = _name(change.before)
        head = _MERGE(number=number, names=names, name=change.into, reason=reason)
        before = change.before.get(change.into, "")
        shown = show_difference(before, change.text, (change.into, change.into))
        cut = shown if is_whole else shown[:_LONGEST_DIFFERENCE]
        return "\n".join([head, fence(cut), *([_CUT()] if cut != shown else [])])
    sentence = {"duplicate": _DUPLICATE, "contradiction": _CONTRADICTION}.get(change.kind, _SHORTEN)
    lines = [*(f"- {one}" for one in change.removed)]
    if change.text:
        lines.append(f"+ {change.text}")
    parts = [sentence(number=number, reason=reason), fence("\n".join(lines))]
    if change.kept:
        parts += [_STAYS(), fence(change.kept)]
    return "\n".join(parts)


def _describe_change(name: str, row: LedgerEntry, zone: str) -> str:
    date = format_date(local_time(row.origin.now, zone).date())
    found = _DAYS.search(row.origin.evidence)
    days = found[1] if found else ""
    if row.change.after is None:
        sentence = _ARCHIVED if days else _MERGED_AWAY
    elif row.change.before != row.change.after:
        sentence = _WRITTEN
    else:
        sentence = _STALE if days else _FRESH
    return sentence(date=date, name=name, number=days)


def _name(names: Iterable[str]) -> str:
    return join_list([*names])


def describe_passed(name: str, runs: Sequence[CaseRun]) -> str:
    """Tell that a draft passed its test."""
    return _PASSED(name=name, counts=_count(runs))


def describe_failed(name: str, runs: Sequence[CaseRun]) -> str:
    """Tell that a draft failed its test."""
    return _FAILED(name=name, counts=_count(runs))


def describe_rolled_back(name: str, version: int, runs: Sequence[CaseRun], row: int) -> str:
    """Tell that a text failed its test, and which version the skill has again."""
    return _ROLLED_BACK(name=name, number=version, counts=_count(runs), id=row)


def describe_decline(done: Decline) -> str:
    """Tell what was done about a skill that goes badly, and why."""
    sentence = _WENT_BADLY if done.version else _DRAFT_AGAIN
    return sentence(
        name=done.name,
        number=done.version,
        count=done.bad,
        total=done.good + done.bad,
        id=done.row.id,
    )


def _count(runs: Sequence[CaseRun]) -> str:
    good = [run.arm for run in runs if run.passed]
    count = len({run.case for run in runs})
    return _COUNTS(done=good.count("with"), number=good.count("without"), count=count)
