"""Sentences about the curator and about tests of skills: what was done, and what is proposed."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from agent_core.localization import Plural, Text, join_list
from agent_core.memory.approval import fence, show_changes, show_difference
from agent_core.skills.curation.record import CurationProposal, Merge, ProposalState, Tidying
from agent_core.skills.curation.snapshot import RestoredSnapshot
from agent_core.skills.decline import Decline
from agent_core.skills.evaluation.cases import LEAST_CASES, find_drawn
from agent_core.skills.evaluation.effects import DELETES, REACHES
from agent_core.skills.evaluation.record import CaseRun
from agent_core.skills.evaluation.verdict import list_added_dangers
from agent_core.state.memory.ledger import Change, LedgerEntry
from agent_core.tools.clock import ReaderClock
from agent_core.transcript import flatten, strip_controls

if TYPE_CHECKING:
    from gateway.operations.curator_types import SkillCounts, WaitingProposal

_LONGEST = 240
_LONGEST_DIFFERENCE = 2_500
"""Characters of a difference in a chat; a longer one is shown up to there."""

_QUOTED = Text("“{name}”")
RUN, SHOW_REPORT = Text("Run now"), Text("Report")
SHOW_PROPOSALS, SHOW_STATUS = Text("Show suggestions"), Text("Back")
ACCEPT, DECLINE = Text("Accept {number}"), Text("Decline {number}")
TIDY_NOW = Text("Tidy up now")
TIDYING = Text("Tidying up")
WAYS: Mapping[str, Text] = {
    "merge": Text("Merge the skills {names} into “{name}”."),
    "duplicate": Text("Remove what another note already says."),
    "contradiction": Text("Remove what is out of date."),
    "shorten": Text("Say the same in fewer words."),
}
ACCEPT_IT, DECLINE_IT = Text("Accept"), Text("Decline")
RESTORE = Text("Put the skills back as they were")
USAGE = Text(
    "With /curator you can:\n"
    "- /curator: see when I last tidied up, and which suggestions wait for you\n"
    "- /curator run: let me tidy up now\n"
    "- /curator proposals: decide about my suggestions\n"
    "- /curator report: see what I changed\n"
    "- /curator restore: put the skills back as they were before the last change"
)
_STATUS = Text(
    "Once a week, I look for skills that nobody uses. I also look for notes and skills that repeat"
    " or contradict each other, and suggest changes."
)
_LAST = Text("Last time: {date}.")
_NEXT = Text("Next time: {date}.")
_WAITING = Plural(
    "{n} suggestion waits for your decision.", "{n} suggestions wait for your decision."
)
TIDY_UP = Plural(
    "I found {n} thing to tidy up. Nothing changes before you accept it.",
    "I found {n} things to tidy up. Nothing changes before you accept it.",
)
CONFLICTS = Plural(
    "Two of my notes about you can't both be true. Which is right?",
    "{n} of my notes about you contradict other notes. Which are right?",
)
SHOW_CONFLICTS = Text("Show them")
KEEP_NEWER, KEEP_BOTH = Text("{number}: the newer one"), Text("{number}: both are right")
NO_CONFLICTS = Text(
    "I see no notes about you that contradict each other. I compare them once a week. You can "
    "also let me do it now:"
)
_CONFLICTS = Text("**These notes can't both be true. Which is right?**")
_CONFLICT = Text("{number}. Noted {date}:\n{was}\nor noted {newer}:\n{entry}")
STARTED: Mapping[str, Text] = {
    "own_memory": Text(
        "I'm looking through what I remember about you. I'll write if I find something to tidy up."
    ),
    "everything": Text(
        "I'm looking through notes and skills. I'll write if I find something to tidy up."
    ),
}
RUNS_ALREADY = Text("I'm tidying up already.")
LEARNING_OFF = Text("You've switched learning off. /learned changes that.")
NO_JOB = Text("I can't tidy up yet. Restart Talaria, and try again.")
NO_JOB_YET = Text("Tidying up isn't planned yet; `talaria run` plans it.")
NOTHING_WAITS = Text("No suggestion waits for your decision.")
UNKNOWN = Text("I don't know that suggestion. /curator proposals shows the ones that wait for you.")
DECIDED: dict[ProposalState, Text] = {
    "open": NOTHING_WAITS,
    "accepted": Text("Done."),
    "declined": Text("Declined. I won't suggest that again."),
    "outdated": Text("I've left it as it is, because it has changed since I suggested this."),
}
_TIDIED = Text("Done:\n\n{change}\n\n{command} takes this back.")
_TIDIED_MORE = Text(
    "Done:\n\n{change}\n\nTo take this back, send these one after the other: {commands}."
)
MERGED_BEFORE = Text("You accepted this already. /curator report shows what has changed.")
_REFUSED = Text("I changed nothing. Details: “{reason}.”")
_MERGED = Text(
    "Done: the skill “{name}” replaces {names}. The old ones are in the archive, and /curator"
    " restore brings them back."
)
_RESTORED = Text(
    "I've put these skills back as they were: {names}. I took them from the copy that I saved"
    " as “{name}”."
)
_REMOVED_NEWER = Text("I've archived the skills that I wrote since then: {names}.")
_MERGE = Text("**{number}. Merge the skills {names} into “{name}”.** {reason}")
_DUPLICATE = Text("**{number}. Remove what another note already says.** {reason}")
_CONTRADICTION = Text("**{number}. Remove what is out of date.** {reason}")
_SHORTEN = Text("**{number}. Say the same in fewer words.** {reason}")
STAYS = Text("This note stays:")
_CUT = Text("The text goes on. `talaria skills curate --dry-run` shows all of it.")
_MORE = Plural("{n} more suggestion waits.", "{n} more suggestions wait.")
_REPORT = Text("**Notes and skills to tidy up**")
_SKILLS = Text(
    "Skills: active {active}, on trial {trial}, drafts {draft}, unused {stale}, archived {archived}"
)
_LISTS = (
    Plural(
        "About you: {n} note; this list is {percent}% full.",
        "About you: {n} notes; this list is {percent}% full.",
    ),
    Plural(
        "Other notes: {n}; this list is {percent}% full.",
        "Other notes: {n}; this list is {percent}% full.",
    ),
)
_CHANGES = Text("Newest changes:")
_NO_CHANGES = Text("I haven't changed a skill while tidying up yet.")
_ARCHIVED = Text(
    "- {date}: The skill “{name}” moved to the archive, because nobody had used it for"
    " {number} days."
)
_MERGED_AWAY = Text(
    "- {date}: The skill “{name}” moved to the archive, because another skill now does its work."
)
_STALE = Text(
    "- {date}: The skill “{name}” was marked as unused, because nobody had used it for"
    " {number} days."
)
_FRESH = Text("- {date}: The skill “{name}” is in use again.")
_WRITTEN = Text("- {date}: The skill “{name}” has the new text that you accepted.")
_UNDO_HINT = Text("/curator restore puts the skills back as they were before the newest change.")
_DAYS = re.compile(r"not used for (\d+) days")

_REPEATED = Plural(
    "For the test, I did {n} of your earlier requests again.",
    "For the test, I did {n} of your earlier requests again.",
)
_RAN = Plural(
    "I tried {n} example that a person wrote or approved.",
    "I tried {n} examples that a person wrote or approved.",
)
_COUNTS = Text(
    "With the skill, {done} of {count} attempts went well; without it, {number} of {total} did."
)
_DANGERS = {
    DELETES: Text(
        "In more than one attempt with the skill, I tried to delete files that should stay."
    ),
    REACHES: Text("In more than one attempt with the skill, I tried to reach the network."),
}
_OFFER = Text(
    "I wrote the skill “{name}” as a draft. Until it passes a test, I won't use it on my own."
    " The test needs {number} matching requests from you. To try it now, send /skills try"
    " {name} and what to do."
)
TRY = Text("Try it")
_PASSED = Text(
    "The skill “{name}” passed its test, so from now on I use it without being asked. {counts}"
)
_FAILED = Text(
    "The skill “{name}” failed its test, so it stays a draft. {counts} You can still start it"
    " with /{name}."
)
_ENDLESS = Text("One attempt with the skill took too long, so I stopped it.")
_UNTESTED = Text("I can't test the skill “{name}”. Details: “{reason}.”")
_ROLLED_BACK = Text(
    "I returned the skill “{name}” to version {number}, because the newer one failed its"
    " test. {counts} An owner can take this back with /undo skill {name}."
)
_WENT_BADLY = Text(
    "I returned the skill “{name}” to version {number}, because the newer one went wrong"
    " {count} of {total} times. An owner can take this back with /undo skill {name}."
)
_DRAFT_AGAIN = Text(
    "The skill “{name}” is a draft again, because it went wrong {count} of {total} times. You"
    " can still start it with /{name}. An owner can take this back with `talaria skills undo"
    " {id}`."
)


def describe_status(
    last: int | None, following: int | None, waiting: int, clock: ReaderClock
) -> str:
    """Say what the curator does, when it ran, and what waits. Times are in milliseconds."""
    parts = [_STATUS()]
    if last is not None:
        parts.append(_LAST(date=clock.show_day(last)))
    if following is not None:
        parts.append(_NEXT(date=clock.show_day(following)))
    if waiting:
        parts.append(_WAITING(waiting))
    return "\n".join(parts)


def name_way(proposal: "WaitingProposal") -> str:
    """Say in one sentence what a proposal would do."""
    if proposal.kind != "merge":
        return WAYS[proposal.kind]()
    return WAYS["merge"](names=_name(proposal.removed), name=proposal.into)


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


def list_conflicts(changes: Sequence[Tidying], dates: Mapping[str, int], clock: ReaderClock) -> str:
    """List notes that contradict newer ones, with the days on which they were written."""

    def date(text: str) -> str:
        return clock.show_day(dates[text])

    parts = [
        _CONFLICT(
            number=number,
            date=join_list([*dict.fromkeys(map(date, change.removed))]),
            was=fence("\n".join(change.removed)),
            newer=date(change.kept),
            entry=fence(change.kept),
        )
        for number, change in enumerate(changes, 1)
    ]
    return "\n\n".join([_CONFLICTS(), *parts])


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
    return _REFUSED(reason=reason)


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
    skills: "SkillCounts | None",
    memory: Sequence[tuple[int, int, int]],
    waiting: int,
    clock: ReaderClock,
) -> str:
    """Report on skills and notes. `memory` has the entries, characters and limit of each list."""
    parts = [_REPORT()]
    if skills:
        parts.append(
            _SKILLS(
                active=skills.active,
                trial=skills.trial,
                draft=skills.draft,
                stale=skills.stale,
                archived=skills.archived,
            )
        )
        lines = [_describe_change(name, row, clock) for name, row in changes]
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
        parts += [STAYS(), fence(change.kept)]
    return "\n".join(parts)


def _describe_change(name: str, row: LedgerEntry, clock: ReaderClock) -> str:
    date = clock.show_day(row.origin.now)
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
    return join_list([_QUOTED(name=name) for name in names])


def describe_passed(name: str, runs: Sequence[CaseRun]) -> str:
    """Tell that a draft passed its test."""
    return _PASSED(name=name, counts=_count(runs))


def describe_failed(name: str, runs: Sequence[CaseRun], *, is_endless: bool = False) -> str:
    """Tell that a draft failed its test, maybe because a run with it does not end."""
    return _FAILED(name=name, counts=_ENDLESS() if is_endless else _count(runs))


def describe_untested(name: str, reason: str) -> str:
    """Say why a skill can't be tested; `reason` is in English."""
    return _UNTESTED(name=name, reason=reason)


def describe_rolled_back(name: str, version: int, runs: Sequence[CaseRun]) -> str:
    """Tell that a text failed its test, and which version the skill has again."""
    return _ROLLED_BACK(name=name, number=version, counts=_count(runs))


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


def describe_offer(name: str) -> str:
    """Offer a draft that has too few cases for its test."""
    return _OFFER(name=name, number=LEAST_CASES)


def _count(runs: Sequence[CaseRun]) -> str:
    """Tell what was run, and how it came out."""
    judged = [run for run in runs if run.passed is not None]
    cases = {run.case for run in judged}
    drawn = sum(find_drawn(case) is not None for case in cases)
    parts = [_REPEATED(drawn)] if drawn else []
    if len(cases) > drawn:
        parts.append(_RAN(len(cases) - drawn))
    having, without = (
        [run.passed for run in judged if run.arm == arm] for arm in ("with", "without")
    )
    counts = _COUNTS(
        done=having.count(True),
        count=len(having),
        number=without.count(True),
        total=len(without),
    )
    added = list_added_dangers(runs)
    return " ".join([*parts, counts, *(_DANGERS[danger]() for danger in added)])
