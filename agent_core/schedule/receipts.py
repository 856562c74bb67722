"""Describe to the person what a tool has changed in jobs: a line, and the command to undo it."""

from collections.abc import Sequence

from agent_core.localization import Text, format_weekday, say_at, say_clock
from agent_core.schedule.descriptions import ONCE, SHOWN, describe_timing, say_next
from agent_core.schedule.job_editor import next_slot_of
from agent_core.schedule.quiet_times import COMES_LATER, HeldSlot
from agent_core.schedule.triggers import Every, Once, OnEvent, load_timing
from agent_core.schedule.wall_clock import find_zone
from agent_core.shown_settings import name_city
from agent_core.state.jobs.jobs import Job, NewJob
from agent_core.tools.clock import ReaderClock, local_time
from agent_core.transcript import Receipt, flatten

_LONGEST_TITLE = 80
_ONCE = Text("⏰ {moment}: {title}")
_REPEATED = Text("⏰ {timing}: {title}. Next: {moments}")
_WITH_THERE = Text("{moment} ({there} in {city})")
_WITH_ZONE = Text("{timing} ({city} time)")
_WITH_PLACES = Text("{line} Sent to: {targets}")
_TWIN = Text("{line} You already had this one; Undo removes the second.")
_CHANGED = Text("⏰ Changed: {title}. Next: {moments}")
_ACTS = {
    "pause": Text("⏸ Paused: {title}"),
    "resume": Text("▶ Active again: {title}"),
    "run_now": Text("▶ Runs now: {title}"),
    "delete": Text("🗑 Deleted: {title}"),
    "restore": Text("⏰ Brought back: {title}"),
    "undo": Text("⏰ As before: {title}"),
}
_UNDO = {"pause": "resume", "resume": "pause", "delete": "restore"}


def confirm_created(
    job: Job,
    clock: ReaderClock,
    places: Sequence[str] = (),
    *,
    is_twin: bool = False,
    held: HeldSlot | None = None,
) -> Receipt:
    """Confirm a new job on the clock of its person, with the chats that have to be named.

    If it `is_twin`, the person had the same one already. `held` is the first slot whose message
    would wait for quiet hours to end, if any.
    """
    timing, title = load_timing(job.timing), _name(job).rstrip(".")
    if isinstance(timing, Once) and job.next_slot:
        title = title if places else _name(job)
        text = _ONCE(moment=_show_slot(job, job.next_slot[1], clock), title=title)
    else:
        meaning = say_timing(job, clock)
        text = _REPEATED(timing=meaning, title=title, moments=_list_next(job, clock))
        if held and held.place < SHOWN:
            text = f"{text}. {COMES_LATER(moment=held.until)}"
    if places:
        text = _WITH_PLACES(line=f"{text.rstrip('.')}.", targets="; ".join(places))
    if is_twin:
        text = _TWIN(line=f"{text.rstrip('.')}.")
    return Receipt(text=text, undo=f"jobs delete {job.id} yes")


def say_timing(job: NewJob, clock: ReaderClock) -> str:
    """Say when a job comes: a moment on the reader's clock, and the place of another clock."""
    timing = load_timing(job.timing)
    if isinstance(timing, Once) and job.next_slot:
        return ONCE(moment=_show_slot(job, job.next_slot[1], clock))
    meaning = describe_timing(timing, find_zone(job.zone), clock)
    if _is_elsewhere(job, clock):
        return _WITH_ZONE(timing=meaning, city=name_city(job.zone))
    return meaning


def confirm_changed(job: Job, clock: ReaderClock, undo: str) -> Receipt:
    """Confirm a change of a job, which `undo` takes back."""
    text = _CHANGED(title=_name(job).rstrip("."), moments=_list_next(job, clock))
    return Receipt(text=text, undo=undo)


def confirm_act(job: Job, action: str) -> Receipt:
    """Confirm that a job was paused, resumed, deleted, or started at once."""
    undo = f"jobs {_UNDO[action]} {job.id}" if action in _UNDO else ""
    return Receipt(text=_ACTS[action](title=_name(job)), undo=undo)


def confirm_verb(job: Job, verb: str) -> str:
    """Name what a command or a page did to a job."""
    return _ACTS["run_now" if verb == "run" else verb](title=_name(job).rstrip("."))


def _name(job: Job) -> str:
    return flatten(job.title, _LONGEST_TITLE)


def _is_elsewhere(job: NewJob, clock: ReaderClock) -> bool:
    """Return whether a job has the clock of another place, which shows another time."""
    if isinstance(load_timing(job.timing), Every | OnEvent):
        return False
    at = job.next_slot[1] if job.next_slot else clock.now
    here, there = (local_time(at, zone).utcoffset() for zone in (clock.zone, job.zone))
    return here != there


def _show_slot(job: NewJob, at: int, clock: ReaderClock) -> str:
    """Return a moment on the reader's clock, and also on the job's if that shows another time.

    "Tomorrow" is a day of the reader only: where the other clock has another date, its weekday
    tells it apart.
    """
    shown = clock.show(at)
    if not _is_elsewhere(job, clock):
        return shown
    here, there = local_time(at, clock.zone), local_time(at, job.zone)
    said = say_clock(there)
    if there.date() != here.date():
        said = say_at(format_weekday(there.weekday()), [said])
    return _WITH_THERE(moment=shown, there=said, city=name_city(job.zone))


def _list_next(job: Job, clock: ReaderClock) -> str:
    if isinstance(load_timing(job.timing), Once) and job.next_slot:
        return _show_slot(job, job.next_slot[1], clock)
    return say_next(load_timing(job.timing), find_zone(job.zone), next_slot_of(job), clock)
