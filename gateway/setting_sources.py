"""Reads `config.toml` and the environment against the rules; pure but for the one file."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from gateway.setting_values import Allowed, Value, check, looks_secret, parse, suggest

Rules = Mapping[tuple[str, str], tuple[Value, Allowed]]
"""Of each table and key: the default, which also names the type, and what is allowed."""

Found = dict[tuple[str, str], Value]

HOME_VARIABLE = "TALARIA_HOME"

_TOML_FAULT = re.compile(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", re.DOTALL)
"""How the sentences of `tomllib` end."""


def read_file(path: Path, rules: Rules, secrets: Iterable[str]) -> Found:
    """The settings in a file; none where there is no file.

    Raises `ValueError` with a whole sentence, which never repeats a secret.
    """
    tree = _parse_file(path)
    for place, value in _walk(tree):
        variable = _find_secret(place, value, secrets)
        if variable:
            raise ValueError(
                f"{path}: {'.'.join(place)} belongs into the environment, not into this file; "
                f"remove it here and set {variable}."
            )
    found: Found = {}
    tables = {table for table, _ in rules}
    for table, rows in tree.items():
        if not isinstance(rows, dict):
            raise ValueError(f"{path}: {_tell_stray(table, rules)}")
        if table not in tables:
            raise ValueError(f"{path}: the table [{table}] is not known; {suggest(table, tables)}")
        for key, value in rows.items():
            rule = rules.get((table, key))
            if rule is None:
                raise ValueError(f"{path}: {table}.{key} is not known; {_near(table, key, rules)}")
            try:
                found[table, key] = check(value, *rule)
            except ValueError as error:
                raise ValueError(f"{path}: {table}.{key} must be {error}.") from error
    return found


def read_environment(environ: Mapping[str, str], rules: Rules) -> Found:
    """The settings in variables named `TALARIA_<TABLE>__<KEY>`.

    Raises `ValueError` with a whole sentence.
    """
    places = {f"TALARIA_{table}__{key}".upper(): (table, key) for table, key in rules}
    found: Found = {}
    for variable, text in environ.items():
        if not variable.startswith("TALARIA_") or variable == HOME_VARIABLE:
            continue
        if variable not in places:
            known = [HOME_VARIABLE, *places]
            raise ValueError(f"The variable {variable} is not known; {suggest(variable, known)}")
        try:
            found[places[variable]] = parse(text, *rules[places[variable]])
        except ValueError as error:
            raise ValueError(f"The variable {variable} must be {error}.") from error
    return found


def read_secrets(environ: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """The secrets that are set, by lower-case name; an empty variable counts as not set.

    Raises `ValueError` with a whole sentence, which never repeats a secret.
    """
    found: dict[str, str] = {}
    for variable in names:
        text = environ.get(variable, "").strip()
        if not text:
            continue
        # A key becomes part of a header or an address: a line break in it is a pasting fault.
        if not re.fullmatch(r"[!-~]+", text):
            raise ValueError(
                f"{variable} holds a space, a line break or a sign that no key has; paste it again."
            )
        if variable.endswith("_URL"):
            start = "ws" if variable.endswith("_GATEWAY_URL") else "http"
            if not re.match(rf"{start}s?://[^/]", text):
                raise ValueError(
                    f"{variable} must be an address that starts with {start}:// or {start}s://."
                )
        found[variable.lower()] = text
    return found


def _parse_file(path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ValueError(f"{path} can't be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{path}, line {line}: this is not UTF-8 text.") from error
    except tomllib.TOMLDecodeError as error:
        match = _TOML_FAULT.fullmatch(str(error))
        what = match[1] if match else str(error)
        where = f"line {match[2]}, column {match[3]}" if match and match[2] else "at its end"
        raise ValueError(f"{path}, {where}: {what}.") from error


def _walk(
    tree: Mapping[str, object], above: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], object]]:
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from _walk(value, (*above, key))
        else:
            yield (*above, key), value


def _find_secret(place: tuple[str, ...], value: object, secrets: Iterable[str]) -> str:
    """The variable that a value of the file belongs to, known by its name or by its look."""
    key = place[-1].upper()
    owners = ("ANTHROPIC_", "OPENAI_") if place[0] == "model" else (f"{place[0].upper()}_",)
    variables = [
        name
        for name in secrets
        if name == key or (name.startswith(owners) and name.endswith(f"_{key}"))
    ]
    if variables:
        return " or ".join(variables)
    texts = value if isinstance(value, list) else [value]
    return "the variable of that secret" if any(looks_secret(text) for text in texts) else ""


def _tell_stray(name: str, rules: Rules) -> str:
    if any(name == table for table, _ in rules):
        return f"{name} must be a table, written as [{name}]."
    owner = next((table for table, key in rules if key == name), "")
    hint = f"it belongs under [{owner}]." if owner else "every setting belongs into a table."
    return f"{name} stands outside of a table; {hint}"


def _near(table: str, key: str, rules: Rules) -> str:
    own = [f"{owner}.{name}" for owner, name in rules if owner == table]
    elsewhere = [f"{owner}.{name}" for owner, name in rules if name == key]
    return suggest(f"{table}.{key}", elsewhere or own)
