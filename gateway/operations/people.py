"""Operations on people: list them, invite them and let them in."""

from collections.abc import Mapping

from adapters.abilities import CanInvite, SpellsCommands
from adapters.contract import ChatAdapter
from agent_core.ids import PersonId
from agent_core.state.engine.database import Connection
from agent_core.state.people import codes, people
from agent_core.state.queues import outbox
from agent_core.state.queues.outbox import OutboxRow
from gateway.errors import Declined, Mistaken
from gateway.operations.contract import Operation, OperationContext
from gateway.operations.people_types import (
    Approve,
    CancelCode,
    Cancelled,
    ClaimCode,
    Entrances,
    Invitation,
    InvitationLink,
    Invite,
    ListedPeople,
    ListedPerson,
    NamedPerson,
    NameOwner,
    Nothing,
    OpenInvitation,
    WaitingAccount,
)
from gateway.operations.wire import typed
from gateway.people import admission
from gateway.people.admission import new_claim_code
from gateway.texts import general

_LONGEST_NAME = 80


async def list_people(context: OperationContext, _: Nothing) -> ListedPeople:
    """List everyone who may talk, with their accounts."""

    def look(connection: Connection) -> ListedPeople:
        return ListedPeople(
            people=tuple(
                ListedPerson(
                    name=person.name,
                    role=person.role,
                    folder=person.slug,
                    accounts=tuple(
                        f"{account.platform}:{account.user_id}"
                        for account in people.list_accounts(connection, person_id=person.id)
                    ),
                )
                for person in people.list_all(connection)
            )
        )

    return await context.database.read(look)


async def make_claim_code(context: OperationContext, _: Nothing) -> ClaimCode:
    """Make a new claim code, which replaces earlier codes."""
    now = context.now()
    return ClaimCode(code=await context.database.write("people.code", new_claim_code, now=now))


def clean_name(words: str) -> str:
    """Return a name without surplus spaces. Raises `Declined` if it is none."""
    name = " ".join(words.split())
    if not name.isprintable() or not 0 < len(name) <= _LONGEST_NAME:
        raise Declined(general.NAME_WRONG(most=_LONGEST_NAME))
    return name


async def name_owner(context: OperationContext, asked: NameOwner) -> NamedPerson:
    """Name the owner; the first account of an owner will belong to this person.

    Raises `Declined`.
    """
    name, now = clean_name(asked.name), context.now()

    def work(connection: Connection) -> None:
        owner = people.find_owner(connection)
        if owner is None:
            people.insert(connection, slug="owner", name=name, role="owner", now=now)
        else:
            people.rename(connection, person_id=owner.id, name=name)

    await context.database.write("people.name_owner", work)
    context.forget_known()
    return NamedPerson(name=name)


async def invite(context: OperationContext, asked: Invite) -> Invitation:
    """Invite somebody: a code lets one account in, within a week. Raises `Declined`."""
    guest = clean_name(asked.guest) if asked.guest.strip() else ""
    now, actor = context.now(), context.actor

    code = await context.database.write("people.invite", make_code, guest, actor, now)
    return describe_invitation(guest, code, context.scheduling.load_platforms(), now)


def make_code(connection: Connection, guest: str, actor: str, now: int) -> str:
    """Make the code of an invitation, and record who did."""
    return admission.invite(connection, guest, actor, now)


def admit(
    connection: Connection, key: str | int, zone: str, now: int, *, by: PersonId | None = None
) -> tuple[str, OutboxRow] | str:
    """Admit whoever waits with a code or number, and welcome them; or say why not."""
    approved = admission.approve(connection, key, zone, now, by=by)
    if isinstance(approved, str):
        return approved
    return approved.name, outbox.enqueue(connection, approved.greeting, now=now)


