"""Requests and answers of the operations on logins. Quick to import."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkFor:
    """Asks for a link to the pages of a person; "" means the owner."""

    person: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginLink:
    """A link that works once, for some minutes."""

    folder: str
    link: str
    minutes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenLogin:
    """An open login, with its times in milliseconds UTC.

    `folder` is the person's folder name; "" for a login from the printed address.
    """

    created_at: int
    expires_at: int
    folder: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenLogins:
    """The open logins of everybody."""

    logins: tuple[OpenLogin, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedLogins:
    """The number of logins that were ended."""

    ended: int
