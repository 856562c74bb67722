"""Requests and answers of the operations on people. Quick to import."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Nothing:
    """Asks for everything there is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedPerson:
    """A person who may talk. `folder` names them in commands; accounts are `platform:id`."""

    name: str
    role: str
    folder: str
    accounts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedPeople:
    """Everyone who may talk."""

    people: tuple[ListedPerson, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimCode:
    """A code that makes an owner of the account that sends it."""

    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Invite:
    """Asks for an invitation; `guest` is the name of whom it is for."""

    guest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class InvitationLink:
    """A way to use an invitation: the address of the bot on a platform, "" if it is not known.

    The invited person writes the `command` there; "" if the address sends it on its own.
    """

    platform: str
    address: str
    command: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """An invitation: its code, which only this answer contains, and the ways to use it."""

    guest: str
    code: str
    expires_at: int
    links: tuple[InvitationLink, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenInvitation:
    """An invitation that nobody has used yet. Times are in milliseconds UTC."""

    number: int
    guest: str
    created_at: int
    expires_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingAccount:
    """An account that has asked to be let in, with a code that an owner may approve."""

    number: int
    platform: str
    name: str
    user_id: str
    created_at: int
    expires_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrances:
    """Lists who waits to be let in, and the open invitations."""

    waiting: tuple[WaitingAccount, ...]
    invitations: tuple[OpenInvitation, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Approve:
    """Names who is let in: by the code that they got, or by the number in the list."""

    code: str | None = None
    number: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelCode:
    """Names an open invitation, or an account that waits, by its number."""

    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancelled:
    """Names whom an invitation was for, or who waited to be let in and was refused."""

    name: str
    has_waited: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedPerson:
    """The name of a person after a change."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NameOwner:
    """Names the owner."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PickPerson:
    """Names a person by their folder."""

    slug: str
