"""Sentences about jobs: listing, showing and changing them, and where their results go."""

import json
import shlex
from collections.abc import Mapping, Sequence

from agent_core.chats import Chat
from agent_core.localization import Plural, Text
from agent_core.schedule.descriptions import describe_late, list_ways, say_next
from agent_core.schedule.job_editor import (
    PAUSED_BY_OPERATOR,
    PAUSED_DAMAGED,
    PAUSED_IMPORTED,
    PAUSED_MOVED,
    PAUSED_ON_REQUEST,
    InvalidJob,
    InvalidJobFault,
    name_failures,
    next_slot_of,
)
from agent_core.schedule.receipts import say_timing
from agent_core.schedule.triggers import NeverOccurs, Once, is_event, load_timing
from agent_core.schedule.wall_clock import find_zone
from agent_core.state.jobs.job_runs import Run
from agent_core.state.jobs.jobs import Job, JobKind
from agent_core.tools.clock import ReaderClock
from gateway.texts import states
from gateway.texts.general import name_platform
from gateway.texts.job_results import describe_runs, shorten
from gateway.texts.people import quote_name

USAGE = Text(
    "/reminders {number} shows reminder {number}. To change it, send for example /reminders"
    " pause {number}; instead of pause, you can use resume, run, undo or delete. For"
    " anything else, just ask me."
)
_HINT = Text("Choose one to change it, or just tell me.")
NONE = Text("You have no reminders. Tell me what to do and when, and I'll make one.")
NONE_HERE = Text(
    "This group has no reminders. Tell me here what everyone should be reminded of, and when."
)
IN_GROUP = Text("in {name}")
NONE_WITH = Text("There's no reminder with “{words}” here. /reminders lists them.")
UNKNOWN = Text("There's no reminder {number} here. /reminders lists them.")
_NOT_YOURS = Text("That reminder belongs to {name}. Only they or an owner can change it.")
_NOT_YOURS_EITHER = Text(
    "That reminder belongs to someone else. Only they or an owner can change it."
)
DROP = Text("Yes, delete it")
KEEP = Text("No")
RESUME, PAUSE = Text("Resume"), Text("Pause")
RUN, DELETE, ALL = Text("Run now"), Text("Delete"), Text("All reminders")
NONE_TO_MOVE = Text("None of your reminders use that time zone. /reminders lists your reminders.")
MOVED = Plural(
    "I've moved {n} reminder to the time zone {zone}.",
    "I've moved {n} reminders to the time zone {zone}.",
)
HOME_HERE = Text(
    "I'll send reminders here, except those for another chat. /sethome off undoes this."
)
HOME_IN_GROUP = Text(
    "I'll send your reminders here, except those for another chat. Everyone here can read them,"
    " even private ones. /sethome off undoes this."
)
HOME_OFF = Text("I'll send reminders to our latest direct conversation again.")
_COME_TO = Text("Reminders come to this chat on {platform}.")
_COME_TO_LATEST = Text("Reminders come to our latest direct conversation.")
HOME_NOT_IN_GROUP = Text(
    "I won't send your reminders to a group, where everyone could read them. Use /sethome in a"
    " direct message."
)
HOME_UNKNOWN = Text(
    "You haven't written to me in that chat app yet. Send me a direct message there first."
)
HOME_USAGE = Text("/sethome sends reminders to this chat. /sethome off undoes this.")
NO_DIGESTS = Text("No reminder is planned.")

