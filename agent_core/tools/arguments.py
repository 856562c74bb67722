"""Read a call's arguments, and explain to the model what is wrong with them."""

import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import NoReturn

import fastjsonschema
from fastjsonschema import JsonSchemaDefinitionException, JsonSchemaValueException

from agent_core.errors import ToolArgumentError
from agent_core.transcript import flatten

Validate = Callable[[object], object]

_SENTENCE_LIMIT = 400
_NAME_LIMIT = 64
_EMPTY: tuple[object, ...] = (None, "", [], {})
_KINDS: Mapping[type, str] = {
    dict: "an object",
    list: "an array",
    str: "a string",
    bool: "a boolean",
    int: "an integer",
    float: "a number",
    type(None): "null",
}

_SCHEMA_FAULTS = (
    JsonSchemaDefinitionException,
    ValueError,
    # fastjsonschema raises these for a malformed schema: an array in place of an object, a broken
    # pattern, or an unknown kind of reference.
    AttributeError,
    KeyError,
    OSError,
    RecursionError,
    TypeError,
    re.error,
)


@lru_cache(maxsize=512)
def compile_schema(schema: str) -> Validate:
    """Compile a check of arguments that raises `JsonSchemaValueException`; takes milliseconds.

    Defaults are not filled in: the tool sees what the model wrote. Raises `ValueError` for a schema
    that is invalid or refers to anything outside of itself.
    """
    try:
        validate: Validate = fastjsonschema.compile(
            json.loads(schema), handlers=_OUTSIDE, use_default=False
        )
    except _SCHEMA_FAULTS as error:
        raise ValueError(f"its schema is not valid: {error}") from error
    return validate


def read_arguments(text: str, validate: Validate) -> dict[str, object]:
    """Parse the arguments of a call; an empty text means none.

    Raises `ToolArgumentError` with the sentence that the model reads.
    """
    arguments = _parse(text) if text.strip() else {}
    _check(arguments, validate)
    return arguments


def read_leniently(
    text: str, validate: Validate, schema: str
) -> tuple[dict[str, object], tuple[str, ...]]:
    """Parse the arguments of a call, without empty ones that would refuse it.

    Small models fill in every argument. Returns the arguments, and the names of those left out;
    `schema` requires none of them. Raises `ToolArgumentError`, as `read_arguments`.
    """
    try:
        return read_arguments(text, validate), ()
    except ToolArgumentError:
        given = _parse(text) if text.strip() else {}
        required = json.loads(schema).get("required", ())
        empty = [name for name, value in given.items() if value in _EMPTY and name not in required]
        if not empty:
            raise
    kept = {name: value for name, value in given.items() if name not in empty}
    _check(kept, validate)
    return kept, tuple(flatten(name, _NAME_LIMIT) for name in empty)


def _check(arguments: dict[str, object], validate: Validate) -> None:
    try:
        validate(arguments)
    except JsonSchemaValueException as error:
        raise ToolArgumentError(flatten(_explain(error), _SENTENCE_LIMIT)) from error
    except RecursionError as error:
        raise ToolArgumentError("the arguments are nested too deeply") from error


def _parse(text: str) -> dict[str, object]:
    try:
        value = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_read_object)
        json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise ToolArgumentError(
            f"the arguments are not JSON: {error.msg} at line {error.lineno}, column"
            f" {error.colno}; send one JSON object"
        ) from error
    except RecursionError as error:
        raise ToolArgumentError("the arguments are nested too deeply") from error
    except UnicodeEncodeError as error:
        raise ToolArgumentError(
            "the arguments hold half of a surrogate pair, which is no character"
        ) from error
    except ValueError as error:
        raise ToolArgumentError("the arguments hold a number that is too long") from error
    if not isinstance(value, dict):
        kind = _KINDS[type(value)]
        raise ToolArgumentError(f"the arguments must be one JSON object, not {kind}")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ToolArgumentError(f"{name} is not a number that JSON has")


def _read_object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) == len(pairs):
        return value
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            raise ToolArgumentError(f"`{flatten(name, _NAME_LIMIT)}` is given twice")
        seen.add(name)
    return value


def _explain(error: JsonSchemaValueException) -> str:
    """Describe in a sentence what the model must change."""
    place = (error.name or "data").removeprefix("data").removeprefix(".")
    subject = f"`{place}`" if place else "the arguments"
    definition = error.definition if isinstance(error.definition, dict) else {}
    value = error.value
    if error.rule == "required" and isinstance(value, dict):
        missing = [name for name in definition["required"] if name not in value]
        where = f" in {subject}" if place else ""
        return f"{_list(missing)} {'is' if len(missing) == 1 else 'are'} missing{where}"
    if error.rule == "additionalProperties" and isinstance(value, dict):
        known = definition.get("properties", {})
        unknown = [flatten(name, _NAME_LIMIT) for name in value if name not in known]
        there_is = f"there are only {_list(known)}" if known else "there are none"
        return f"{subject} can't have {_list(unknown)}; {there_is}"
    if error.rule == "enum":
        allowed = ", ".join(json.dumps(one, ensure_ascii=False) for one in definition["enum"])
        return f"{subject} must be one of {allowed}"
    if error.rule == "type":
        wanted = definition["type"]
        kinds = wanted if isinstance(wanted, str) else " or ".join(wanted)
        return f"{subject} must be of type {kinds}, not {_KINDS.get(type(value), 'that')}"
    said = str(error.message)
    return subject + said[len(error.name) :] if error.name and said.startswith(error.name) else said


def _list(names: object) -> str:
    return ", ".join(f"`{name}`" for name in names) if isinstance(names, list | dict) else ""


def _refuse_reference(uri: str) -> NoReturn:
    raise JsonSchemaDefinitionException(f"{uri} lies outside of the schema")


_OUTSIDE = dict.fromkeys(("", "data", "file", "ftp", "http", "https", "urn"), _refuse_reference)
"""Refuses references outside the schema: a foreign server's schema must not trigger a fetch."""
