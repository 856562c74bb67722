"""Operations on API tokens: make, list and revoke them."""

import re
import secrets
from collections.abc import Mapping
from typing import Any, cast, get_args

from agent_core.state.engine.database import Connection
from agent_core.state.people import api_tokens, audit, people
from agent_core.state.people.api_tokens import ApiToken, TokenScope
from agent_core.state.people.audit import AuditEntry
from agent_core.state.people.people import Person
from gateway.errors import Declined
from gateway.operations.contract import (
    Answer,
    Operation,
    OperationContext,
    find_person,
    read_text,
)
from gateway.people.console_links import hash_secret

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,31}")
_PREFIX = "talaria_"
"""A prefix by which Talaria can recognise and mask a printed token."""
_BYTES = 32


async def create(context: OperationContext, asked: Answer) -> Answer:
    """Make a token for a person; only this answer contains its secret. Raises `Declined`."""
    name, slug, now = read_text(asked, "name"), read_text(asked, "person"), context.now()
    scope = _read_scope(asked)
    if not _NAME.fullmatch(name):
        raise Declined(
            "The name of a token has at most 32 letters, digits, spaces, dots, dashes and"
            " underscores, and begins with a letter or digit."
        )
    secret = _PREFIX + secrets.token_urlsafe(_BYTES)

    def work(connection: Connection) -> ApiToken:
        person = find_person(connection, slug)
        known = api_tokens.list_of(connection, person_id=person.id)
        if any(one.name.casefold() == name.casefold() for one in known):
            raise Declined(
                f"There is a token {name} of {slug} already; choose another name or revoke it."
            )
        _record(connection, person, "token.create", name, now)
        return api_tokens.insert(
            connection,
            person_id=person.id,
            name=name,
            scope=scope,
            secret_hash=hash_secret(secret),
            now=now,
        )

    made = await context.database.write("tokens.create", work)
    return {"number": made.id, "name": made.name, "folder": slug, "secret": secret}


async def list_tokens(context: OperationContext, _: Answer) -> Answer:
    """List the tokens of everybody, without their secrets."""

    def look(connection: Connection) -> list[dict[str, Any]]:
        return [
            {
                "number": one.id,
                "folder": person.slug,
                "name": one.name,
                "scope": one.scope,
                "created_at": one.created_at,
                "used_at": one.last_used_at,
            }
            for person in people.list_all(connection)
            for one in api_tokens.list_of(connection, person_id=person.id)
        ]

    return {"tokens": await context.database.read(look)}


async def revoke(context: OperationContext, asked: Answer) -> Answer:
    """Revoke a token by its number. Raises `Declined`."""
    number, now = asked.get("number"), context.now()
    if not isinstance(number, int):
        raise Declined("Give the number of a token.")

    def work(connection: Connection) -> tuple[str, str]:
        for person in people.list_all(connection):
            name = api_tokens.delete(connection, person_id=person.id, token_id=number)
            if name:
                _record(connection, person, "token.revoke", name, now)
                return person.slug, name
        raise Declined(f"There is no token {number}; `talaria tokens list` lists them.")

    folder, name = await context.database.write("tokens.revoke", work)
    return {"folder": folder, "name": name}


def _read_scope(asked: Answer) -> TokenScope:
    scope = asked.get("scope", "mcp")
    if scope not in get_args(TokenScope):
        raise Declined("The scope of a token is mcp, api or manage.")
    return cast(TokenScope, scope)


def _record(connection: Connection, person: Person, action: str, name: str, now: int) -> None:
    deed = AuditEntry(
        person_id=person.id, actor="house", action=action, detail=name, created_at=now
    )
    audit.record(connection, deed)


OPERATIONS: Mapping[str, Operation] = {
    "tokens.create": create,
    "tokens.list": list_tokens,
    "tokens.revoke": revoke,
}
"""The operations, by their names on the control socket."""