def describe_invitation(
    guest: str, code: str, adapters: Mapping[str, ChatAdapter], now: int
) -> Invitation:
    """Return an invitation with the addresses that open the chat with the bot."""
    links = [
        _link(name, adapter, code)
        for name, adapter in sorted(adapters.items())
        if name not in admission.UNATTENDED
    ]
    return Invitation(
        guest=guest, code=code, expires_at=now + admission.INVITATION_LASTS, links=tuple(links)
    )


def _link(platform: str, adapter: ChatAdapter, code: str) -> InvitationLink:
    address = adapter.invite(f"join-{code}") if isinstance(adapter, CanInvite) else None
    is_whole = isinstance(adapter, CanInvite) and adapter.invites_with_words
    prefix = adapter.command_prefix if isinstance(adapter, SpellsCommands) else "/"
    command = "" if is_whole and address else f"{prefix}join {code}"
    return InvitationLink(platform=platform, address=address or "", command=command)


async def list_entrances(context: OperationContext, _: Nothing) -> Entrances:
    """List the accounts that wait to be let in, each with its newest code, and the invitations."""
    now = context.now()
    paired = await context.database.read(codes.list_open, purpose="pairing", now=now)
    # Whoever writes again after an hour gets a further code; the earlier ones stay valid.
    newest: dict[tuple[str | None, str | None], codes.Code] = {}
    for one in paired:
        newest.setdefault((one.platform, one.user_id), one)
    invited = await context.database.read(codes.list_open, purpose="invite", now=now)
    return Entrances(
        waiting=tuple(
            WaitingAccount(
                number=one.id,
                platform=one.platform or "",
                name=one.display_name or "",
                user_id=one.user_id or "",
                created_at=one.created_at,
                expires_at=one.expires_at,
            )
            for one in newest.values()
        ),
        invitations=tuple(
            OpenInvitation(
                number=one.id,
                guest=one.display_name or "",
                created_at=one.created_at,
                expires_at=one.expires_at,
            )
            for one in invited
        ),
    )


async def cancel(context: OperationContext, asked: CancelCode) -> Cancelled:
    """Cancel an open invitation, or all codes of an account that waits. Raises `Mistaken`."""
    now = context.now()

    def work(connection: Connection) -> Cancelled:
        found = _find_code(connection, asked.number, now)
        codes.use(connection, code_id=found.id, now=now)
        if found.platform and found.user_id:
            account = {"platform": found.platform, "user_id": found.user_id}
            codes.retire_pairings(connection, **account, now=now)
        name = found.display_name or found.user_id or ""
        return Cancelled(name=name, has_waited=found.purpose == "pairing")

    return await context.database.write("people.cancel", work)


async def approve(context: OperationContext, asked: Approve) -> NamedPerson:
    """Admit whoever waits with this code or number, and welcome them. Raises `Declined`."""
    code, now = (asked.code or "").strip(), context.now()
    if not code and asked.number is None:
        raise Declined(general.NO_CODE())

    key = code if asked.number is None else asked.number
    done = await context.database.write("people.approve", admit, key, "", now)
    if isinstance(done, str):
        raise Declined(done)
    name, welcome = done
    context.forget_known()
    context.enqueue([welcome])
    return NamedPerson(name=name)


def _find_code(connection: Connection, number: int, now: int) -> codes.Code:
    """Return an open invitation or a waiting account by its number. Raises `Mistaken`."""
    purposes: tuple[codes.Purpose, ...] = ("pairing", "invite")
    for purpose in purposes:
        for one in codes.list_open(connection, purpose=purpose, now=now):
            if one.id == number:
                return one
    closed = codes.find_pairing(connection, code=number)
    raise Mistaken(
        admission.explain_closed(connection, closed) if closed else general.CODE_INVALID()
    )


OPERATIONS: Mapping[str, Operation] = {
    "people.list": typed(list_people),
    "people.claim": typed(make_claim_code),
    "people.name_owner": typed(name_owner),
    "people.invite": typed(invite),
    "people.entrances": typed(list_entrances),
    "people.cancel": typed(cancel),
    "people.approve": typed(approve),
}
"""The operations, by their names on the control socket."""
