"""The tables `[[tools.rules]]`, `limits`, `backends` and `named_backends`: read and checked."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, get_args

from pydantic import BeforeValidator, Field

from adapters.toolkit.table import Text, in_any_case, shown_as
from agent_core.tools.policy.verdicts import Rule
from agent_core.tools.selection.call_rules import CallRule
from agent_core.tools.selection.rule_check import RULE_KEYS, check_rules, check_together, read_rule
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

_LIMIT_KEYS = (*RULE_KEYS, "person", "agent")
_LIMIT_EXPECTED = (
    "tables [[tools.limits]], each with tool, and with callers, most_per_turn, must_run_first,"
    " then_only, only_after, must_run_before_end or ends_turn"
)


def _read_limits(value: object) -> tuple[CallRule, ...]:
    """Read all limits. Raises `ValueError` with the expected form and the number of the wrong
    limit.
    """
    if not isinstance(value, list | tuple):
        raise ValueError(_LIMIT_EXPECTED)
    limits = tuple(_read_limit(row, number) for number, row in enumerate(value, start=1))
    try:
        _check_scopes(limits)
    except ValueError as error:
        raise ValueError(f"{_LIMIT_EXPECTED}; {error}") from error
    return limits


def _read_limit(row: object, number: int) -> CallRule:
    if isinstance(row, CallRule):  # already validated
        return row
    if isinstance(row, str):  # from a variable: tool and number
        name, _, most = row.partition(" ")
        row = {"tool": name, "most_per_turn": int(most) if most.isdigit() else most}
    if not isinstance(row, Mapping):
        raise ValueError(_LIMIT_EXPECTED)
    try:
        return read_rule(row, _LIMIT_KEYS)
    except ValueError as error:
        raise ValueError(f"{_LIMIT_EXPECTED}; in limit {number}, {error}") from error


def _check_scopes(limits: Sequence[CallRule]) -> None:
    """Raise `ValueError` if the rules of one scope, with those of all, can't hold together."""
    scopes = {(rule.person, rule.agent) for rule in limits} | {("", "")}
    for person, agent in sorted(scopes):
        own = [rule for rule in limits if (rule.person, rule.agent) == (person, agent)]
        check_rules(own, (), lambda name: True)
        check_together([rule for rule in limits if rule.holds_for(person, agent)])


ToolLimits = Annotated[
    tuple[CallRule, ...],
    BeforeValidator(_read_limits),
    Field(json_schema_extra={"allowed": "tables"}),
]

BackendName = Literal["local", "docker", "ssh", "daytona", "modal", "unsandboxed"]
_BACKENDS: tuple[BackendName, ...] = get_args(BackendName)
BackendChoice = Annotated[
    Text,
    in_any_case(*_BACKENDS),
    shown_as(", ".join(f'`"{one}"`' for one in ("", *_BACKENDS)) + ", or a name"),
]
_BACKEND_KEYS = ("person", "backend")
_PURPOSES = ("job", "skill")
_BACKENDS_EXPECTED = (
    "tables [[tools.backends]], each with person (a folder name of `talaria people list`), job (a"
    " title) or skill (a name), and with"
    f" backend, one of {', '.join(_BACKENDS)} or a name of [[tools.named_backends]]"
)
_MOST_USD = 10_000
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}")


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
    if not _NAME.fullmatch(backend):
        raise ValueError(f"{where} there is no backend {backend}")
    return name if given[0] == "person" else f"{given[0]}:{name}", str(backend)


PersonBackends = Annotated[
    tuple[tuple[str, str], ...],
    BeforeValidator(_read_backends),
    Field(json_schema_extra={"allowed": "tables"}),
]

_NAMED_EXPECTED = (
    "tables [[tools.named_backends]], each with name (small letters, digits, - and _), kind (one of"
    f" {', '.join(_BACKENDS)}), and what differs from [tools], such as image or memory_mb"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedBackend:
    """A backend of the owner's: its kind, and the settings that differ from those of `[tools]`.

    `options` are pairs of a name and a value as they are written. `usd_per_hour` is what an hour of
    one sandbox costs; None if nobody says. `people` are those whose skills may name it.
    """

    name: str
    kind: BackendName
    options: tuple[tuple[str, object], ...] = ()
    usd_per_hour: float | None = None
    people: tuple[str, ...] = ()


def _read_named_backends(value: object) -> tuple[NamedBackend, ...]:
    """Read the backends that have names. Raises `ValueError` with the mistake."""
    if not isinstance(value, list | tuple):
        raise ValueError(_NAMED_EXPECTED)
    found = tuple(_read_named_backend(row, number) for number, row in enumerate(value, start=1))
    names = [one.name for one in found]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise ValueError(f"{_NAMED_EXPECTED}; two of them are named {twice}")
    return found


def _read_named_backend(row: object, number: int) -> NamedBackend:
    if isinstance(row, NamedBackend):
        return row
    if isinstance(row, str):  # from a variable: name, kind, and KEY=VALUE
        name, kind, *rest = [*row.split(), "", ""][: max(2, len(row.split()))]
        row = {"name": name, "kind": kind, **dict(one.partition("=")[::2] for one in rest)}
    where = f"{_NAMED_EXPECTED}; in table {number},"
    if not isinstance(row, Mapping):
        raise ValueError(_NAMED_EXPECTED)
    fields = dict(row)
    name, given = fields.pop("name", ""), str(fields.pop("kind", "")).lower()
    known = next((one for one in _BACKENDS if one == given), None)
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(f"{where} name is missing or has other characters")
    if name in _BACKENDS:
        raise ValueError(f"{where} {name} is a kind; choose another name")
    if known is None:
        raise ValueError(f"{where} there is no kind {given or 'given'}")
    price = fields.pop("usd_per_hour", None)
    try:
        price = None if price is None else float(price)
    except (TypeError, ValueError):
        price = -1.0
    if price is not None and not 0 <= price <= _MOST_USD:
        raise ValueError(f"{where} usd_per_hour must be a number from 0 to {_MOST_USD}")
    people = fields.pop("people", ())
    people = (people,) if isinstance(people, str) else people
    if not isinstance(people, list | tuple) or not all(isinstance(one, str) for one in people):
        raise ValueError(f"{where} people must be a list of folder names, or of *")
    options = fields.pop("options", None)
    if isinstance(options, tuple):  # as this module has read them before
        fields.update(options)
    elif options is not None:
        raise ValueError(f"{where} the key options is not known")
    return NamedBackend(
        name=name,
        kind=known,
        options=tuple(sorted(fields.items())),
        usd_per_hour=price,
        people=tuple(people),
    )


NamedBackends = Annotated[
    tuple[NamedBackend, ...],
    BeforeValidator(_read_named_backends),
    Field(json_schema_extra={"allowed": "tables"}),
]