WHEN_UNREAD = Text(
    "I can't read “{words}” as a time. Write it like “tomorrow 9:00”, “in 20 minutes” or “every"
    " Monday at 19:00”."
)
_TWO_DATES = Text(
    "“{words}” may be two dates. Write “{first}” for {first_date}, or “{second}” for {second_date}."
)
HERE = Text("this chat")
_HOME = Text("your home chat, {chat}")
_THEIR_HOME = Text("their home chat, {chat}")
_LATEST = Text("our latest direct conversation")
_LATEST_NOW = Text("our latest direct conversation (now on {platform})")
_THEIR_LATEST = Text("their latest direct conversation")
_THEIR_LATEST_NOW = Text("their latest direct conversation (now on {platform})")
_NEW_ACCOUNT = Text("{platform}, as soon as we've talked there; until then {chat}")
_THEIR_NEW_ACCOUNT = Text("{platform}, as soon as they've talked to me there; until then {chat}")
_GROUP = Text("{name} on {platform}")
_THREAD = Text("{name} on {platform}, in a thread")
_UNNAMED = Text("a group")
_YOURS = Text("Your reminders:")
_OF_GROUP = Text("This group's reminders:")
_HELD = Text("Waiting for your quiet time to end:")
_HELD_UNTIL = Text("- **{title}**: waits until {moment}")
_MORE_HELD = Text("… and {count} more")
_MORE = Text("… and {count} more: /reminders from {job_id}")
_NAME = Text("**{title}**")
_NUMBERED = Text("**{title}** ({job_id})")
_LINE = Text("{job}: {timing}. {state}")
_LINE_ONCE = Text("{job}: {moment}")
_COMING = Text("- **{title}**: {moment}")
_WHEN = Text("{timing}. Next: {moments}")
_WHEN_PAUSED = Text("{timing}. {state}")
_KINDS: dict[JobKind, Text] = {
    "prompt": Text("I do this:"),
    "message": Text("I send this:"),
    "script": Text("I run this command:"),
    "system": Text("I do this to keep myself in order:"),
}
_TARGETS = Text("Sent to: {targets}")
_LAST_RUNS = Text("Last times:")
_SAMPLE = Text("I post the answer here, and the notification shows its first line. The task:")
_SAMPLE_OUTPUT = Text("The output of this command appears here:")
_NEVER_RAN = Text("This reminder hasn't come yet.")
_PAUSED = Text("{job} is paused. /reminders resume {job_id} restarts it.")
_RESUMED = Text("{job} is active again. {state}")
_BEGUN = Text("I'm working on {job} now. I'll send the result as soon as I have it.")
_SENT = Text("{job} comes now.")
_BUSY = Text("I'm already working on {job}.")
_ASK_DROP = Text("Delete {job}?")
_DROPPED = Text("I've deleted {job}. /reminders restore {job_id} brings it back.")
KEPT_SINCE = Text("I kept your later changes to it.")
_RESTORED = Text("{job} is as it was. {state}")
WAITS_UNTIL = Text("waits for your quiet time to end: {moment}")
HELD = Text("So the reminder comes after that: {moment}.")
COMES_ANYWAY = Text("The reminder comes all the same.")
ANYWAY = Text("Deliver it in quiet time, too")
NOT_HELD = Text("The reminder comes in your quiet time, too.")
WAITING_ONES = Text("Waiting for your quiet time to end")
ADDRESS_IN_DIRECT = Text(
    "Anyone who knows the address can start the reminder, so I only show it in a direct message."
)
NO_ADDRESSES = Text(
    "Web addresses need the HTTP server, which is off. An owner can set `http.port`, and"
    " `http.public_url` if a proxy forwards requests."
)
_ADDRESS = Text(
    "A POST request to this address starts {job}:\n"
    "\n"
    "`{address}`\n"
    "\n"
    "Keep it secret. I won't show it again. If you ask for an address again, you get a new"
    " one, and this one stops working."
)
_INVALID: dict[InvalidJobFault, Text] = {
    "past": Text(
        "The time of that reminder has passed. Tell me a new time, such as “tomorrow 9:00”."
    ),
    "over": Text("That time is past. Choose a later one."),
    "often": Text("I can't do this work that often. Choose a longer interval."),
    "damaged": Text(
        "That reminder is damaged in my storage, so I can't change it. Delete it, and ask me for"
        " a new one."
    ),
    "no_address": Text("That reminder doesn't wait for a web request, so it has no address."),
    "no_price": Text(
        "I don't know the price of that model, so I can't keep the reminder's daily limit in"
        " dollars. An owner can set the price."
    ),
    "no_version": Text("That reminder has not been changed, so there's nothing to undo."),
    "changed_since": Text(
        "The reminder was changed again after that, so it stays as it is. /reminders shows how"
        " to undo its last change."
    ),
    "other": Text("The reminder can't be like that, so nothing has changed. Details: “{fault}.”"),
}
_STATE_PAUSED = Text("Paused.")
_STATES_PAUSED = {
    PAUSED_ON_REQUEST: Text("Paused on request."),
    PAUSED_BY_OPERATOR: Text("Paused from the command line."),
    PAUSED_MOVED: Text("Paused, because it moved to another Talaria."),
    PAUSED_IMPORTED: Text("Paused, because it came from another Talaria."),
    PAUSED_DAMAGED: Text("Paused, because my record of it is damaged."),
}
_STATE_PAUSED_FAILED = Plural("Paused after {n} failure.", "Paused after {n} failures in a row.")
_STATE_PAUSED_UNFIT = Text("Paused, because its schedule doesn't work.")
_STATE_OVER = Text("This reminder won't come again.")
_STATE_NEXT = Text("Next: {moment}.")
_MOST_CHARACTERS = 1500
"""Discord takes 2,000 in a message, and the text around a list needs its part."""
_LONGEST_BODY = 500
_MOST_HELD = 5

