"""A table of `config.toml`, and what its values and a server's address must be; pure."""

import ipaddress
from collections.abc import Callable, Collection
from typing import Annotated, ClassVar, Final, Literal, Unpack, get_args, get_origin
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic.fields import FieldInfo

ON_PAGE: Final = "on_page"
"""Marks a setting that an owner may change on the page, though its table or type is closed."""
ON_MACHINE: Final = "on_machine"
"""Marks a setting that decides what runs, what leaves or who may talk: the page never changes it.
"""


class Table(BaseModel):
    """A table. Values in `config.toml` need the exact type; text of variables is converted.

    A word from a fixed list may be written in any case. A login in a browser must not become a
    shell, so the page changes nothing of a table that does not say `on_page`. In one that does, it
    changes numbers, switches and choices. A text may name a program, a place or an address, so each
    text and each list says so for itself.
    """

    is_on_page: ClassVar[bool] = False

    def __init_subclass__(cls, *, on_page: bool = False, **kwargs: Unpack[ConfigDict]) -> None:
        """Take whether the page may change the settings of a table."""
        super().__init_subclass__(**kwargs)
        cls.is_on_page = on_page

    @classmethod
    def may_change_on_page(cls, name: str) -> bool:
        """Return whether the page may change a setting."""
        field = cls.model_fields[name]
        if ON_MACHINE in field.metadata:
            return False
        is_value = field.annotation in (bool, int, float) or get_origin(field.annotation) is Literal
        return ON_PAGE in field.metadata or (cls.is_on_page and is_value)

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _match_case(cls, row: object) -> object:
        if not isinstance(row, dict):
            return row
        return {key: _spell(value, cls.model_fields.get(key)) for key, value in row.items()}


def _spell(value: object, field: FieldInfo | None) -> object:
    """Return a choice as its list spells it; anything else as it is."""
    if field is None or get_origin(field.annotation) is not Literal or not isinstance(value, str):
        return value
    folded = value.strip().casefold()
    return next((one for one in get_args(field.annotation) if one.casefold() == folded), value)


def check(is_valid: Callable[[str], bool], expected: str) -> AfterValidator:
    """Refuse a text for which `is_valid` is false; `expected` fits after "must be"."""

    def validate(value: str) -> str:
        if not is_valid(value):
            raise ValueError(expected)
        return value

    return AfterValidator(validate)


def in_any_case(*known: str) -> AfterValidator:
    """Spell a known word as `known` does; other words, such as names of plug-ins, stay."""
    return AfterValidator(lambda value: value.lower() if value.lower() in known else value)


def shown_as(allowed: str, *, strict: bool | None = None) -> FieldInfo:
    """Name the allowed values for the configuration reference."""
    info: FieldInfo = Field(strict=strict, json_schema_extra={"allowed": allowed})
    return info


def _is_listen_address(value: str) -> bool:
    try:
        ipaddress.ip_address(value)
    except ValueError:
        return value == "localhost"
    return True


Text = Annotated[str, Field(pattern=r"\A[^\x00]*\z")]
"""A text that the operating system accepts: it has no NUL character."""
ListenAddress = Annotated[
    Text,
    check(_is_listen_address, 'an IP address of this machine, for instance "127.0.0.1"'),
    shown_as("an IP address"),
]


def read_address(
    variable: str,
    given: str | None,
    default: str,
    *,
    schemes: Collection[str] = ("http", "https"),
    ending: str = "",
    hint: str = "",
) -> str:
    """Return the address of a platform's server; its path must end in `ending`.

    Raises `ValueError` with a sentence about the variable, which ends with `hint`. The sentence
    does not repeat the address, which may contain a password.
    """
    if not given:
        return default
    parts = urlsplit(given)
    is_whole = parts.scheme in schemes and parts.hostname and not parts.query
    if not is_whole or not parts.path.rstrip("/").endswith(ending):
        raise ValueError(f"{variable} should look like {default}{hint}.")
    return given
