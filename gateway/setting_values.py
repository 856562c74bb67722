"""Reads one setting's value, from TOML or from a variable's text, and says what is allowed."""

import difflib
import ipaddress
import re
import zoneinfo
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from agent_core.models.prices import parse_price

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
