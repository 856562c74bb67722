"""Login links: random, stored as a hash, and valid for one login within minutes."""

import hashlib
import secrets

from agent_core.ids import PersonId
from agent_core.state.engine.database import Connection
from agent_core.state.people import audit, browser_logins
from agent_core.state.people.audit import AuditEntry
from gateway.texts import access

LINK_MINUTES = 10
"""Minutes until a link expires; a person who asks for one has the browser at hand."""
_BYTES = 32


def check_pages(pages: str, *, is_owner: bool) -> str:
    """Return a sentence that says why no address of pages can be given; "" if one can."""
    if pages:
        return ""
    return access.NO_CONSOLE_OWNER() if is_owner else access.NO_CONSOLE()


def make_link(
    connection: Connection, *, person_id: PersonId, pages: str, actor: str, now: int
) -> str:
    """Store a link for a person, in place of an earlier one; return its address.

    `pages` is the address of the server, and `actor` is who asked, as the audit trail names them.
    """
    secret = secrets.token_urlsafe(_BYTES)
    browser_logins.insert_link(
        connection,
        person_id=person_id,
        secret_hash=hash_secret(secret),
        now=now,
        expires_at=now + LINK_MINUTES * 60_000,
    )
    made = AuditEntry(
        person_id=person_id, actor=actor, action="console.link", detail="", created_at=now
    )
    audit.record(connection, made)
    return f"{pages}/login?link={secret}"


def hash_secret(secret: str) -> str:
    """Hash a secret; it is random, so it needs no salt and no slow hash."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
