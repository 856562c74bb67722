"""Sentences about what owners have to repair in the running gateway, and about its end."""

from collections.abc import Callable, Mapping, Sequence

from agent_core.events import ModelFault
from agent_core.localization import Plural, Text
from agent_core.state.queues.incidents import Details, Incident
from agent_core.tools.clock import ReaderClock
from gateway.texts import models
from gateway.texts.states import name_platform
from gateway.texts.system_jobs import name_system_job

_SEVERAL = Plural("{n} thing needs your attention:", "{n} things need your attention:")
_ALL_WELL = Text("All is well again.")

_DOWN = Text("{platform} is disconnected. I'll keep trying to connect.")
_DOWN_BECAUSE = Text("{platform} is disconnected. {detail}")
_CONCERN = Text("{platform}: {detail}")
_BUDGET = Text(
    "{percent}% of today's budget for everyone is spent. Until {moment}, the cheap model answers,"
    " and background work waits. [cost] in config.toml sets the budget."
)
_DISK = Text(
    "The disk has only {megabytes:,.0f} MB left. Make room, or I soon won't be able"
    " to store messages."
)
_JOB = Text(
    "**{title}** failed. I'll try again on schedule and tell you when it works. `talaria"
    " jobs show {job_id}` shows more. Details: “{reason}.”"
)
_BACKUP = Text(
    "The newest backup is too old: {moment}. Leave me running at night, or run `talaria backup`."
)
_QUEUE = Text(
    "Messages for {platform} have waited since {moment}. `talaria logs` may show the reason."
)
_MEMORY = Text("I can't read the file “{name}”, so I use what it said before. Details: “{reason}.”")
_TASKS = Text("Background work has waited since {moment}. `talaria logs` may show the reason.")

LOST_STORE = Text(
    "My database is gone, so I answer nobody. Put its file back, or restore a backup with"
    " `talaria restore`. Details: “{reason}.”"
)

_UP = Text("{platform} is connected again.")
_SETTLED = Text("The problem with {platform} is solved.")
_MODEL_ANSWERS = Text("The model {model} answers again.")
_BUDGET_RENEWED = Text("There is budget again.")
_DISK_FREE = Text("The disk has enough space again.")
_JOB_WORKS = Text("**{title}** works again.")
_BACKUP_MADE = Text("There is a new backup.")
_QUEUE_MOVES = Text("I can send messages to {platform} again.")
_MEMORY_READ = Text("I can read the file “{name}” again.")
_TASKS_RUN = Text("Background work is running again.")

_LONGEST_REASON = 300
"""Characters of an error."""

Describe = Callable[[str, Details, ReaderClock], str]
"""Describes an incident by its subject and its details, on the reader's clock."""

_ENDED: Mapping[str, Describe] = {
    "platform": lambda subject, details, clock: _UP(platform=name_platform(subject)),
    "concern": lambda subject, details, clock: _SETTLED(
        platform=name_platform(str(details["platform"]))
    ),
    "model": lambda subject, details, clock: _MODEL_ANSWERS(model=subject),
    "budget": lambda subject, details, clock: _BUDGET_RENEWED(),
    "disk": lambda subject, details, clock: _DISK_FREE(),
    "job": lambda subject, details, clock: _JOB_WORKS(
        title=name_system_job(subject, str(details["title"]))
    ),
    "backup": lambda subject, details, clock: _BACKUP_MADE(),
    "queue": lambda subject, details, clock: (
        _QUEUE_MOVES(platform=name_platform(subject)) if subject else _TASKS_RUN()
    ),
    "memory": lambda subject, details, clock: _MEMORY_READ(name=subject),
}
INCIDENTS = Text("Needs your attention")
SINCE = Text("Since")
DELAYS = Text("How long messages waited before they were sent")
NOTHING_WAITS = Text("nothing waits")
HALF_WITHIN = Text("Half of them within")
MOST_WITHIN = Text("95% of them within")
LATE_WORK = Text("Background work has waited since")


def describe_alert(
    new: Sequence[Incident], over: Sequence[Incident], *, is_all_well: bool, clock: ReaderClock
) -> str:
    """Tell owners what began and what is over, in one message."""
    began = [describe_incident(one, clock) for one in new]
    lines = [_SEVERAL(len(began)), *(f"- {line}" for line in began)] if began[1:] else began
    ended = [_ENDED[one.kind](one.subject, one.details, clock) for one in over]
    if is_all_well:
        ended.append(_ALL_WELL())
    return "\n\n".join(filter(None, ("\n".join(lines), " ".join(ended))))


def describe_incident(incident: Incident, clock: ReaderClock) -> str:
    """Tell what is wrong, and what to do."""
    return _BEGAN[incident.kind](incident.subject, incident.details, clock)


def _shorten(detail: str) -> str:
    return detail if len(detail) <= _LONGEST_REASON else f"{detail[: _LONGEST_REASON - 1]}…"


def _describe_platform(subject: str, details: Details, _: ReaderClock) -> str:
    detail = _shorten(str(details["detail"]))
    if not detail:
        return _DOWN(platform=name_platform(subject))
    return _DOWN_BECAUSE(platform=name_platform(subject), detail=detail)


def _describe_model(subject: str, details: Details, _: ReaderClock) -> str:
    fault = ModelFault(
        model=subject, reason=str(details["reason"]), detail=_shorten(str(details["detail"]))
    )
    return models.describe_fault(fault)


def _describe_job(subject: str, details: Details, clock: ReaderClock) -> str:
    reason = _shorten(str(details["reason"]))
    title = name_system_job(subject, str(details["title"]))
    return _JOB(title=title, job_id=details["job_id"], reason=reason)


def _describe_queue(subject: str, details: Details, clock: ReaderClock) -> str:
    moment = clock.show(int(details["since"]))
    if not subject:
        return _TASKS(moment=moment)
    return _QUEUE(platform=name_platform(subject), moment=moment)


_BEGAN: Mapping[str, Describe] = {
    "platform": _describe_platform,
    "concern": lambda _, details, clock: _CONCERN(
        platform=name_platform(str(details["platform"])), detail=details["detail"]
    ),
    "model": _describe_model,
    "budget": lambda _, details, clock: _BUDGET(
        percent=details["percent"], moment=clock.show(int(details["until"]))
    ),
    "disk": lambda _, details, clock: _DISK(megabytes=int(details["free"]) / 1e6),
    "job": _describe_job,
    "backup": lambda _, details, clock: _BACKUP(moment=clock.show(int(details["made"]))),
    "queue": _describe_queue,
    "memory": lambda subject, details, clock: _MEMORY(name=subject, reason=details["reason"]),
}