LIST = Text("List")
CALENDAR = Text("Calendar")
MONTH_OF = Text("{month} {year}")
WEEK_OF = Text("Week from {date}")
MONTH, WEEK = Text("Month"), Text("Week")
COMING_WEEKS = Text("Coming weeks")
EARLIER, LATER = Text("Earlier"), Text("Later")
ABOUT_CALENDAR = Text("What came, and what is planned. Times in {zone}.")
PLANNED = Text("planned")
DAY_OF_MONTH = Text("{day} {month}")
RUNS_OF_DAY = Plural("{n} run", "{n} runs")
FAILED_OF_DAY = Plural("{n} failed", "{n} failed")
MORE_OF_DAY = Plural("and {n} more reminder", "and {n} more reminders")
MORE_ON = Plural("and {n} more reminder on {date}", "and {n} more reminders on {date}")
NO_ENTRIES = Text("Nothing happened here, and nothing is planned.")
PAUSED_ONES = Text("Paused")
WITHOUT_TIME = Text("When something happens")
ACTIONS = Text("Actions")
NEW_TIME = Text("New time")
NEW_TIME_HINT = Text("Like “tomorrow at 9”, or only “10:30” if the day stays the same.")
EXACTLY = Text("Set it exactly: days, dates, intervals, Cron")
DELETED_JOBS = Text("Deleted")
RESTORE = Text("Bring it back")
NO_JOB = Text("There is no job {number}.")
NO_KIND = Text("Give a prompt, a message or a script.")
NO_COMMAND = Text("The command is missing.")
TWO_TIMES = Text("Give only one of “when” and “{name}”.")
NAME_CHANGE = Text("Say what to change.")
KIND_STAYS = Text("The kind of job {number} can't change. Add another job instead.")
SYSTEM_NOT_DELETED = Text("Job {number} is a system job: it can be paused, but not deleted.")
SYSTEM_NOT_CHANGED = Text("Job {number} is a system job: it can be paused, but not changed.")
RUNS_ALREADY = Text("Job {number} is running already.")
NOT_CHANGED: Mapping[str, Text] = {
    "over": Text("Job {number} has ended and can't be changed."),
    "dropped": Text("Job {number} is deleted and can't be changed."),
}
"""Why a job of a state can't be changed."""
NOT_RESTORED: Mapping[str, Text] = {
    "active": Text("Job {number} is active and can't be restored."),
    "paused": Text("Job {number} is paused and can't be restored."),
    "over": Text("Job {number} has ended and can't be restored."),
}
"""Why a job of a state can't be restored."""
NO_TEXT = Text("The text is missing.")
NO_UNDO_OF_RUN = Text(
    "You can undo each change. That doesn't take back what a reminder has already sent or done."
)
CHANGE = Text("Change")
CHANGED = Text("The reminder has been changed.")
NO_CHANGE = Text("You changed nothing, so the reminder stays as it is.")
VERSIONS = Text("Earlier versions")
ABOUT_VERSIONS = Text(
    "This is how the reminder was before its last changes. Going back can be undone, too."
)
UNTIL = Text("Until")
PUT_BACK = Text("Put back")
NO_MINUTES = Text("The interval is a number of minutes, like 90.")
WHAT, WHEN = Text("What it does"), Text("When it comes")
IN_WORDS = Text("In your own words")
ASK_TO_CHANGE = Text("Write what I should change, as in the chat")
WISH = Text("Change reminder {number} (“{title}”): ")
TITLE = Text("Title")
TEXT = Text("Text")
COMMAND = Text("Command")
ONLY_BY_COMMAND_LINE = Text("Only `talaria jobs change` can change this command.")
SEND_TO = Text("Send to")
AS_NOW = Text("as now: {targets}")
HOME = Text("your home chat, or our latest direct conversation")
HINT_MODEL = Text("This model does the reminder's work. Leave the field empty for the usual model.")
URGENT = Text("Also in quiet hours and on days off")
IF_MISSED = Text("If I'm switched off at that time")
LATE: Mapping[str, Text] = {
    "catch_up": Text("it comes once, as soon as I'm back"),
    "skip": Text("it is left out, and I tell you"),
    "all": Text("each missed one comes as soon as I'm back"),
}
SCHEDULES: Mapping[str, Text] = {
    "times": Text("Times of day"),
    "every_minutes": Text("Interval"),
    "at": Text("Once"),
    "cron": Text("Cron"),
    "on": Text("Event"),
}
LABELS: Mapping[str, Text] = {
    "times": Text("Times"),
    "rule": Text("Days"),
    "skip": Text("Left out"),
    "starts": Text("From"),
    "until": Text("Until"),
    "place": Text("Place for sunrise and sunset"),
    "every_minutes": Text("Minutes from one time to the next"),
    "at": Text("Date and time"),
    "cron": Text("Cron expression"),
    "on": Text("Event that starts it"),
    "zone": Text("Time zone"),
}
HINTS: Mapping[str, Text] = {
    "times": Text(
        "Like 18:30, 09:00-17:00/90 (every 90 minutes), sunrise, sunset-30 (30 minutes before)."
    ),
    "rule": Text(
        "An RRULE such as FREQ=WEEKLY;BYDAY=MO,FR (Mondays and Fridays). Empty: every day."
    ),
    "skip": Text(
        "Like 2026-12-24, 2026-12-24/2027-01-06, holidays, or holidays:DE-BY (those of Bavaria)."
    ),
    "starts": Text("Like 2026-11-23 or 2026-11-23T08:00. Empty: at once."),
    "until": Text("The last day or time, included. Empty: no end."),
    "place": Text("Latitude and longitude, like 48.2,16.4. Empty: the place of the time zone."),
    "at": Text("Like 2026-11-23T08:00."),
    "cron": Text("Minute, hour, day, month, weekday: 0 9 * * 1-5 is 09:00 from Monday to Friday."),
    "on": Text(
        "For example, “after 12”: after reminder 12. “message invoice”: a message with that"
        " word. “feed https://…”: a new entry in a feed. “file *.pdf”: a new file. “webhook”: a"
        " call of its web address."
    ),
    "zone": Text("The reminder's time zone, like Europe/Vienna."),
}


