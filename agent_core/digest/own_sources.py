"""A person's own sources for a digest: due jobs and open questions of past conversations."""

from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from itertools import takewhile

from agent_core.digest.formatting import count, fit
from agent_core.digest.requests import DigestSource, GatherRequest
from agent_core.memory.recall.formatting import View, format_hits
from agent_core.memory.recall.message_search import search_messages
from agent_core.memory.recall.query import read_query
from agent_core.schedule.descriptions import show_moment
from agent_core.schedule.job_editor import next_slot_of
from agent_core.schedule.occurrences import walk_slots
from agent_core.schedule.triggers import load_timing, milliseconds
from agent_core.schedule.wall_clock import find_zone
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import job_runs, jobs
from agent_core.state.jobs.jobs import Job
from agent_core.state.search import passages
from agent_core.state.search.search_scope import SearchFilter, scope_of_conversation
from agent_core.tools.clock import local_time
from agent_core.tools.contract import ToolContext
from agent_core.transcript import quote

_MOST_TIMES = 5
"""The number of times listed per job; a more frequent job is marked as continuing."""
_MOST_CONVERSATIONS = 30
_MOST_HITS = 8
_LONGEST = 200
_OPEN = (
    "remember remind todo later tomorrow promise promised waiting open decide"
    " erinnern morgen später versprochen offen rappeler demain plus tard promis"
    " recordar mañana luego pendiente"
)
"""Words that are typical of open questions, in several languages; a `query` is more precise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceReader:
    """The database, and the turn that reads from it."""

    connection: Connection
    context: ToolContext


def list_due_jobs(reader: SourceReader, wanted: GatherRequest) -> str:
    """Format the person's jobs that are due in the requested days."""
    connection, context = reader.connection, reader.context
    zone = find_zone(wanted.zone)
    last = datetime.combine(wanted.first + timedelta(days=wanted.days), time(), zone)
    begin = max(context.now, milliseconds(datetime.combine(wanted.first, time(), zone)))
    run_id = job_runs.find_of_turn(connection, turn_id=context.turn_id)
    run = job_runs.find(connection, run_id=run_id) if run_id else None
    due = [
        (times[0], job, times)
        for job in jobs.list_of_person(connection, person_id=context.person_id)
        if job.state == "active" and (run is None or job.id != run.job_id)
        if (times := _list_times(job, begin, milliseconds(last)))
    ]
    due.sort(key=lambda one: (one[0], one[1].id))
    lines = [
        f"- {', '.join(show_moment(at, zone) for at in times[:_MOST_TIMES])}"
        f"{' and on' if len(times) > _MOST_TIMES else ''}:"
        f" {quote(job.body if job.kind == 'message' else job.title, _LONGEST)}"
        for _, job, times in due
    ]
    return fit(f"{count(len(due), 'job')} due ({wanted.zone})", lines, wanted.room)


def _list_times(job: Job, begin: int, end: int) -> list[int]:
    """List the first due times of a job in a span of milliseconds, one more than are shown."""
    first = next_slot_of(job)
    if first is None:
        return []
    times: list[int] = []
    slots = walk_slots(load_timing(job.timing), find_zone(job.zone), first)
    for slot in takewhile(lambda slot: slot.at < end, slots):
        if slot.at >= begin:
            times.append(slot.at)
        if len(times) > _MOST_TIMES:
            break
    return times


def list_open_ends(reader: SourceReader, source: DigestSource, wanted: GatherRequest) -> str:
    """Format unanswered questions, and messages that sound like promises."""
    connection, context = reader.connection, reader.context
    field = SearchFilter(
        person_id=context.owner_id,
        scope=context.scope,
        except_turn=context.turn_id,
        since=wanted.since,
        until=context.now,
    )
    here = replace(field, scope=scope_of_conversation(context.conversation_id), since=None)
    own = set(passages.list_latest(connection, field=here, limit=_MOST_CONVERSATIONS))
    latest = passages.list_latest(connection, field=field, limit=_MOST_CONVERSATIONS)
    overviews = passages.load_overviews(
        connection, field=field, session_ids=[one for one in latest if one not in own]
    )
    asked = [one for one in overviews if one.last.rstrip().endswith(("?", "？", "؟"))]
    lines = [
        f"- {local_time(one.last_at, wanted.zone):%Y-%m-%d %H:%M}, a conversation ended with the"
        f" question {quote(one.last[-_LONGEST:], _LONGEST)}"
        for one in asked
    ]
    query = read_query(source.query or _OPEN)
    found = search_messages(
        connection,
        replace(field, role="user"),
        query,
        limit=_MOST_HITS,
        clock=lambda moment: local_time(moment, wanted.zone),
    )
    hits = tuple(hit for hit in found.hits if hit.message.session_id not in own)
    reported = format_hits(
        query, replace(found, hits=hits, count=len(hits)), (), View(zone=wanted.zone)
    ).splitlines()
    return fit(
        f"{count(len(asked), 'open question')}, and possible open ends",
        [*lines, *reported],
        wanted.room,
    )
