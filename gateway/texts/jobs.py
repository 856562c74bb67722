"""How jobs read where people list, look at and steer them, and where they are at home."""

import json
import shlex
from collections.abc import Sequence

from agent_core.schedule.descriptions import describe_late, describe_next, describe_timing, list_ways, show_moment
from agent_core.schedule.job_editor import next_slot_of
from agent_core.schedule.occurrences import find_zone
from agent_core.schedule.triggers import load_timing
from agent_core.state.jobs.job_runs import Run
from agent_core.state.jobs.jobs import Job, JobKind

HOW = (
    "/jobs lists them, /jobs 3 shows job 3. To change it: /jobs pause 3, /jobs resume 3,"
    " /jobs run 3, /jobs drop 3. For anything else, and for new ones, just tell me."
)
NONE = "There are no jobs. Tell me what to do when, and I make one."
NONE_HERE = "This room has no jobs. An owner may tell me here what to do when."
UNKNOWN = "There is no job {number} here. /jobs lists them."
NOT_YOURS = "Somebody else made job {number}: they and owners may change it."
DROP = "Yes, drop it"
KEEP = "No"
HOME_HERE = (
    "From now on what I send by myself comes here, if it has no other place. /sethome off takes"
    " that back."
)
HOME_IN_ROOM = (
    "From now on what I send you by myself comes here, if it has no other place. Everyone here"
    " reads it, also what is private. /sethome off takes that back."
)
HOME_OFF = "From now on what I send by myself comes where we talked last in private."
HOME_ONLY_OWNER = (
    "Not in a room: everyone here would read what I send you by myself, also what is private."
    " Say /sethome in a direct talk with me."
)
HOME_HOW = "/sethome lets what I send by myself come here; /sethome off takes that back."
NO_DIGESTS = "No digests are set up."

_MOST_CHARACTERS = 1500
"""Discord takes 2,000 in a message, and what stands around a list needs its part."""
_LONGEST_BODY, _LONGEST_REASON = 500, 200
_KINDS: dict[JobKind, str] = {
    "prompt": "I do this:",
    "message": "I send this:",
    "script": "I run this command:",
    "system": "The house does this by itself:",
}


def list_jobs(found: Sequence[Job], reader: str, *, is_room: bool) -> str:
    """Jobs with their meaning and next time on the reader's clock, as many as fit."""
    if not found:
        return NONE_HERE if is_room else NONE
    lines = [f"{'The jobs of this room' if is_room else 'Your jobs'} (times in {reader}):", ""]
    room = _MOST_CHARACTERS
    for number, job in enumerate(found):
        line = f"- {describe_line(job, reader)}"
        room -= len(line) + 1
        if room < 0:
            lines.append(f"… and {len(found) - number} more: /jobs from {job.id}")
            break
        lines.append(line)
    return "\n".join([*lines, "", HOW])


def describe_line(job: Job, reader: str) -> str:
    """One job in a line."""
    return f"{name_job(job)}: {describe_meaning(job, reader)}. {_describe_state(job, reader)}"


def name_job(job: Job) -> str:
    """A job by its title and number."""
    return f"**{job.title}** (job {job.id})"


def describe_meaning(job: Job, reader: str) -> str:
    """When a job runs, in words; its zone where that is not the reader's."""
    zone = f" ({job.zone})" if job.zone != reader else ""
    return describe_timing(load_timing(job.timing)) + zone


def list_coming(found: Sequence[Job], reader: str) -> str:
    """What comes next, for a home page; jobs that wait, the earliest first."""
    lines = [
        f"- **{job.title}**: {show_moment(job.next_slot[1], find_zone(reader))}"
        for job in found
        if job.next_slot
    ]
    return "\n".join(lines) or NO_DIGESTS


def show_job(job: Job, runs: Sequence[Run], reader: str, places: Sequence[str]) -> str:
    """One job in full: what it does, when, where to, how, and what became of its last runs."""
    timing, zone = load_timing(job.timing), find_zone(job.zone)
    coming = describe_next(timing, zone, next_slot_of(job), find_zone(reader))
    when = f"{describe_meaning(job, reader)}. Next: {coming}"
    if job.state == "paused":
        when = f"{describe_meaning(job, reader)}. {_describe_state(job, reader)}"
    body = _shorten(show_body(job), _LONGEST_BODY)
    quoted = "\n".join(f"> {line}" for line in body.splitlines())
    lines = [f"- {way}" for way in (*tell_places(places), *describe_ways(job))]
    told = [f"- {describe_run(run, reader)}" for run in runs]
    ran = ["", "Last runs:", *told] if told else ["", "It has not run yet."]
    return "\n".join([name_job(job), when, "", _KINDS[job.kind], quoted, "", *lines, *ran])


def show_body(job: Job) -> str:
    """What a job does, for people to read: a command as it would be typed."""
    if job.kind != "script":
        return job.body
    try:
        return shlex.join(json.loads(job.body))
    except (TypeError, ValueError):  # it is damaged
        return job.body


def tell_places(places: Sequence[str]) -> list[str]:
    """Where a job's words go; nothing of a job that sends none."""
    return [f"Goes to: {'; '.join(places)}"] if places else []


def describe_ways(job: Job) -> list[str]:
    """What becomes of missed times, and how a job is run where that is not as usual."""
    return [describe_late(job), *list_ways(job)]


def describe_run(run: Run, reader: str) -> str:
    """What became of one run."""
    zone = find_zone(reader)
    due = show_moment(run.slot_at, zone) + (", asked for" if run.slot.startswith("asked ") else "")
    missed = f"; {run.missed} before it missed" if run.missed else ""
    reason = _shorten(" ".join(run.reason.split()), _LONGEST_REASON).rstrip(".")
    because = f" ({reason})" if reason else ""
    match run.state:
        case "waiting" if run.attempts:
            told = f"did not work{because}, is tried again {show_moment(run.due_at, zone)}"
        case "waiting":
            told = "is about to begin"
        case "running":
            told = "under way"
        case "done":
            told = f"done{because}"
        case "failed":
            told = f"did not work{because}"
        case "skipped":
            told = f"left out{because}"
    return f"{due}: {told}{missed}"


def describe_paused(job: Job) -> str:
    """A job was paused."""
    return f"{name_job(job)} is paused. /jobs resume {job.id} lets it go on."


def describe_resumed(job: Job, reader: str) -> str:
    """A job goes on."""
    return f"{name_job(job)} goes on. {_describe_state(job, reader)}"


def describe_begun(job: Job) -> str:
    """A job is run once more."""
    return f"{name_job(job)} is run now; what it makes goes where it always goes."


def describe_busy(job: Job) -> str:
    """A job can't be run now: it is."""
    return f"{name_job(job)} is under way already."


def ask_to_drop(job: Job) -> str:
    """Before a pressed button drops a job."""
    return f"Drop {name_job(job)} for good?"


def describe_dropped(job: Job) -> str:
    """A job is no more."""
    return f"{name_job(job)} is gone."


def describe_unfit(reason: str) -> str:
    """What was wished for a job can't be."""
    return f"Nothing was changed: {reason}."


def _describe_state(job: Job, reader: str) -> str:
    if job.state == "paused":
        return f"Paused: {job.reason}." if job.reason else "Paused."
    if job.next_slot is None:
        return "It does not run again."
    return f"Next: {show_moment(job.next_slot[1], find_zone(reader))}."


def _shorten(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
