"""Checks settings from `config.toml` and the environment; explains every mistake in a sentence."""

import difflib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, get_args, get_origin

from annotated_types import Ge, Le
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from adapters.toolkit.table import Table
from gateway.app.config_file import parse_file
from gateway.app.credentials import AllSecrets, Secrets
from gateway.app.redaction import looks_secret
from gateway.errors import SettingsError, suggest
from gateway.home import HOME_VARIABLE

SECRET_VARIABLES = tuple(name.upper() for name in AllSecrets.model_fields)

Values = dict[str, dict[str, Any]]
"""The values that are set, by table and key."""
Tables = Mapping[str, type[Table]]

_LONGEST_SHOWN = 60
_TYPE_NAMES = {bool: "true or false", str: "a text", int: "a whole number", float: "a number"}


def read_file(path: Path, tables: Tables) -> Values:
    """Read the settings in a file; empty if the file is missing.

    Raises `SettingsError`, which never repeats a secret.
    """
    tree = parse_file(path)
    for place, value in _walk(tree):
        variable = _find_secret(place, value)
        if variable:
            raise SettingsError(
                f"{path}: {'.'.join(place)} belongs into the environment, not into this file; "
                f"remove it here and set {variable}."
            )
    for table, row in tree.items():
        if not isinstance(row, dict):
            raise SettingsError(f"{path}: {_explain_stray(table, tables)}")
        if table not in tables:
            raise SettingsError(
                f"{path}: the table [{table}] is not known; {suggest(table, tables)}"
            )
        try:
            tables[table].model_validate(row)
        except ValidationError as error:
            fault = _choose(error, row)
            sentence = explain(partial("{}.{}".format, table), error, tables[table], row)
            if fault["type"] == "extra_forbidden":
                sentence = _explain_unknown(table, str(fault["loc"][0]), tables)
            raise SettingsError(f"{path}: {sentence}") from error
    return tree


def read_environment(environ: Mapping[str, str], tables: Tables) -> Values:
    """Read the settings in variables named `TALARIA_<TABLE>__<KEY>`. Raises `SettingsError`."""
    found: Values = {}
    for table, model in tables.items():
        row = {
            key: _split(environ[variable], field)
            for key, field in model.model_fields.items()
            if (variable := name_variable(table, key)) in environ
        }
        if not row:
            continue
        try:
            # A variable holds text only, so numbers and switches are converted here.
            given = model.model_validate(row, strict=False)
        except ValidationError as error:
            sentence = explain(partial(_name_aloud, table), error, model, row)
            raise SettingsError(sentence) from error
        found[table] = given.model_dump(include=set(row))
    return found


def read_secrets(environ: Mapping[str, str]) -> Secrets:
    """Read the credentials; an empty variable counts as not set.

    No key is sent to a company that it is not for.

    Raises `SettingsError`, which never repeats a secret.
    """
    found = {name.lower(): environ.get(name, "").strip() or None for name in SECRET_VARIABLES}
    for key, server, beginnings, what, other in _MISTAKABLE:
        if (found[key] or "").startswith(beginnings) and not found[server]:
            raise SettingsError(f"{key.upper()} holds a key for {what}; set it as {other}.")
    try:
        return AllSecrets(**found)
    except ValidationError as error:
        fault = error.errors()[0]
        raise SettingsError(f"{str(fault['loc'][0]).upper()} {_read_message(fault)}.") from None


_MISTAKABLE = (
    ("openai_api_key", "openai_base_url", ("sk-ant-",), "Claude", "ANTHROPIC_API_KEY"),
    ("anthropic_api_key", "anthropic_base_url", ("sk-proj-",), "GPT", "OPENAI_API_KEY"),
)
"""Keys that would go to the wrong company, unless a server is set, and how they begin."""


def list_unknown_variables(environ: Mapping[str, str], tables: Tables) -> list[str]:
    """List a sentence for each `TALARIA_` variable that sets nothing, with the nearest name."""
    known = [HOME_VARIABLE]
    known += [name_variable(table, key) for table in tables for key in tables[table].model_fields]
    unknown = sorted(name for name in environ if name.startswith("TALARIA_") and name not in known)
    nearest = {name: difflib.get_close_matches(name.upper(), known, 1, 0.0)[0] for name in unknown}
    return [
        f"The variable {name} is not known and has no effect; did you mean {nearest[name]}?"
        for name in unknown
    ]


def name_variable(table: str, key: str) -> str:
    """Return the variable that sets a value."""
    return f"TALARIA_{table}__{key}".upper()


