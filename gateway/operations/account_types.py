"""Requests and answers of the operations on accounts. Quick to import."""

from dataclasses import dataclass
from typing import Literal

How = Literal["list", "code", "invitation", "claim", "local", "link", "out"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListAccounts:
    """Asks for the accounts of a person, by their folder."""

    person: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedAccount:
    """An account of a person; `how` says what lets it talk.

    It is `link` if only the person's other accounts may, and `out` if none of them may.

    `code` is an owner's yes to who waited, and `claim` the code that makes an owner.
    `since` and `linked_at` are in milliseconds UTC; `linked_at` is None if that is not known.
    """

    number: int
    platform: str
    user_id: str
    name: str
    how: How
    since: int
    is_linked: bool
    linked_at: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountList:
    """The accounts of a person, linked ones last."""

    accounts: tuple[ListedAccount, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnlinkAccount:
    """Asks to make a separate person of an account again, with everything that began there."""

    person: str
    number: int
