"""Types of single settings: each refuses a wrong value with a text that fits after "must be"."""

import os
import re
import zoneinfo
from pathlib import PurePosixPath
from typing import Annotated

from pydantic import AfterValidator
from pydantic.fields import FieldInfo

from adapters.toolkit.table import Text, check, shown_as
from agent_core.models.catalog import parse_price
from agent_core.money import count_micro_dollars


def _match(pattern: str, expected: str) -> AfterValidator:
    """Refuse a text that does not fully match a pattern."""
    return check(lambda value: re.fullmatch(pattern, value) is not None, expected)


def _list_shown_as(allowed: str) -> FieldInfo:
    """Name the allowed values of a list. The list is not strict, because TOML gives a list and the
    setting keeps a tuple.
    """
    return shown_as(allowed, strict=False)


def _is_mount(value: str) -> bool:
    found = re.fullmatch(r"(/[^:,]*):(/[^:,]+)(:r[ow])?", value)
    if not found or ".." in value.split("/"):
        return False
    return not re.match(r"/(workspace|proc|sys|dev|tmp)(/|$)", os.path.normpath(found[2]))


def check_account(value: str) -> str:
    """Return an account, or `*`. Raises `ValueError` with what it must be."""
    platform, colon, user = value.partition(":")
    is_account = re.fullmatch(r"[a-z][a-z0-9_]*", platform) and colon
    if value == "*":
        return value
    if not (is_account and re.fullmatch(r"\S+", user)):
        raise ValueError('"platform:user_id" (for instance "telegram:123456789") or "*"')
    if user.startswith("@"):
        raise ValueError(
            '"platform:user_id" with the id, which is a number on most platforms, not the name'
        )
    return value


def _check_dollars(value: float) -> float:
    try:
        count_micro_dollars(value)
    except ValueError as error:
        raise ValueError("0 for no limit, or 0.000001 or more") from error
    return value


def _is_inside(value: str) -> bool:
    path = PurePosixPath(value)
    return bool(value) and not path.is_absolute() and ".." not in path.parts


def _is_time_zone(value: str) -> bool:
    try:
        return not value or zoneinfo.ZoneInfo(value) is not None
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return False


def _check_price(value: str) -> str:
    parse_price(value)
    return value


Dollars = Annotated[
    float,
    AfterValidator(_check_dollars),
]
"""A limit in US dollars; 0 means none, so an amount that counts as 0 is refused."""
Texts = Annotated[tuple[Text, ...], _list_shown_as("texts")]
_Port = Annotated[
    Text,
    check(lambda text: text.isdecimal() and 0 < int(text) < 65_536, 'a port such as "11434"'),
]
Ports = Annotated[tuple[_Port, ...], _list_shown_as("ports")]
Accounts = Annotated[
    tuple[Annotated[Text, AfterValidator(check_account)], ...], _list_shown_as("accounts, `*`")
]
_FileName = Annotated[
    Text, check(_is_inside, 'the name of a file inside the folder, for instance "AGENTS.md"')
]
FileNames = Annotated[tuple[_FileName, ...], _list_shown_as("file names")]
_Host = Annotated[
    Text,
    _match(
        r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?",
        'a host, with or without a port, such as "cloud.lan" or "192.168.1.5:8080"',
    ),
]
Hosts = Annotated[tuple[_Host, ...], _list_shown_as("hosts")]
_HostPattern = Annotated[
    Text,
    _match(
        r"(\*|(\*\.)?[A-Za-z0-9_-][A-Za-z0-9._-]*)(:\d{1,5})?",
        'a host such as "example.org", "*.example.org" or "example.org:8443", or "*"',
    ),
]
HostPatterns = Annotated[
    tuple[_HostPattern, ...], _list_shown_as("hosts, `*.` in front for all below")
]
_Mount = Annotated[
    Text,
    check(
        _is_mount,
        'a folder of this machine and its place in the container, such as "/srv/data:/data"'
        ' or "/srv/data:/data:rw", and not below /workspace, /proc, /sys, /dev or /tmp',
    ),
]
Mounts = Annotated[
    tuple[_Mount, ...], _list_shown_as("folders, as `/here:/there` or `/here:/there:rw`")
]
Language = Annotated[
    Text,
    _match(
        r"(?:[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*)?",
        'a language tag such as "en" or "pt-BR", or ""',
    ),
    shown_as("a language tag"),
]
OwnAddress = Annotated[
    Text,
    _match(
        r"(https?://[^\s/?#]+/?)?",
        'an address without a path, such as "https://talaria.example.org", or ""; give Talaria a'
        " host name of its own at the proxy",
    ),
    shown_as("a URL without a path"),
]
PublicAddress = Annotated[
    Text,
    _match(
        r"(https?://[^\s/?#]+(/[^\s?#]*)?)?",
        'an address such as "https://talaria.example.org", or ""',
    ),
    shown_as("a URL"),
]
BucketAddress = Annotated[
    Text,
    _match(
        r"(s3://[a-z0-9][a-z0-9.-]+(/[^\s?#]*)?)?",
        'an address such as "s3://bucket/prefix", or ""',
    ),
    shown_as("an address of S3"),
]
ServerAddress = Annotated[
    Text,
    _match(
        r"https?://[A-Za-z0-9.:\[\]-]+(/[A-Za-z0-9._~/-]*)?",
        'an address such as "https://api.github.com"',
    ),
    shown_as("an address"),
]
TimeZone = Annotated[
    Text,
    check(_is_time_zone, 'a time zone\'s IANA name such as "Europe/Berlin", or ""'),
    shown_as("an IANA name"),
]
Prices = Annotated[
    tuple[Annotated[Text, AfterValidator(_check_price)], ...], _list_shown_as("prices")
]


def _check_credential(value: str) -> str:
    # A key becomes part of a header or an address; a line break in it is a pasting mistake.
    if not re.fullmatch(r"[!-~]+", value):
        raise ValueError(
            "holds a space, a line break or a character that no key has; paste it again"
        )
    return value


def _check_address(start: str) -> AfterValidator:
    def validate(value: str) -> str:
        if not re.match(rf"{start}s?://[^/]", value):
            raise ValueError(f"must be an address that starts with {start}:// or {start}s://")
        return value

    return AfterValidator(validate)


Credential = Annotated[str, AfterValidator(_check_credential)]
HttpAddress = Annotated[Credential, _check_address("http")]
WebSocketAddress = Annotated[Credential, _check_address("ws")]
