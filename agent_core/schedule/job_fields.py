"""The fields of a job that people and the model set, each declared once.

The schemas of the tools for jobs, the options of `talaria jobs`, the body of the API's requests and
the requests of operations follow from `JobFields`. So do the stored options of a job's runs, except
for their types in `Options`, and the lines that describe them. Quick to import, for the command
line.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from agent_core.errors import ToolArgumentError
from agent_core.localization import Plural, Text
from agent_core.money import count_micro_dollars, show_dollars
from agent_core.schedule.gates import describe_gate, read_gate
from agent_core.schedule.triggers import read_cron, read_event, read_once
from agent_core.schedule.wall_clock import find_zone
from agent_core.state.jobs.missed_slots import Late

HERE, HOME = "here", "home"
_MOST_NAMES = 20
_LONGEST_NAME = 200
LONGEST_TEXT = 20_000
"""Most characters of a request; a stored text is shorter."""
_MOST_DAY_USD = 1000
_MOST_FAILURES = 100
_AWARE = Text("I remember my earlier answers to this reminder")
_MODEL, _TOOLS, _SKILLS = Text("Model: {names}"), Text("Tools: {names}"), Text("Skills: {names}")
_DAY_LIMIT = Text("This reminder may cost at most {amount} a day")
_PAUSE_AFTER = Plural(
    "I pause this reminder after {n} failure", "I pause this reminder after {n} failures in a row"
)
_SHORT: Mapping[str, object] = {"min_length": 1, "max_length": 200}


JobTool = Literal["remind", "schedule_job", "other"]
"""A schema: that of a tool, or of its `other` with the fields that few calls need."""
_BOTH: Sequence[JobTool] = ("remind", "schedule_job", "other")
_JOBS: Sequence[JobTool] = ("schedule_job", "other")
_OTHER: Sequence[JobTool] = ("other",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """The option of the command line that sets a field."""

    help: str
    metavar: str | None = None
    name: str = ""
    """The name, if it is not the field's."""
    check: Callable[[str], object] | None = None
    """Raises `ValueError` for a text that can't be read."""
    is_repeated: bool = False
    """A list is given one by one, and not comma-separated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOption:
    """The attribute of a job's `Options` that stores a field."""

    name: str
    read: Callable[[Any], object]
    """Returns the stored value. Raises `ToolArgumentError` with a sentence for the model."""
    show: Callable[[Any], str]
    """Describes a stored value that differs from the default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """Says how tools offer a field: the schemas that have it, and their words beside its type.

    `whole` is the whole schema, if that says more.
    """

    schemas: Sequence[JobTool] = ()
    says: str = ""
    whole: Mapping[str, object] | None = None


_NO_OFFER = Offer()


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldDeclaration:
    """Declares a field: which interfaces offer it, and which option of a job stores it."""

    name: str
    type: Any
    """The type of a value that is given."""
    offer: Offer
    """How the tools offer it."""
    flag: Flag | None
    api: Mapping[str, object] | None
    """The limits of its values in the API; None if the API does not offer it."""
    option: RunOption | None
    goes_with: Sequence[str]
    """The timings that it limits; () for a field that limits none."""


def declare(
    offer: Offer = _NO_OFFER,
    *,
    flag: Flag | None = None,
    api: Mapping[str, object] | None = None,
    option: RunOption | None = None,
    goes_with: Sequence[str] = (),
    refusal: str = "",
) -> Any:
    """Declare a field; see `FieldDeclaration`.

    `refusal` is the sentence for a value of a wrong type.
    """
    declared = {
        "offer": offer,
        "flag": flag,
        "api": api,
        "option": option,
        "goes_with": goes_with,
    }
    return field(default=None, metadata={"declared": declared, "refusal": refusal})


def _read_names(what: str) -> Callable[[Sequence[str]], tuple[str, ...]]:
    """Return a reader of unique names. It raises `ToolArgumentError`."""

    def read(given: Sequence[str]) -> tuple[str, ...]:
        names = tuple(dict.fromkeys(name.strip() for name in given if name.strip()))
        if len(names) > _MOST_NAMES or any(len(name) > _LONGEST_NAME for name in names):
            raise ToolArgumentError(f"`{what}` takes at most {_MOST_NAMES} names")
        return names

    return read


def _read_gate(text: str) -> str:
    """Check a gate, and return it; "" means no gate. Raises `ToolArgumentError`."""
    try:
        if text.strip():
            read_gate(text.strip())
    except ValueError as error:
        raise ToolArgumentError(str(error)) from error
    return " ".join(text.split())


def _read_day_limit(dollars: float) -> int:
    """Return millionths of a dollar; 0 is no limit. Raises `ToolArgumentError`."""
    if not 0 <= dollars <= _MOST_DAY_USD:
        raise ToolArgumentError(f"`day_usd` is at most {_MOST_DAY_USD}, or 0 for no limit")
    try:
        return count_micro_dollars(dollars)
    except ValueError as error:
        raise ToolArgumentError(f"in `day_usd`, {error}") from error


def _read_pause(failures: int) -> int:
    if not 1 <= failures <= _MOST_FAILURES:
        raise ToolArgumentError(f"`pause_after` is from 1 to {_MOST_FAILURES}")
    return failures


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFields:
    """The given fields of a job; None keeps the present value, or selects the default.

    An empty text or list selects the default of an option; so does 0 for `day_usd`. The order is
    that of the tool's schema and of the lines that describe a job.
    """

    kind: Literal["message", "prompt", "script"] | None = declare(
        Offer(schemas=_OTHER, whole={"enum": ["message", "prompt"]}),
        refusal="Give a prompt, a message or a script.",
    )
    title: str | None = declare(
        Offer(schemas=_JOBS, says="two or three words for lists"),
        flag=Flag(metavar="TEXT", help="its title; the first words by default"),
        api=_SHORT,
    )
    text: str | None = declare(api={"min_length": 1, "max_length": LONGEST_TEXT})
    times: tuple[str, ...] | None = declare(
        flag=Flag(
            metavar="TIMES",
            help="comma-separated: 18:30, 09:00-17:00/90 (every 90 minutes), sunrise, sunset-30",
        ),
    )
    rule: str | None = declare(
        flag=Flag(metavar="RRULE", help="days of --times; FREQ=DAILY is the default"),
        goes_with=("times",),
    )
    skip: tuple[str, ...] | None = declare(
        Offer(schemas=_OTHER),
        flag=Flag(
            metavar="DAYS",
            is_repeated=True,
            help='days left out of --times: "2026-12-24", "2026-12-24/2027-01-06", "holidays",'
            ' "holidays:DE-BY" or "calendar URL-OR-FILE"; repeatable',
        ),
        goes_with=("times",),
    )
    starts: str | None = declare(
        Offer(schemas=_OTHER),
        flag=Flag(metavar="LOCAL", help="first day or time"),
        goes_with=("times", "every_minutes"),
    )
    until: str | None = declare(
        Offer(schemas=_BOTH, says="last day or time, only if the person names one: 2026-12-31"),
        flag=Flag(metavar="LOCAL", help="last day or time"),
        goes_with=("times", "every_minutes"),
    )
    count: int | None = declare(
        Offer(schemas=_OTHER),
        flag=Flag(metavar="N", help="number of times"),
        goes_with=("times", "every_minutes"),
    )
    place: str | None = declare(
        Offer(schemas=_OTHER),
        flag=Flag(metavar="LAT,LON", help="where the sun rises and sets"),
        goes_with=("times",),
    )
    cron: str | None = declare(
        flag=Flag(metavar="EXPR", help="five fields", check=read_cron), api=_SHORT
    )
    every_minutes: int | None = declare(
        flag=Flag(name="every", metavar="MIN", help="minutes between two runs"),
        api={"ge": 1, "le": 1_000_000},
    )
    at: str | None = declare(
        flag=Flag(metavar="LOCAL", help="once, like 2026-11-23T08:00", check=read_once), api=_SHORT
    )
    in_minutes: int | None = declare()
    on: str | None = declare(
        flag=Flag(
            metavar="EVENT",
            check=read_event,
            help='"after JOB", "after JOB failed", "message WORDS", "feed URL", "file *.pdf" or'
            ' "webhook"',
        ),
    )
    zone: str | None = declare(
        Offer(schemas=_OTHER),
        flag=Flag(metavar="ZONE", help="IANA name", check=find_zone),
        api=_SHORT,
    )
    to: tuple[str, ...] | None = declare(
        Offer(
            schemas=_BOTH,
            whole={
                "type": "array",
                "items": {"type": "string"},
                "description": "where to send it: `here`, this chat, as usual, `home`, or a chat"
                " app of theirs by its name in lower case",
            },
        ),
        flag=Flag(is_repeated=True, help="home (the default) or a platform of theirs; repeatable"),
    )
    late: Late | None = declare(  # noqa: RUF009 - it makes a dataclass field
        Offer(schemas=_OTHER),
        flag=Flag(help="what to do with missed times"),
        api={},
        refusal=f"The rule for missed times is one of {', '.join(get_args(Late))}.",
    )
    urgent: bool | None = declare(
        Offer(schemas=_OTHER),
        flag=Flag(help="deliver in quiet hours, too"),
        api={},
    )
    gate: str | None = declare(
        Offer(
            schemas=_JOBS,
            says="run only if a check passes, like `page URL contains WORDS`; `?` lists all checks",
        ),
        flag=Flag(
            metavar="CHECK",
            help='run only if "feed URL" has news, "page URL" changed, "script COMMAND" returns 0'
            " and so on; see the documentation",
        ),
        option=RunOption(name="gate", read=_read_gate, show=describe_gate),
    )
    aware: bool | None = declare(
        Offer(schemas=_OTHER),
        flag=Flag(help="let a run see earlier runs"),
        option=RunOption(name="is_aware", read=bool, show=lambda _: _AWARE()),
    )
    model: str | None = declare(
        Offer(schemas=_OTHER),
        flag=Flag(metavar="NAME", help='model to use; "" is the default'),
        api={"max_length": 200},
        option=RunOption(name="model", read=str.strip, show=lambda model: _MODEL(names=model)),
    )
    tools: tuple[str, ...] | None = declare(
        Offer(schemas=_JOBS, says="the only tools it may use; all without it"),
        flag=Flag(metavar="NAMES", help='tools it may use, comma-separated; "" means all'),
        option=RunOption(
            name="tools",
            read=_read_names("tools"),
            show=lambda names: _TOOLS(names=", ".join(names)),
        ),
    )
    skills: tuple[str, ...] | None = declare(
        Offer(
            schemas=_JOBS,
            says="skills to follow; for `digest`, `text` holds the addresses of its sources",
        ),
        flag=Flag(metavar="NAMES", help='skills to follow, comma-separated; "" means none'),
        option=RunOption(
            name="skills",
            read=_read_names("skills"),
            show=lambda names: _SKILLS(names=", ".join(names)),
        ),
    )
    day_usd: float | None = declare(
        Offer(schemas=_OTHER),
        flag=Flag(metavar="USD", help="daily limit in dollars; 0 means no limit"),
        option=RunOption(
            name="day_micro_dollars",
            read=_read_day_limit,
            show=lambda micro: _DAY_LIMIT(amount=show_dollars(micro)),
        ),
    )
    pause_after: int | None = declare(
        Offer(schemas=_OTHER),
        flag=Flag(metavar="N", help="pause it after so many failures in a row"),
        option=RunOption(name="pause_after", read=_read_pause, show=_PAUSE_AFTER),
    )


def _list_declarations() -> tuple[FieldDeclaration, ...]:
    hints = get_type_hints(JobFields)
    return tuple(
        FieldDeclaration(
            name=one.name, type=_strip_none(hints[one.name]), **one.metadata["declared"]
        )
        for one in fields(JobFields)
    )


def _strip_none(kind: Any) -> Any:
    """Return the type of a value that is not None."""
    if not isinstance(kind, UnionType) and NoneType not in get_args(kind):
        return kind
    (value,) = (one for one in get_args(kind) if one is not NoneType)
    return value


DECLARATIONS = _list_declarations()
"""The declarations of `JobFields`, in its order."""
_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}


def make_properties(tool: JobTool) -> dict[str, object]:
    """Return the properties of the fields that a tool's schema has from here."""
    return {one.name: _make_schema(one) for one in DECLARATIONS if tool in one.offer.schemas}


def _make_schema(declared: FieldDeclaration) -> Mapping[str, object]:
    if declared.offer.whole:
        return declared.offer.whole
    description = {"description": declared.offer.says} if declared.offer.says else {}
    if get_origin(declared.type) is Literal:
        return {"enum": list(get_args(declared.type)), **description}
    if get_origin(declared.type) is tuple:
        return {"type": "array", "items": {"type": "string"}, **description}
    return {"type": _TYPES[declared.type], **description}


def read_fields(arguments: Mapping[str, object]) -> JobFields:
    """Return the fields of a call, whose arguments fit the schema."""
    values: dict[str, Any] = {
        one.name: _read_value(one, arguments.get(one.name)) for one in DECLARATIONS
    }
    return JobFields(**values)


def _read_value(declared: FieldDeclaration, given: object) -> object:
    if isinstance(given, list):
        return tuple(given)
    # For a JSON schema, 5.0 is an integer, too; a stored job must hold 5.
    return int(given) if declared.type is int and isinstance(given, float) else given
