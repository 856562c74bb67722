"""The rules of `[[tools.rules]]`: read, and refused with a sentence where they are wrong."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import BeforeValidator, Field

from agent_core.tools import Rule
from gateway.config.types import check_account

_KEYS = ("effect", "tool", "pattern", "person")
_EFFECTS = ("allow", "ask", "deny")
_EXPECTED = (
    'tables [[tools.rules]], each with effect = "allow", "ask" or "deny", and with tool, pattern'
    " or person"
)


def _read_rules(value: object) -> tuple[Rule, ...]:
    """Read all rules. Raises `ValueError` with what they must be, and which one is wrong."""
    if not isinstance(value, list | tuple):
        raise ValueError(_EXPECTED)
    return tuple(_read_rule(row, number) for number, row in enumerate(value, start=1))


def _read_rule(row: object, number: int) -> Rule:
    if isinstance(row, Rule):
        return row
    if isinstance(row, str):  # of a variable: effect, tool and pattern
        row = dict(zip(_KEYS[:3], row.split(maxsplit=2), strict=False))
    if not isinstance(row, Mapping):
        raise ValueError(_EXPECTED)
    fields = dict(row)
    for key, text in fields.items():
        if key not in _KEYS:
            raise ValueError(f"{_EXPECTED}; rule {number} has the unknown key {key}")
        if not isinstance(text, str) or not text or "\0" in text:
            raise ValueError(f"{_EXPECTED}; in rule {number}, {key} is no text")
    if fields.get("effect") not in _EFFECTS:
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
