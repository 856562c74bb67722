"""Sentences about system jobs and skills to owners, and the reports of the command line."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from agent_core.localization import Plural, Text

if TYPE_CHECKING:
    from agent_core.memory.external.client import SyncReport
    from agent_core.skills.curator import CurationStep, CuratorReport, StepKind
    from gateway.operations.turn_types import (
        PromptOfNow,
        ReplayedTurn,
        TurnRequest,
        TurnRequests,
    )

TITLES: Mapping[str, Text] = {
    "backup": Text("Backup of the database"),
    "retention": Text("Deletion of expired data"),
    "curator": Text("Review of the skills"),
    "memory-sync": Text("Sync with external memory"),
    "calendars": Text("Calendars of days off"),
}
"""The titles of system jobs, by name; their rows have the English ones."""

_DONE: dict["StepKind", str] = {
    "see": "new",
    "changed": "changed by hand",
    "tell": "broken, reported to the owners",
    "repaired": "repaired",
    "stale": "stale",
    "fresh": "used again",
    "archive": "archived",
    "archived": "found in the archive",
    "returned": "restored by hand",
    "forget": "deleted by hand",
}
_WOULD: dict["StepKind", str] = {
    "see": "{name}: would be recorded as new",
    "changed": "{name}: changed by hand; would be recorded",
    "tell": "{name}: broken; would be reported to the owners: {fault}",
    "repaired": "{name}: repaired; would be recorded",
    "stale": "{name}: unused for {days} days; would be marked stale",
    "fresh": "{name}: used again; would no longer be marked stale",
    "archive": "{name}: unused for {days} days; would move to skills/.archive/",
    "archived": "{name}: found in the archive; would be recorded",
    "returned": "{name}: restored from the archive; would be recorded",
    "forget": "{name}: deleted by hand; its record would be removed",
}
NO_FOLDER = "the home directory has no skills folder"


_BROKEN = Plural(
    "A skill is broken, so reminders that use it fail. Fix it, then run `talaria skills"
    " check`:\n"
    "{faults}",
    "{n} skills are broken, so reminders that use them fail. Fix them, then run `talaria"
    " skills check`:\n"
    "{faults}",
)


def name_system_job(name: str, title: str) -> str:
    """Return the title of a system job in the reader's language; of an unknown one, its `title`."""
    return TITLES[name]() if name in TITLES else title


def describe_broken(faults: Sequence[str]) -> str:
    """Tell owners which skills in the home are broken."""
    return _BROKEN(len(faults), faults="\n".join(f"- {_sentence(fault)}" for fault in faults))


def describe_round(done: "CuratorReport") -> str:
    """Describe the curator's work for the record of its run."""
    if not done.has_folder:
        return NO_FOLDER
    looked = f"{done.count} skill{'' if done.count == 1 else 's'} checked"
    reported = [f"{head}: {', '.join(names)}" for head, names in _gather(done.steps)]
    stuck = [f"{name} could not be archived: {why}" for name, why in done.stuck]
    return "; ".join((looked, *reported, *stuck))


def describe_plan(found: "CuratorReport") -> list[str]:
    """Describe the curator's plan, a line for each step."""
    if not found.has_folder:
        return [_sentence(NO_FOLDER)]
    lines = [
        f"{_WOULD[step.kind].format(name=step.name, fault=step.fault, days=step.days)}."
        for step in found.steps
    ]
    return lines or ["There is nothing to do."]


def _gather(steps: "Iterable[CurationStep]") -> list[tuple[str, list[str]]]:
    """Group the steps by their action and name their skills."""
    found: dict[str, list[str]] = {}
    for step in steps:
        reported = f"{step.name} as {step.kept}" if step.kept not in ("", step.name) else step.name
        found.setdefault(_DONE[step.kind], []).append(reported)
    return list(found.items())


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


_DOUBTS = {
    "": "identical to what was sent",
    "not_noted": "can't be verified: no fingerprint was recorded then",
    "prompt_gone": "can't be verified: the prompt was deleted or altered since",
    "forgotten": "can't be verified: words of this conversation were deleted since",
    "differs": "NOT identical to what was sent: the database holds something else",
}
_UNKNOWN = "The database has no record of what was sent here."


