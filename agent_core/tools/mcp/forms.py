"""Questions of servers: forms and links that the person behind a call answers."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from agent_core.transcript import flatten

FormValue = str | int | float | bool
FieldKind = Literal["text", "number", "integer", "choice"]
MOST_FIELDS = 16
_MOST_OPTIONS = 6
_MESSAGE, _LABEL = 1000, 60
_LONGEST_URL = 1000
_SECRETS = re.compile(
    r"pass.?(?:word|phrase|code)|\bpwd\b|secret|token|api.?key|private.?key|credential|\bpin\b"
    r"|\bcvv\b|\bcvc\b|card.?number|\biban\b|one.?time.?code|\botp\b",
    re.IGNORECASE,
)


class FormRefused(ValueError):
    """The server's question is not shown to the person; the text is a sentence for the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """A value of a field, and its label."""

    value: FormValue
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A value that a server asks for. `default` is used if the person leaves the field out."""

    name: str
    label: str
    kind: FieldKind
    is_required: bool
    options: tuple[Option, ...] = ()
    default: FormValue | None = None

    def read(self, text: str) -> FormValue:
        """Parse the person's answer. Raises `ValueError`."""
        words = text.strip()
        if self.kind == "integer":
            return int(words)
        return float(words.replace(",", ".")) if self.kind == "number" else words


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A question with fields; without fields, the person answers only yes or no."""

    server: str
    message: str
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLink:
    """A page that a server asks the person to open."""

    server: str
    message: str
    url: str
    host: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FormAnswer:
    """A person's answer. `cancel` means that the person didn't answer."""

    action: Literal["accept", "decline", "cancel"]
    content: Mapping[str, FormValue] | None = None


def read_form(server: str, message: str, schema: Mapping[str, object]) -> Form:
    """Read a server's form. Raises `FormRefused` if nobody should answer it."""
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, Mapping):
        raise FormRefused("The server asked for nothing that can be answered.")
    if len(properties) > MOST_FIELDS:
        raise FormRefused(f"The server asked for more than {MOST_FIELDS} values.")
    needed = required if isinstance(required, Sequence) else ()
    found = [
        _read_field(str(name), prop, is_required=name in needed)
        for name, prop in properties.items()
        if isinstance(prop, Mapping)
    ]
    fields = tuple(one for one in found if one)
    said = flatten(message, _MESSAGE)
    told = (said, *(f"{one.name} {one.label}" for one in fields))
    if any(_SECRETS.search(text) for text in told):
        raise FormRefused("The server asked for a secret, and a chat is no place for one.")
    return Form(server=server, message=said, fields=fields)


def read_link(server: str, message: str, url: str) -> PageLink:
    """Read a server's link. Raises `FormRefused` if nobody should open it."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        host = ""
    is_plain = len(url) <= _LONGEST_URL and url.isascii() and url.isprintable() and " " not in url
    if not (host and is_plain and parts.scheme == "https" and not parts.username):
        raise FormRefused("The server sent a link that is not a plain https address.")
    return PageLink(server=server, message=flatten(message, _MESSAGE), url=url, host=host)


def _read_field(name: str, prop: Mapping[str, object], *, is_required: bool) -> Field | None:
    """Read a field; None for an optional field that can't be filled in by chat."""
    title = prop.get("title") or prop.get("description") or name
    if prop.get("format") == "password":
        raise FormRefused("The server asked for a secret, and a chat is no place for one.")
    options = _read_options(prop)
    if len(options) > _MOST_OPTIONS:
        options = ()  # the person types the value; the server checks it
    kind: FieldKind = "text"
    if options:
        kind = "choice"
    elif prop.get("type") == "integer":
        kind = "integer"
    elif prop.get("type") == "number":
        kind = "number"
    elif prop.get("type") != "string":
        if not is_required:
            return None
        raise FormRefused("The server asked for a kind of value that a chat can't give.")
    default = prop.get("default")
    return Field(
        name=name,
        label=flatten(str(title), _LABEL),
        kind=kind,
        is_required=is_required,
        options=options,
        default=default if isinstance(default, str | int | float | bool) else None,
    )


def _read_options(prop: Mapping[str, object]) -> tuple[Option, ...]:
    """Return the values that a field may have; () if any value is allowed."""
    if prop.get("type") == "boolean":
        return (Option(value=True, label="Yes"), Option(value=False, label="No"))
    titled = prop.get("oneOf")
    if isinstance(titled, Sequence) and not isinstance(titled, str):
        pairs = [(one.get("const"), one.get("title")) for one in titled if isinstance(one, Mapping)]
    else:
        values, names = prop.get("enum"), prop.get("enumNames")
        values = values if isinstance(values, Sequence) and not isinstance(values, str) else ()
        names = names if isinstance(names, Sequence) and len(names) == len(values) else values
        pairs = list(zip(values, names, strict=True))
    return tuple(
        Option(value=value, label=flatten(str(label or value), _LABEL))
        for value, label in pairs
        if isinstance(value, str)
    )