def describe_not_yours(name: str) -> str:
    """Say whose reminder it is, and who may change it; `name` is "" for an erased person."""
    return _NOT_YOURS(name=quote_name(name)) if name else _NOT_YOURS_EITHER()


def describe_home(chat: Chat | None) -> str:
    """Say where reminders come to; None for the latest direct conversation."""
    return _COME_TO(platform=name_platform(chat.platform)) if chat else _COME_TO_LATEST()


def list_jobs(found: Sequence[Job], clock: ReaderClock, *, is_room: bool) -> str:
    """List jobs with their meaning and next time on the reader's clock, as many as fit."""
    if not found:
        return NONE_HERE() if is_room else NONE()
    lines = [(_OF_GROUP if is_room else _YOURS)(), ""]
    left = _MOST_CHARACTERS
    for number, job in enumerate(found):
        line = f"- {describe_line(job, clock)}"
        left -= len(line) + 1
        if left < 0:
            lines.append(_MORE(count=len(found) - number, job_id=job.id))
            break
        lines.append(line)
    return "\n".join([*lines, "", _HINT()])


def list_held(held: Sequence[tuple[str, int]], clock: ReaderClock) -> str:
    """List deferred messages, as (title, release time), above the jobs; "" if there are none."""
    if not held:
        return ""
    lines = [_HELD_UNTIL(title=title, moment=clock.show(at)) for title, at in held[:_MOST_HELD]]
    if len(held) > _MOST_HELD:
        lines.append(_MORE_HELD(count=len(held) - _MOST_HELD))
    return "\n".join([_HELD(), "", *lines, "", ""])


