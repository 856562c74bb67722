"""Reads one setting's value, from TOML or from a variable's text, and says what is allowed."""

import difflib
import ipaddress
import re
import tomllib
import zoneinfo
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from agent_core.models.catalog import parse_price

Value = str | int | float | bool | tuple[str, ...]

_SECRET_SHAPES = re.compile(
    r"\d{6,}:[A-Za-z0-9_-]{30,}"  # Telegram
    r"|\bsk-ant-[A-Za-z0-9_-]{4,}|\bsk-[A-Za-z0-9_-]{16,}"  # Anthropic, OpenAI
    r"|gh[opsu]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}"  # GitHub
    r"|xox[abeprs]-[A-Za-z0-9-]{8,}|xapp-[A-Za-z0-9-]{8,}"  # Slack
    r"|[A-Za-z0-9_-]{23,28}\.[A-Za-z0-9_-]{6,7}\.[A-Za-z0-9_-]{27,}"  # Discord
)
_TRUE = {"true", "yes", "on", "1"}
_FALSE = {"false", "no", "off", "0"}
_TOML_NAMES = {
    bool: "true or false",
    str: "a text",
    int: "a whole number",
    float: "a number",
}
_LONGEST_SHOWN = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """What a setting may hold. `complain` returns "" or what else the value has to be."""

    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    complain: Callable[[str], str] | None = None


def looks_secret(value: object) -> bool:
    """True for a text that has the shape of a known kind of token or key."""
    return isinstance(value, str) and _SECRET_SHAPES.search(value) is not None


def hide_secrets(text: str) -> str:
    """The text with everything masked that has the shape of a known kind of token or key."""
    return _SECRET_SHAPES.sub("[hidden]", text)


def show(value: object) -> str:
    """A found value, short enough for a sentence and never a secret."""
    if looks_secret(value):
        return "something that looks like a secret"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if not isinstance(value, str):
        return "a list" if isinstance(value, list) else _other_kind(value)
    text = value if value.isprintable() else value.encode("unicode_escape").decode("ascii")
    return f'"{text}"' if len(text) <= _LONGEST_SHOWN else f'"{text[:_LONGEST_SHOWN]}…"'


def check(found: object, default: Value, allowed: Allowed) -> Value:
    """A value as TOML gave it, in the default's type.

    Raises `ValueError` with what is allowed and what was found, to be put after "must be".
    """
    if isinstance(default, bool):
        if isinstance(found, bool):
            return found
    elif isinstance(default, int):
        if isinstance(found, int) and not isinstance(found, bool) and _fits(found, allowed):
            return found
    elif isinstance(default, float):
        if isinstance(found, int | float) and not isinstance(found, bool) and _fits(found, allowed):
            return float(found)
    elif isinstance(default, str):
        if isinstance(found, str):
            return _check_text(found, allowed)
    elif isinstance(found, list) and all(isinstance(item, str) for item in found):
        return tuple(_check_text(item, allowed) for item in found)
    raise ValueError(f"{_describe(default, allowed)}, but is {show(found)}")


def parse(text: str, default: Value, allowed: Allowed) -> Value:
    """A value as a variable's text gives it; a list is separated by commas.

    Raises `ValueError` as `check` does.
    """
    word = text.strip()
    found: object = word
    if isinstance(default, bool):
        if word.lower() in _TRUE | _FALSE:
            found = word.lower() in _TRUE
    elif isinstance(default, int | float):
        try:
            found = int(word) if isinstance(default, int) else float(word)
        except ValueError:
            found = word
    elif isinstance(default, tuple):
        found = [item.strip() for item in word.split(",") if item.strip()]
    return check(found, default, allowed)


def complain_of_account(value: str) -> str:
    """An entry of the allow list: everybody, or one account by its platform's own id."""
    if value == "*":
        return ""
    platform, colon, user = value.partition(":")
    if re.fullmatch(r"[a-z][a-z0-9_]*", platform) and colon and re.fullmatch(r"\S+", user):
        if not user.startswith("@"):
            return ""
        return '"platform:user_id" with the id, which is a number on most platforms, not the name'
    return '"platform:user_id" (for instance "telegram:123456789") or "*"'


def complain_of_address(value: str) -> str:
    """An address to listen on."""
    if value != "localhost":
        try:
            ipaddress.ip_address(value)
        except ValueError:
            return 'an IP address of this machine, for instance "127.0.0.1"'
    return ""


def complain_of_file(value: str) -> str:
    """A file's name inside a folder that is set elsewhere."""
    path = PurePosixPath(value)
    if not value or path.is_absolute() or ".." in path.parts or "\0" in value:
        return 'the name of a file inside the folder, for instance "AGENTS.md"'
    return ""


def complain_of_language(value: str) -> str:
    """A language tag (BCP 47), or nothing."""
    if value and not re.fullmatch(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*", value):
        return 'a language tag such as "en" or "pt-BR", or ""'
    return ""


def complain_of_price(value: str) -> str:
    """A model with its price and the day on which that was looked up."""
    try:
        parse_price(value)
    except ValueError as error:
        return str(error)
    return ""


def complain_of_server(value: str) -> str:
    """The address of a server."""
    if not re.fullmatch(r"https?://[A-Za-z0-9.:\[\]-]+(/[A-Za-z0-9._~/-]*)?", value):
        return 'an address such as "https://api.github.com"'
    return ""


def complain_of_time_zone(value: str) -> str:
    """A name of the IANA time zone database, or nothing."""
    if value:
        try:
            zoneinfo.ZoneInfo(value)
        except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
            return 'a time zone\'s IANA name such as "Europe/Berlin", or ""'
    return ""


def _fits(number: float, allowed: Allowed) -> bool:
    least = float("-inf") if allowed.least is None else allowed.least
    most = float("inf") if allowed.most is None else allowed.most
    return least <= number <= most


def _check_text(text: str, allowed: Allowed) -> str:
    if "\0" in text:
        raise ValueError("a text without NUL characters")
    if allowed.choices and text not in allowed.choices:
        words = ", ".join(f'"{choice}"' for choice in allowed.choices)
        raise ValueError(f"one of {words}, but is {show(text)}")
    complaint = allowed.complain(text) if allowed.complain else ""
    if complaint:
        raise ValueError(f"{complaint}, but is {show(text)}")
    return text


def _describe(default: Value, allowed: Allowed) -> str:
    words = "a list of texts" if isinstance(default, tuple) else _TOML_NAMES[type(default)]
    if allowed.least is not None and allowed.most is not None:
        words += f" from {allowed.least:.10g} to {allowed.most:.10g}"
    return words


def _other_kind(value: object) -> str:
    return "a table" if isinstance(value, dict) else "a date or time"


def suggest(name: str, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown name: the nearest right one, or all of them."""
    names = list(known)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    return f"did you mean {near[0]}?" if near else f"known are {', '.join(sorted(names))}."


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
