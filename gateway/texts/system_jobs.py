"""Sentences about system jobs and skills to owners, and the reports of the command line."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from agent_core.localization import Plural, Text
from agent_core.memory import SyncReport
from agent_core.skills import CuratorReport, Step, StepKind

_DONE: dict[StepKind, str] = {
    "see": "new",
    "changed": "changed by hand",
    "tell": "broken, the owners were told",
    "repaired": "repaired",
    "stale": "stale",
    "fresh": "used again",
    "archive": "put away",
    "archived": "found in the archive",
    "returned": "back again",
    "forget": "gone",
}
_WOULD: dict[StepKind, str] = {
    "see": "{name} would be noted as new",
    "changed": "{name} was changed by hand, which would be noted",
    "tell": "{name} is broken, which the owners would be told: {fault}",
    "repaired": "{name} is repaired",
    "stale": "{name} was not used for {days} days and would be called stale",
    "fresh": "{name} was used again and would not be called stale any more",
    "archive": "{name} was not used for {days} days and would be moved to skills/.archive/",
    "archived": "{name} lies in the archive, which would be noted",
    "returned": "{name} is back from the archive, which would be noted",
    "forget": "{name} is gone, and would be forgotten",
}
NO_FOLDER = "the home has no folder of skills"


_BROKEN = Plural(
    "A skill is broken, so jobs that use it fail. Fix it, then run `talaria skills check`:\n"
    "{faults}",
    "{n} skills are broken, so jobs that use them fail. Fix them, then run `talaria skills"
    " check`:\n{faults}",
)


def describe_broken(faults: Sequence[str]) -> str:
    """Tell owners which skills in the home are broken."""
    return _BROKEN(len(faults), faults="\n".join(f"- {_sentence(fault)}" for fault in faults))


def describe_round(done: CuratorReport) -> str:
    """Describe the curator's work for the record of its run."""
    if not done.has_folder:
        return NO_FOLDER
    looked = f"{done.count} skill{'' if done.count == 1 else 's'} looked at"
    reported = [f"{head}: {', '.join(names)}" for head, names in _gather(done.steps)]
    stuck = [f"{name} could not be put away: {why}" for name, why in done.stuck]
    return "; ".join((looked, *reported, *stuck))


def describe_plan(found: CuratorReport) -> list[str]:
    """Describe the curator's plan, a line for each step."""
    if not found.has_folder:
        return [_sentence(NO_FOLDER)]
    lines = [
        f"{_WOULD[step.kind].format(name=step.name, fault=step.fault, days=step.days)}."
        for step in found.steps
    ]
    return lines or ["Nothing would be done."]


def _gather(steps: Iterable[Step]) -> list[tuple[str, list[str]]]:
    """Group the steps by their action and name their skills."""
    found: dict[str, list[str]] = {}
    for step in steps:
        reported = f"{step.name} as {step.kept}" if step.kept not in ("", step.name) else step.name
        found.setdefault(_DONE[step.kind], []).append(reported)
    return list(found.items())


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


_DOUBTS = {
    "": "the same as was sent",
    "not_noted": "can't be proved: nothing was noted of it, it is older than that",
    "prompt_gone": "can't be proved: its prompt was deleted or altered since",
    "forgotten": "can't be proved: words of this talk were forgotten since",
    "differs": "NOT the same as was sent: what stands in the database is something else",
}
_UNKNOWN = "What was sent here can't be told: nothing that came of it stands in the database."


def describe_requests(answer: Mapping[str, Any]) -> Iterator[str]:
    """The requests of a turn, line by line, with their prompt."""
    calls = answer["calls"]
    if not calls:
        yield f"No answer of a model is recorded in turn {answer['id']}."
        return
    yield "== system"
    yield "(deleted or altered since)" if answer["system"] is None else answer["system"].rstrip("\n")
    yield "== tools"
    for tool in answer["tools"] or ():
        yield f"{tool['name']}: {tool['description']}"
        yield f"    {tool['schema']}"
    for number, call in enumerate(calls, start=1):
        yield from _describe_call(number, len(calls), call)