def describe_line(job: Job, clock: ReaderClock) -> str:
    """Describe one job in a line; one that comes once by its moment alone."""
    named = _NUMBERED(title=job.title, job_id=job.id)
    if job.state == "active" and job.next_slot and isinstance(load_timing(job.timing), Once):
        return _LINE_ONCE(job=named, moment=clock.show(job.next_slot[1]))
    timing, state = say_timing(job, clock), _describe_state(job, clock)
    return _LINE(job=named, timing=timing, state=state).rstrip()


def name_job(job: Job) -> str:
    """Name a job by its title, which may stand in a sentence."""
    return _NAME(title=job.title.removesuffix("."))


def list_coming(found: Sequence[Job], clock: ReaderClock) -> str:
    """List the jobs that run next, the earliest first, for a home page."""
    lines = [
        _COMING(title=job.title, moment=clock.show(job.next_slot[1]))
        for job in found
        if job.next_slot
    ]
    return "\n".join(lines) or NO_DIGESTS()


def show_job(job: Job, runs: Sequence[Run], clock: ReaderClock, targets: Sequence[str]) -> str:
    """Show a job in full: its text, schedule, targets and options, and its last runs."""
    timing, zone = load_timing(job.timing), find_zone(job.zone)
    when = _describe_when(job, clock)
    if job.state == "paused":
        state = _describe_state(job, clock)
        when = _WHEN_PAUSED(timing=say_timing(job, clock), state=state)
    elif not isinstance(timing, Once):
        moments = say_next(timing, zone, next_slot_of(job), clock)
        when = _WHEN(timing=say_timing(job, clock), moments=moments)
    body = shorten(show_body(job), _LONGEST_BODY)
    quoted = "\n".join(f"> {line}" for line in body.splitlines())
    ways = list_ways(job) if job.late == "catch_up" else describe_ways(job)
    lines = [f"- {way}" for way in (*describe_targets(targets), *ways)]
    shown = [f"- {line}" for line in describe_runs(runs, clock)]
    never = [] if job.kind == "message" else [_NEVER_RAN()]
    ran = [_LAST_RUNS(), *shown] if shown else never
    is_said = job.kind == "message" and body == job.title
    parts = [[name_job(job), when], [] if is_said else [_KINDS[job.kind](), quoted], lines, ran]
    return "\n\n".join("\n".join(part) for part in parts if part)


def _describe_when(job: Job, clock: ReaderClock) -> str:
    """Describe when a job that runs once does so."""
    if job.next_slot:
        return clock.show(job.next_slot[1])
    return say_timing(job, clock)


def describe_sample(job: Job) -> str:
    """Return a sample in place of the result of a job that has not run yet."""
    quoted = "\n".join(f"> {line}" for line in shorten(show_body(job), _LONGEST_BODY).splitlines())
    return f"{(_SAMPLE if job.kind == 'prompt' else _SAMPLE_OUTPUT)()}\n\n{quoted}"


