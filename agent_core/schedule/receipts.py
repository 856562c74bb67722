"""What the `schedule` tool has changed, for the person: a line and the command that undoes it."""

from agent_core.localization import Text
from agent_core.schedule.descriptions import describe_next, describe_timing, show_moment
from agent_core.schedule.job_editor import next_slot_of
from agent_core.schedule.triggers import Once, load_timing
from agent_core.schedule.wall_clock import find_zone
from agent_core.state.jobs.jobs import Job
from agent_core.transcript import Receipt, flatten

_LONGEST_TITLE = 80
_ONCE = Text("⏰ {moment}: {title}")
_REPEATED = Text("⏰ {timing}: {title}. Next: {moments}")
_CHANGED = Text("⏰ Changed: {title}. Next: {moments}")
_ACTS = {
    "pause": Text("⏸ Paused: {title}"),
    "resume": Text("▶ Active again: {title}"),
    "run_now": Text("▶ Runs now: {title}"),
    "delete": Text("🗑 Deleted: {title}"),
}
_UNDO = {"pause": "resume", "resume": "pause", "delete": "restore"}


def confirm_created(job: Job, reader: str) -> Receipt:
    """Confirm a new job; `reader` is the person's IANA time zone."""
    timing, undo = load_timing(job.timing), f"jobs drop {job.id} yes"
    if isinstance(timing, Once) and job.next_slot:
        moment = show_moment(job.next_slot[1], find_zone(reader))
        return Receipt(text=_ONCE(moment=moment, title=_name(job)), undo=undo)
    meaning = describe_timing(timing, find_zone(job.zone))
    text = _REPEATED(timing=meaning, title=_name(job), moments=_list_next(job, reader))
    return Receipt(text=text, undo=undo)


def confirm_changed(job: Job, reader: str) -> Receipt:
    """Confirm a change of a job."""
    text = _CHANGED(title=_name(job), moments=_list_next(job, reader))
    return Receipt(text=text, undo=f"jobs undo {job.id}")


def confirm_act(job: Job, action: str) -> Receipt:
    """Confirm that a job was paused, resumed, deleted, or started at once."""
    undo = f"jobs {_UNDO[action]} {job.id}" if action in _UNDO else ""
    return Receipt(text=_ACTS[action](title=_name(job)), undo=undo)


def _name(job: Job) -> str:
    return flatten(job.title, _LONGEST_TITLE)


def _list_next(job: Job, reader: str) -> str:
    timing, zone = load_timing(job.timing), find_zone(job.zone)
    return describe_next(timing, zone, next_slot_of(job), find_zone(reader))
