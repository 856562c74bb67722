"""The tables `[[tools.rules]]`, `[[tools.limits]]` and `[[tools.backends]]`: read and checked."""

from collections.abc import Mapping
from typing import Annotated, Literal, get_args

from pydantic import BeforeValidator, Field

from agent_core.tools.policy.verdicts import Rule
from agent_core.tools.selection.call_rules import Caller, CallRule
from gateway.app.setting_types import check_account

_KEYS = ("effect", "tool", "pattern", "person")
_EFFECTS = ("allow", "ask", "deny")
_EXPECTED = (
    'tables [[tools.rules]], each with effect = "allow", "ask" or "deny", and with tool, pattern'
    " or person"
)


def _read_rules(value: object) -> tuple[Rule, ...]:
    """Read all rules. Raises `ValueError` with the expected form and the wrong rule's number."""
    if not isinstance(value, list | tuple):
        raise ValueError(_EXPECTED)
    return tuple(_read_rule(row, number) for number, row in enumerate(value, start=1))


def _read_rule(row: object, number: int) -> Rule:
    if isinstance(row, Rule):
        return row
    if isinstance(row, str):  # from a variable: effect, tool and pattern
        row = dict(zip(_KEYS[:3], row.split(maxsplit=2), strict=False))
    if not isinstance(row, Mapping):
        raise ValueError(_EXPECTED)
    fields = dict(row)
    for key, text in fields.items():
        if key not in _KEYS:
            raise ValueError(f"{_EXPECTED}; rule {number} has the unknown key {key}")
        if not isinstance(text, str) or not text or "\0" in text:
            raise ValueError(f"{_EXPECTED}; in rule {number}, {key} is no text")
    fields["effect"] = fields.get("effect", "").lower()
    if fields["effect"] not in _EFFECTS:
        raise ValueError(f"{_EXPECTED}; rule {number} has no such effect")
    if len(fields) == 1:
        raise ValueError(f"{_EXPECTED}; rule {number} would be about everything")
    try:
        check_account(fields.get("person", "*"))
    except ValueError as error:
        raise ValueError(f"{_EXPECTED}; in rule {number}, person must be {error}") from error
    return Rule(**fields)


ToolRules = Annotated[
    tuple[Rule, ...],
    BeforeValidator(_read_rules),
    Field(json_schema_extra={"allowed": "tables"}),
]

_MOST_CALLS = 1000
_LIMIT_KEYS = ("tool", "callers", "most_per_turn", "must_run_first", "ends_turn")
_LIMIT_EXPECTED = (
    "tables [[tools.limits]], each with tool, and with callers, most_per_turn, must_run_first or"
    " ends_turn"
)


def _read_limits(value: object) -> tuple[tuple[str, CallRule], ...]:
    """Read all limits. Raises `ValueError` with the expected form and the number of the wrong
    limit.
    """
    if not isinstance(value, list | tuple):
        raise ValueError(_LIMIT_EXPECTED)
    limits = tuple(_read_limit(row, number) for number, row in enumerate(value, start=1))
    names = [name for name, _ in limits]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise ValueError(f"{_LIMIT_EXPECTED}; two of them are about {twice}")
    return limits


def _read_limit(row: object, number: int) -> tuple[str, CallRule]:
    if isinstance(row, tuple):  # already validated
        name, rule = row
        return name, rule if isinstance(rule, CallRule) else CallRule(**rule)
    if isinstance(row, str):  # from a variable: tool and number
        name, _, most = row.partition(" ")
        row = {"tool": name, "most_per_turn": int(most) if most.isdigit() else most}
    if not isinstance(row, Mapping):
        raise ValueError(_LIMIT_EXPECTED)
    fields = dict(row)
    where = f"{_LIMIT_EXPECTED}; in limit {number},"
    if unknown := next((key for key in fields if key not in _LIMIT_KEYS), ""):
        raise ValueError(f"{where} the key {unknown} is not known")
    name, callers = fields.pop("tool", ""), fields.get("callers", ())
    if not isinstance(name, str) or not name:
        raise ValueError(f"{where} tool is missing")
    if not isinstance(callers, list | tuple) or not set(callers) <= set(get_args(Caller)):
        raise ValueError(f"{where} callers must be some of {', '.join(get_args(Caller))}")
    most = fields.get("most_per_turn", 0)
    if not isinstance(most, int) or isinstance(most, bool) or not 0 <= most <= _MOST_CALLS:
        raise ValueError(f"{where} most_per_turn must be a number up to {_MOST_CALLS}")
    for key in ("must_run_first", "ends_turn"):
        if not isinstance(fields.get(key, False), bool):
            raise ValueError(f"{where} {key} must be true or false")
    if not fields:
        raise ValueError(f"{where} nothing is limited")
    return name, CallRule(**{**fields, "callers": tuple(callers)})


ToolLimits = Annotated[
    tuple[tuple[str, CallRule], ...],
    BeforeValidator(_read_limits),
    Field(json_schema_extra={"allowed": "tables"}),
]

BackendName = Literal["local", "docker", "ssh", "daytona", "modal", "unsandboxed"]
_BACKENDS = get_args(BackendName)
_BACKEND_KEYS = ("person", "backend")
_PURPOSES = ("job", "skill")
_BACKENDS_EXPECTED = (
    "tables [[tools.backends]], each with person (a folder name of `talaria people list`), job (a"
    " title) or skill (a name), and with"
    f" backend, one of {', '.join(_BACKENDS)}"
)


def _read_backends(value: object) -> tuple[tuple[str, str], ...]:
    """Read the backends of single people, jobs (`job:TITLE`) and skills (`skill:NAME`).

    Raises `ValueError` with the mistake.
    """
    if not isinstance(value, list | tuple):
        raise ValueError(_BACKENDS_EXPECTED)
    found = tuple(_read_backend(row, number) for number, row in enumerate(value, start=1))
    people = [person for person, _ in found]
    if twice := next((person for person in people if people.count(person) > 1), ""):
        raise ValueError(f"{_BACKENDS_EXPECTED}; two of them are about {twice}")
    return found


def _read_backend(row: object, number: int) -> tuple[str, str]:
    if isinstance(row, str):  # from a variable: person and backend
        row = row.rsplit(maxsplit=1)
    if isinstance(row, list | tuple):
        row = dict(zip(_BACKEND_KEYS, row, strict=False))
    where = f"{_BACKENDS_EXPECTED}; in table {number},"
    if not isinstance(row, Mapping):
        raise ValueError(_BACKENDS_EXPECTED)
    if unknown := next((key for key in row if key not in (*_BACKEND_KEYS, *_PURPOSES)), ""):
        raise ValueError(f"{where} the key {unknown} is not known")
    given = [key for key in ("person", *_PURPOSES) if key in row]
    if len(given) != 1:
        raise ValueError(f"{where} exactly one of person, job and skill is needed")
    name, backend = row[given[0]], str(row.get("backend", "")).lower()
    if not isinstance(name, str) or not name:
        raise ValueError(f"{where} {given[0]} is empty")
    if backend not in _BACKENDS:
        raise ValueError(f"{where} there is no backend {backend}")
    return name if given[0] == "person" else f"{given[0]}:{name}", str(backend)


PersonBackends = Annotated[
    tuple[tuple[str, str], ...],
    BeforeValidator(_read_backends),
    Field(json_schema_extra={"allowed": "tables"}),
]