def show_body(job: Job) -> str:
    """Show a job's text; a command as it would be typed."""
    if job.kind != "script":
        return job.body
    try:
        return shlex.join(json.loads(job.body))
    except (TypeError, ValueError):  # it is damaged
        return job.body


def describe_targets(targets: Sequence[str]) -> list[str]:
    """Describe where a job's result goes; nothing for a job without one."""
    return [_TARGETS(targets="; ".join(targets))] if targets else []


def name_home(chat: str, *, is_own: bool) -> str:
    """Name a home chat, for its person or for others."""
    return (_HOME if is_own else _THEIR_HOME)(chat=chat)


def name_latest(platform: str, *, is_own: bool) -> str:
    """Name the latest direct conversation; `platform` is "" before the first one."""
    if not platform:
        return (_LATEST if is_own else _THEIR_LATEST)()
    return (_LATEST_NOW if is_own else _THEIR_LATEST_NOW)(platform=name_platform(platform))


def name_new_account(platform: str, latest: str, *, is_own: bool) -> str:
    """Name a platform that its person has not written from yet."""
    sentence = _NEW_ACCOUNT if is_own else _THEIR_NEW_ACCOUNT
    return sentence(platform=states.name_platform(platform), chat=latest)


def name_group(title: str, platform: str, *, is_thread: bool) -> str:
    """Name a group, or a thread in it."""
    sentence = _THREAD if is_thread else _GROUP
    return sentence(name=title or _UNNAMED(), platform=name_platform(platform))


def describe_ways(job: Job) -> list[str]:
    """Describe how a job treats missed runs, and its unusual options."""
    late = [] if is_event(job.timing) else [describe_late(job)]
    return [*late, *list_ways(job)]


def describe_paused(job: Job) -> str:
    """Confirm that a job is paused."""
    return _PAUSED(job=name_job(job), job_id=job.id)


def describe_resumed(job: Job, clock: ReaderClock, *, is_undo: bool = False) -> str:
    """Confirm that a job is active again, or restored to its state before a change or deletion."""
    return (_RESTORED if is_undo else _RESUMED)(
        job=name_job(job), state=_describe_state(job, clock)
    ).rstrip()


def describe_begun(job: Job) -> str:
    """Confirm that a job runs now."""
    return (_SENT if job.kind == "message" else _BEGUN)(job=name_job(job))


def describe_busy(job: Job) -> str:
    """Say that a job is already running."""
    return _BUSY(job=name_job(job))


def ask_to_drop(job: Job) -> str:
    """Ask whether to delete a job."""
    return _ASK_DROP(job=name_job(job))


def describe_dropped(job: Job) -> str:
    """Confirm that a job was deleted."""
    return _DROPPED(job=name_job(job), job_id=job.id)


def describe_address(job: Job, address: str) -> str:
    """Show the new web address of a job."""
    return _ADDRESS(job=name_job(job), address=address)


def tell_dates(words: str, dates: Sequence[tuple[str, str]]) -> str:
    """Name both dates that words may mean, and how to write each; see `list_dates`."""
    (first, first_date), (second, second_date) = dates
    return _TWO_DATES(
        words=words, first=first, first_date=first_date, second=second, second_date=second_date
    )


def describe_invalid(error: Exception) -> str:
    """Say why a job was neither made nor changed; no error but `NeverOccurs` is for people."""
    if isinstance(error, NeverOccurs) or isinstance(error.__cause__, NeverOccurs):
        return str(error)
    return _INVALID[error.fault if isinstance(error, InvalidJob) else "other"](fault=f"{error}")


def _describe_state(job: Job, clock: ReaderClock) -> str:
    if job.state == "paused":
        return _describe_pause(job)
    if job.next_slot is None:
        return "" if is_event(job.timing) else _STATE_OVER()
    return _STATE_NEXT(moment=clock.show(job.next_slot[1]))


def _describe_pause(job: Job) -> str:
    if not job.reason:
        return _STATE_PAUSED()
    if job.reason == name_failures(job.failures):
        return _STATE_PAUSED_FAILED(job.failures)
    return _STATES_PAUSED.get(job.reason, _STATE_PAUSED_UNFIT)()
