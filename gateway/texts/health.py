"""Sentences about what owners have to repair in the running gateway, and about its end."""

from collections.abc import Callable, Mapping, Sequence

from agent_core.events import ModelFault
from agent_core.localization import Plural, Text, format_date
from agent_core.state.queues.incidents import Details, Incident
from agent_core.tools.clock import local_time
from gateway.texts import models
from gateway.texts.states import name_platform

_SEVERAL = Plural("{n} thing needs you:", "{n} things need you:")
_ALL_WELL = Text("All is well again.")

_DOWN = Text("{platform} is disconnected. I'll keep trying to connect.")
_DOWN_BECAUSE = Text("{platform} is disconnected. {detail}")
_BUDGET = Text(
    "{percent} % of today's budget of everyone together is spent, so the cheap model answers and"
    " background work waits. It is renewed on {moment}; [cost] in config.toml sets it."
)
_DISK = Text(
    "The disk has only {megabytes:,.0f} MB left. Make room, or I can soon store no messages."
)
_JOB = Text(
    "**{title}** failed. I'll try again on schedule and tell you when it works. `talaria jobs show"
    " {job_id}` shows more. Details in English: “{reason}.”"
)
_BACKUP = Text(
    "The newest backup is of {moment}. Leave me running at night, or run `talaria backup`."
)
_QUEUE = Text(
    "Messages for {platform} have waited since {moment}. `talaria logs` may show the reason."
)
_MEMORY = Text("I can't read {name}, so I use what it said before. Details in English: “{reason}.”")
_TASKS = Text("Background work has waited since {moment}. `talaria logs` may show the reason.")
_MOMENT = Text("{date}, {time}")

LOST_STORE = Text(
    "My database is gone, so I answer nobody until you put it back. Details in English: “{reason}.”"
)

_UP = Text("{platform} is connected again.")
_MODEL_ANSWERS = Text("The model {model} answers again.")
_BUDGET_RENEWED = Text("There is budget again.")
_DISK_FREE = Text("The disk has enough space again.")
_JOB_WORKS = Text("**{title}** works again.")
_BACKUP_MADE = Text("There is a new backup.")
_QUEUE_MOVES = Text("Messages for {platform} are sent again.")
_MEMORY_READ = Text("I can read {name} again.")
_TASKS_RUN = Text("Background work goes on.")

_LONGEST_REASON = 300
"""Characters of an error."""

Describe = Callable[[str, Details, str], str]
"""Describes an incident by its subject and its details, with the reader's IANA time zone."""

_ENDED: Mapping[str, Describe] = {
    "platform": lambda subject, details, zone: _UP(platform=name_platform(subject)),
    "model": lambda subject, details, zone: _MODEL_ANSWERS(model=subject),
    "budget": lambda subject, details, zone: _BUDGET_RENEWED(),
    "disk": lambda subject, details, zone: _DISK_FREE(),
    "job": lambda subject, details, zone: _JOB_WORKS(title=details["title"]),
    "backup": lambda subject, details, zone: _BACKUP_MADE(),
    "queue": lambda subject, details, zone: (
        _QUEUE_MOVES(platform=name_platform(subject)) if subject else _TASKS_RUN()
    ),
    "memory": lambda subject, details, zone: _MEMORY_READ(name=subject),
}
INCIDENTS = Text("Needs your attention")
SINCE = Text("Since")
DELAYS = Text("How long messages waited before they were sent")
NOTHING_WAITS = Text("nothing waits")
HALF_WITHIN = Text("Half of them within")
MOST_WITHIN = Text("95 % of them within")
LATE_WORK = Text("Background work waits since")


def describe_alert(
    new: Sequence[Incident], over: Sequence[Incident], *, is_all_well: bool, zone: str
) -> str:
    """Tell owners what began and what is over, in one message."""
    began = [describe_incident(one, zone) for one in new]
    lines = [_SEVERAL(len(began)), *(f"- {line}" for line in began)] if began[1:] else began
    ended = [_ENDED[one.kind](one.subject, one.details, zone) for one in over]
    if is_all_well:
        ended.append(_ALL_WELL())
    return "\n\n".join(filter(None, ("\n".join(lines), " ".join(ended))))


def describe_incident(incident: Incident, zone: str) -> str:
    """Tell what is wrong, and what to do."""
    return _BEGAN[incident.kind](incident.subject, incident.details, zone)


def _describe_moment(at: int, zone: str) -> str:
    moment = local_time(at, zone)
    return _MOMENT(date=format_date(moment), time=f"{moment:%H:%M}")


def _shorten(detail: str) -> str:
    return detail if len(detail) <= _LONGEST_REASON else f"{detail[: _LONGEST_REASON - 1]}…"


def _describe_platform(subject: str, details: Details, _: str) -> str:
    detail = _shorten(str(details["detail"]))
    if not detail:
        return _DOWN(platform=name_platform(subject))
    return _DOWN_BECAUSE(platform=name_platform(subject), detail=detail)


def _describe_model(subject: str, details: Details, _: str) -> str:
    fault = ModelFault(
        model=subject, reason=str(details["reason"]), detail=_shorten(str(details["detail"]))
    )
    return models.describe_fault(fault)


def _describe_job(_: str, details: Details, zone: str) -> str:
    reason = _shorten(str(details["reason"])).rstrip(".")
    return _JOB(title=details["title"], job_id=details["job_id"], reason=reason)


def _describe_queue(subject: str, details: Details, zone: str) -> str:
    moment = _describe_moment(int(details["since"]), zone)
    if not subject:
        return _TASKS(moment=moment)
    return _QUEUE(platform=name_platform(subject), moment=moment)


_BEGAN: Mapping[str, Describe] = {
    "platform": _describe_platform,
    "model": _describe_model,
    "budget": lambda _, details, zone: _BUDGET(
        percent=details["percent"], moment=_describe_moment(int(details["until"]), zone)
    ),
    "disk": lambda _, details, zone: _DISK(megabytes=int(details["free"]) / 1e6),
    "job": _describe_job,
    "backup": lambda _, details, zone: _BACKUP(moment=_describe_moment(int(details["made"]), zone)),
    "queue": _describe_queue,
    "memory": lambda subject, details, zone: _MEMORY(name=subject, reason=details["reason"]),
}
