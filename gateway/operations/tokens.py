"""Operations on API tokens: make, list and revoke them."""

import re
import secrets
from collections.abc import Mapping, Sequence

from agent_core.state.engine.database import Connection
from agent_core.state.people import api_tokens, audit, people
from agent_core.state.people.api_tokens import ApiToken
from agent_core.state.people.audit import AuditEntry
from agent_core.state.people.people import Person
from gateway.errors import Declined, Mistaken
from gateway.operations.contract import Operation, OperationContext, find_person, note_deed
from gateway.operations.tokens_types import (
    CreateToken,
    ListedToken,
    ListedTokens,
    ListTokens,
    MadeToken,
    RevokedToken,
    RevokeToken,
)
from gateway.operations.wire import typed
from gateway.people.console_links import hash_secret
from gateway.texts import tokens as texts

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,31}")
_PREFIX = "talaria_"
"""A prefix by which Talaria can recognise and mask a printed token."""
_BYTES = 32


async def create(context: OperationContext, asked: CreateToken) -> MadeToken:
    """Make a token for a person; only this answer contains its secret. Raises `Declined`."""
    name = asked.name.strip()
    if not _NAME.fullmatch(name):
        raise Mistaken(texts.BAD_NAME())
    secret = _PREFIX + secrets.token_urlsafe(_BYTES)

    def work(connection: Connection) -> tuple[Person, ApiToken]:
        person = find_person(connection, asked.person)
        known = api_tokens.list_of(connection, person_id=person.id)
        if any(one.name.casefold() == name.casefold() for one in known):
            raise Declined(texts.TAKEN(name=name))
        _record(context, connection, person, "token.create", name)
        made = api_tokens.insert(
            connection,
            person_id=person.id,
            name=name,
            scope=asked.scope,
            secret_hash=hash_secret(secret),
            now=context.now(),
        )
        note_deed(
            context,
            connection,
            undo=f"tokens revoke {made.id}",
            redo="",
            did=texts.MADE(name=name),
        )
        return person, made

    person, made = await context.database.write("tokens.create", work)
    return MadeToken(number=made.id, name=made.name, folder=person.slug, secret=secret)


async def list_tokens(context: OperationContext, asked: ListTokens) -> ListedTokens:
    """List tokens without their secrets. Raises `Mistaken`."""

    def look(connection: Connection) -> tuple[ListedToken, ...]:
        return tuple(
            ListedToken(
                number=one.id,
                folder=person.slug,
                name=one.name,
                scope=one.scope,
                created_at=one.created_at,
                used_at=one.last_used_at,
            )
            for person in _list_holders(connection, asked.person)
            for one in api_tokens.list_of(connection, person_id=person.id)
        )

    return ListedTokens(tokens=await context.database.read(look))


async def revoke(context: OperationContext, asked: RevokeToken) -> RevokedToken:
    """Revoke a token by its number, for good: its secret is not stored. Raises `Mistaken`."""

    def work(connection: Connection) -> RevokedToken:
        for person in _list_holders(connection, asked.person):
            known = api_tokens.list_of(connection, person_id=person.id)
            if any(one.id == asked.number for one in known):
                name = end(connection, person, asked.number)
                _record(context, connection, person, "token.revoke", name)
                redo, did = f"tokens revoke {asked.number}", texts.ENDED_FOR_GOOD(name=name)
                note_deed(context, connection, undo="", redo=redo, did=did)
                return RevokedToken(name=name, folder=person.slug)
        raise Mistaken(texts.UNKNOWN(number=asked.number))

    return await context.database.write("tokens.revoke", work)


def end(connection: Connection, person: Person, number: int) -> str:
    """End a token of a person in the caller's transaction; return its name. Raises `Mistaken`."""
    name = api_tokens.delete(connection, person_id=person.id, token_id=number)
    if not name:
        raise Mistaken(texts.UNKNOWN(number=number))
    return name


def _list_holders(connection: Connection, name: str) -> Sequence[Person]:
    return [find_person(connection, name)] if name else people.list_all(connection)


def _record(
    context: OperationContext, connection: Connection, person: Person, action: str, name: str
) -> None:
    deed = AuditEntry(
        person_id=person.id,
        actor=f"person:{person.id}" if context.actor == "person" else context.actor,
        action=action,
        detail=name,
        created_at=context.now(),
    )
    audit.record(connection, deed)


OPERATIONS: Mapping[str, Operation] = {
    "tokens.create": typed(create),
    "tokens.list": typed(list_tokens),
    "tokens.revoke": typed(revoke),
}
"""The operations, by their names on the control socket."""