def describe_requests(answer: "TurnRequests") -> Iterator[str]:
    """The requests of a turn, line by line, with their prompt."""
    calls = answer.calls
    if not calls:
        yield f"Turn {answer.id} has no recorded model answer."
        return
    yield "== system"
    yield ("(deleted or altered since)" if answer.system is None else answer.system.rstrip("\n"))
    yield "== tools"
    for tool in answer.tools or ():
        yield f"{tool.name}: {tool.description}"
        yield f"    {tool.schema}"
    for number, call in enumerate(calls, start=1):
        yield from _describe_call(number, len(calls), call)


def _describe_call(number: int, count: int, call: "TurnRequest") -> Iterator[str]:
    limit = f"at most {call.limit:,} tokens of answer, " if call.limit else ""
    yield (
        f"== call {number} of {count}: {call.model}, {limit}{call.read:,} tokens read"
        f" ({call.from_cache:,} from the cache), {call.written:,} written"
    )
    yield f"fingerprint {call.hash or 'none'}: {_DOUBTS[call.doubt]}"
    if not call.is_known:
        yield _UNKNOWN
        return
    if call.pictures:
        yield f"pictures {', '.join(call.pictures)}"
    if call.same:
        yield f"(the first {call.same} messages of call {number - 1}, then)"
    for message in call.messages:
        yield f"[{message.role}]"
        for part in message.parts:
            yield from _describe_part(part)


def _describe_part(part: Mapping[str, Any]) -> Iterator[str]:
    match part["kind"]:
        case "text":
            yield part["text"]
        case "call":
            yield f"call {part['call_id']}: {part['name']} {part['arguments']}"
        case "result":
            failed = ", an error" if part["is_error"] else ""
            yield f"result of {part['call_id']} ({part['name']}{failed}):"
            yield part["text"]
        case _:
            yield json.dumps(part, ensure_ascii=False)


def describe_replay(answer: "ReplayedTurn") -> Iterator[str]:
    """Describe the result of a replayed turn."""
    count, place = answer.calls, answer.compared + 1
    requests = "1 request" if count == 1 else f"{count} requests"
    if not count:
        yield f"Turn {answer.id} ended before a model answered, so there is nothing to replay."
    elif answer.verdict == "identical":
        one = "its fingerprint is that" if count == 1 else "their fingerprints are those"
        yield f"identical: {requests}, and {one} of what was sent."
    elif answer.verdict == "not_noted":
        yield f"Request {place} of {count} can't be compared: no fingerprint was recorded then."
    elif answer.verdict == "fewer":
        yield f"The replay ended before request {place} of {count}."
    else:
        yield f"Request {place} of {count} differs (- recorded, + rebuilt):"
        yield from answer.lines or ("Its content is no longer in the database.",)
    if count and answer.verdict not in ("identical", "not_noted") and answer.attempts > 1:
        yield "This request went on after a crash, and the comparison leaves that out."


def describe_prompt_of_now(answer: "PromptOfNow") -> Iterator[str]:
    """Describe what today's memory changes in the prompt of a turn."""
    if answer.prompt:
        yield "With the current memory, the prompt would differ:"
        yield from answer.prompt
    else:
        yield "With the current memory, the prompt would be the same."
    if not answer.is_rest_same:
        yield "The turn's messages can't be rebuilt; see the replay without --memory."


NO_OUTSIDE = "no external memory is configured"


def describe_calendars(count: int, failed: int) -> str:
    """Report how many calendars of days off were read."""
    done = f"{count - failed} of {count} calendars read"
    return f"{done}; the others keep their last days off, see the log" if failed else done


def describe_sync(sync: "SyncReport", now: int) -> str:
    """Describe the state of the external memory's sync. Pure; `now` in milliseconds."""
    report = sync.report
    how = "answers" if report.state == "ok" else f"does not answer ({report.detail or 'not yet'})"
    reported = [f"{report.name} {how}", f"{sync.reported:,} synced since the last check"]
    if sync.revived:
        reported.append(f"{sync.revived:,} retried")
    if report.queued and sync.oldest_at is not None:
        since = datetime.fromtimestamp(min(sync.oldest_at, now) / 1000, UTC)
        reported.append(
            f"{report.queued:,} not synced yet, the oldest since {since:%Y-%m-%d %H:%M} UTC"
        )
    else:
        reported.append("everything is synced")
    if report.dead:
        reported.append(f"{report.dead:,} failed; the log gives the reasons")
    return "; ".join(reported)