def _describe_call(number: int, count: int, call: Mapping[str, Any]) -> Iterator[str]:
    limit = f"at most {call['limit']:,} tokens of answer, " if call["limit"] else ""
    yield (
        f"== call {number} of {count}: {call['model']}, {limit}{call['read']:,} tokens read"
        f" ({call['from_cache']:,} from the cache), {call['written']:,} written"
    )
    yield f"fingerprint {call['hash'] or 'none'}: {_DOUBTS[call['doubt']]}"
    if not call["is_known"]:
        yield _UNKNOWN
        return
    if call["pictures"]:
        yield f"pictures {', '.join(call['pictures'])}"
    if call["same"]:
        yield f"(the first {call['same']} messages of call {number - 1}, and then)"
    for message in call["messages"]:
        yield f"[{message['role']}]"
        for part in message["parts"]:
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


def describe_replay(answer: Mapping[str, Any]) -> Iterator[str]:
    """Describe the result of a replayed turn."""
    if "prompt" in answer:
        yield from _describe_memory_of_now(answer)
        return
    count, place = answer["calls"], answer["compared"] + 1
    requests = "1 request" if count == 1 else f"{count} requests"
    if not count:
        yield f"Turn {answer['id']} ended before a model answered, so there is nothing to replay."
    elif answer["verdict"] == "identical":
        one = "its fingerprint is that" if count == 1 else "their fingerprints are those"
        yield f"identical: {requests}, and {one} of what was sent."
    elif answer["verdict"] == "not_noted":
        yield f"Request {place} of {count} can't be compared: nothing was noted of it then."
    elif answer["verdict"] == "fewer":
        yield f"The turn ended before request {place} of {count} was made again."
    else:
        yield f"Request {place} of {count} differs (- as it stands in the record, + made again):"
        yield from answer["lines"] or ("What it was made of can't be told any more.",)
    if count and answer["verdict"] not in ("identical", "not_noted") and answer["attempts"] > 1:
        yield "The turn was taken up again after a crash, which is not played."


def _describe_memory_of_now(answer: Mapping[str, Any]) -> Iterator[str]:
    if answer["prompt"]:
        yield "With what is remembered now, the prompt would be another:"
        yield from answer["prompt"]
    else:
        yield "With what is remembered now, the prompt would be the same."
    if not answer["is_rest_same"]:
        yield "The messages of the turn can't be made again as they were; see without --memory."


_LONGEST_REASON = 300
NO_OUTSIDE = "there is no outside memory"


def describe_sync(sync: SyncReport, now: int) -> str:
    """Describe the state of the external memory's sync. Pure; `now` in milliseconds."""
    report = sync.report
    how = "answers" if report.state == "ok" else f"does not answer ({report.detail or 'not yet'})"
    reported = [f"{report.name} {how}", f"{sync.reported:,} told since the last look"]
    if sync.revived:
        reported.append(f"{sync.revived:,} taken up again")
    if report.queued and sync.oldest_at is not None:
        since = datetime.fromtimestamp(min(sync.oldest_at, now) / 1000, UTC)
        reported.append(
            f"{report.queued:,} still owed, the oldest since {since:%Y-%m-%d %H:%M} UTC"
        )
    else:
        reported.append("nothing is owed")
    if report.dead:
        reported.append(f"{report.dead:,} set aside, the log says why")
    return "; ".join(reported)


_FAILED = Text(
    "**{title}** failed: {reason}. I'll try again on schedule and tell you when it works. For"
    " details, run `talaria jobs show {job_id}`."
)
_RECOVERED = Plural(
    "**{title}** works again after {n} failure.", "**{title}** works again after {n} failures."
)


def describe_failure(title: str, job_id: int, reason: str) -> str:
    """Tell owners that a system job failed for the first time in a row."""
    short = reason if len(reason) <= _LONGEST_REASON else f"{reason[: _LONGEST_REASON - 1]}…"
    return _FAILED(title=title, reason=short.rstrip("."), job_id=job_id)


def describe_recovery(title: str, failures: int) -> str:
    """Tell owners that a system job works again."""
    return _RECOVERED(failures, title=title)
