"""The tools for reminders and jobs, as the model reads them."""

import json
from collections.abc import Mapping, Sequence

from agent_core.schedule.job_fields import make_properties
from agent_core.tools.arguments import compile_schema, read_arguments
from agent_core.tools.schemas import make_object, make_schema
from agent_core.transcript import ToolSpec

ACTIONS = ("list", "change", "pause", "resume", "run_now", "delete")
_SAID = (
    "In English words, as people say it: `tomorrow at 9:00`, `in 20 minutes`, `friday at 15:30`,"
    " `24 december at 18:00`, `every monday at 19:00`, `every weekday at 8:15`, `every 2 hours`,"
    " `every other friday at 9:00`,"
    " `on the 1st of every month at 10:00`. Exact forms: `2026-11-23T08:00`; cron `0 8 * * 1-5`;"
    " times with an RRULE, `09:00-17:00/90 FREQ=WEEKLY;BYDAY=MO` (every 90 minutes) or"
    " `sunset-30 FREQ=DAILY` (half an hour before)."
)
_EVENTS = (
    " Or after an event: `after job 3`, `message invoice` (the person writes that word),"
    " `feed https://…`, `file *.pdf`, `webhook`."
)

_OTHER = (
    'only what they ask for, such as {"count": 5}. `count`: times in all; `starts`: first day;'
    " `skip`: a list of days to leave out, each `2026-12-24`, `2026-12-24/2027-01-06`, `holidays`,"
    " `holidays:DE-BY` or `calendar URL`; `title`: two words; `urgent`: true to send it in quiet"
    " hours, too, as for waking; `zone`: the clock of another place, `Asia/Tokyo`; `place`: of the"
    " sun, `48.2,16.4`; `late`: if its time passed while you were off, `catch_up` sends it once,"
    " `all` each time, `skip` never"
)
_OTHER_JOB = (
    "only what they ask for: as in `remind`; `aware`: true to see its earlier results; `model`:"
    " another model's name; `day_usd`: most dollars a day; `pause_after`: failures in a row after"
    " which it pauses"
)


def _make_schema(required: Sequence[str], /, **properties: object) -> str:
    """Return the schema of a tool that also takes the fields of `other` outside of it."""
    schema = make_object(required, **properties)
    del schema["additionalProperties"]
    return json.dumps(schema, ensure_ascii=False, separators=(",", ":"))


def _make_other(description: str) -> dict[str, object]:
    return {"type": "object", "description": description}


REMIND = ToolSpec(
    name="remind",
    description=(
        "Set a new reminder: `text` is sent to this person as it stands, once or repeatedly."
        ' "Remind me every tuesday at 7 pm to put out the bins" is {"text": "Put out the bins.",'
        ' "when": "every tuesday at 19:00"}. Only for words that you know now: what you have to'
        " look up or do at that time is `schedule_job`. Not to delete, move or list reminders"
        " (`manage_jobs`). A part of the day is a time; without any day or time, ask when."
    ),
    schema=_make_schema(
        ("text", "when"),
        text={"type": "string", "description": "what to say then, in the person's language"},
        when={"type": "string", "description": _SAID},
        **make_properties("remind"),
        other=_make_other(_OTHER),
    ),
)
SCHEDULE_JOB = ToolSpec(
    name="schedule_job",
    description=(
        "Plan work of yours for later, once or repeatedly: you get `text` at that time, with your"
        ' tools, and your answer is sent. For "tell me the weather every morning", "check this page'
        ' in 20 minutes". Not for a fixed text (`remind`), and not for work to do now. Example:'
        ' {"text": "Sum up what is new on solar power.", "when": "every weekday at 8:00"}'
    ),
    schema=_make_schema(
        ("text", "when"),
        text={
            "type": "string",
            "description": "the whole task, with each name and address: you will see nothing of"
            " this conversation",
        },
        when={
            "type": "string",
            "description": f"As in `remind`: `in 20 minutes`, `every day at 8:00`.{_EVENTS}",
        },
        **make_properties("schedule_job"),
        other=_make_other(_OTHER_JOB),
    ),
)
MANAGE_JOBS = ToolSpec(
    name="manage_jobs",
    description=(
        "List, change, pause, resume, run now or delete this person's reminders and jobs. Use"
        ' `list` for "which reminders do I have?" and "when is …?". "Cancel the dentist reminder"'
        ' is {"action": "delete", "job": "dentist"}; "move it to friday at 10" is {"action":'
        ' "change", "job": "dentist", "when": "friday at 10:00"}. "Stop" means `delete`, "for now"'
        " means `pause`. Not to set a new one (`remind`)."
    ),
    schema=_make_schema(
        ("action",),
        action={"enum": list(ACTIONS)},
        job={
            "type": ["integer", "string"],
            "description": "all but list: its number, or a telling word of its title or text",
        },
        text={"type": "string", "description": "change: the new text"},
        when={
            "type": "string",
            "description": "change: the new time, `friday at 10:00`; `at 17:30` alone keeps the"
            " days",
        },
        other=_make_other("change: any other field of `remind` or `schedule_job`"),
    ),
)
JOB_TOOLS = (REMIND, SCHEDULE_JOB, MANAGE_JOBS)
_check_other = compile_schema(make_schema((), **make_properties("other")))


_NAMED = ("action", "job", "text", "when", "other")


def read_others(arguments: Mapping[str, object]) -> dict[str, object]:
    """Check the further fields of a call, within `other` or beside it.

    Raises `ToolArgumentError`.
    """
    beside = {name: value for name, value in arguments.items() if name not in _NAMED}
    other = arguments.get("other") or {}
    inside = other if isinstance(other, dict) else {}
    return read_arguments(json.dumps({**inside, **beside}), _check_other)