def _split(text: str, field: FieldInfo) -> str | list[str]:
    """Split the text of a list at its commas; one in brackets is JSON, as in `config.toml`."""
    if get_origin(field.annotation) is not tuple:
        return text.strip()
    if text.lstrip().startswith("["):
        with suppress(ValueError):
            items = json.loads(text)
            if all(isinstance(item, str) for item in items):
                return list(items)
    return [item.strip() for item in text.split(",") if item.strip()]


def _walk(
    tree: Mapping[str, object], above: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], object]]:
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from _walk(value, (*above, key))
        else:
            yield (*above, key), value


def _find_secret(place: tuple[str, ...], value: object) -> str:
    """Name the variable that a value of the file belongs to, by its key or by its form."""
    key = place[-1].upper()
    owners = ("ANTHROPIC_", "OPENAI_") if place[0] == "model" else (f"{place[0].upper()}_",)
    variables = [
        name
        for name in SECRET_VARIABLES
        if name == key or (name.startswith(owners) and name.endswith(f"_{key}"))
    ]
    if variables:
        return " or ".join(variables)
    texts = value if isinstance(value, list) else [value]
    return "the variable of that secret" if any(looks_secret(text) for text in texts) else ""


def _explain_stray(name: str, tables: Tables) -> str:
    if name in tables:
        return f"{name} must be a table, written as [{name}]."
    owner = next((table for table in tables if name in tables[table].model_fields), "")
    hint = f"it belongs under [{owner}]." if owner else "every setting belongs into a table."
    return f"{name} stands outside of a table; {hint}"


def _explain_unknown(table: str, key: str, tables: Tables) -> str:
    elsewhere = [f"{owner}.{key}" for owner in tables if key in tables[owner].model_fields]
    own = [f"{table}.{name}" for name in tables[table].model_fields]
    return f"{table}.{key} is not known; {suggest(f'{table}.{key}', elsewhere or own)}"


def _choose(error: ValidationError, row: Mapping[str, object]) -> ErrorDetails:
    """Return the mistake that comes first in the file."""
    order = list(row)
    return min(error.errors(), key=lambda fault: order.index(str(fault["loc"][0])))


def _name_aloud(table: str, key: str) -> str:
    return f"The variable {name_variable(table, key)}"


def explain(
    name: Callable[[str], str],
    error: ValidationError,
    model: type[BaseModel],
    row: Mapping[str, object],
) -> str:
    """Explain the first mistake of a table in a sentence, which `name` begins with a key's name."""
    fault = _choose(error, row)
    return _explain(name(str(fault["loc"][0])), fault, model, row)


def _explain(
    place: str, fault: ErrorDetails, model: type[BaseModel], row: Mapping[str, object]
) -> str:
    key = str(fault["loc"][0])
    field, found = model.model_fields.get(key), fault["input"]
    if fault["type"] == "string_pattern_mismatch":
        return f"{place} must be a text without NUL characters."
    if fault["type"] == "value_error":
        expected = _read_message(fault)
    else:
        expected = _describe(field) if field else ""
        if len(fault["loc"]) > 1:  # one value of a list
            return f"{place} must be {expected}, but contains {_show(found)}."
        found = row[key]
        if fault["type"].endswith("_than_equal"):
            return f"{place} must be {expected}, but is {found}."
    return f"{place} must be {expected}, but is {_show(found)}."


def _read_message(fault: ErrorDetails) -> str:
    """Return the message with which a validator of `gateway.app.setting_types` refused a value."""
    return str(fault["ctx"]["error"]) if "ctx" in fault else fault["msg"]


def _describe(field: FieldInfo) -> str:
    """Describe the allowed values of a setting; the text follows "must be"."""
    if get_origin(field.annotation) is tuple:
        return "a list of texts"
    if field.annotation not in _TYPE_NAMES:
        return "one of " + ", ".join(f'"{choice}"' for choice in get_args(field.annotation))
    bounds = {type(limit): limit for limit in field.metadata}
    expected = _TYPE_NAMES[field.annotation]
    if Ge in bounds and Le in bounds:
        expected += f" from {bounds[Ge].ge:.10g} to {bounds[Le].le:.10g}"
    return expected


def _show(value: object) -> str:
    """Format a wrong value for a sentence: short, and never a secret."""
    if looks_secret(value):
        return "something that looks like a secret"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if not isinstance(value, str):
        if isinstance(value, dict):
            return "a table"
        return "a list" if isinstance(value, list) else "a date or time"
    text = value if value.isprintable() else value.encode("unicode_escape").decode("ascii")
    return f'"{text}"' if len(text) <= _LONGEST_SHOWN else f'"{text[:_LONGEST_SHOWN]}…"'
