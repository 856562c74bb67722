"""Requests and answers of the operations on settings. Quick to import."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowSettings:
    """Asks for the settings of a person."""

    person: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A setting with its value, as a person enters it; "" is the default."""

    name: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownSettings:
    """The settings of a person."""

    person: str
    settings: tuple[Setting, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SetSettings:
    """Asks to change settings of a person: all of them, or none if one value is wrong."""

    person: str
    settings: tuple[Setting, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedSettings(ShownSettings):
    """The settings after a change, and the former values of those that changed.

    `jobs_left` counts the jobs that keep the old time zone `old_zone`.
    """

    before: tuple[Setting, ...]
    jobs_left: int
    old_zone: str
