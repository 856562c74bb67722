"""Login links: random, stored as a hash, and valid for one login within minutes."""

import hashlib
import ipaddress
import secrets
from urllib.parse import urlsplit

from agent_core.ids import PersonId
from agent_core.state.engine.database import Connection
from agent_core.state.people import audit, browser_logins
from agent_core.state.people.audit import AuditEntry
from gateway.texts import access

LINK_MINUTES = 10
"""Minutes until a link expires; a person who asks for one has the browser at hand."""
_BYTES = 32
_PATH = "/login?link="


def check_pages(pages: str, *, is_owner: bool) -> str:
    """Return a sentence that says why no address of pages can be given; "" if one can."""
    if pages:
        return ""
    return access.NO_CONSOLE_OWNER() if is_owner else access.NO_CONSOLE()


def make_link(pages: str) -> str:
    """Make the address of a new link below the address of the server; `store_link` opens it."""
    return f"{pages}{_PATH}{secrets.token_urlsafe(_BYTES)}"


def reaches_other_devices(link: str) -> bool:
    """Return whether a link may work on another device, such as the phone of its reader."""
    host = urlsplit(link).hostname or ""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host != "localhost"
    return not (address.is_loopback or address.is_unspecified)


def store_link(
    connection: Connection, link: str, *, person_id: PersonId, actor: str, now: int
) -> None:
    """Let a link log a person in, in place of an earlier one.

    `actor` is who asked, as the audit trail names them.
    """
    secret = link.rpartition(_PATH)[2]
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


def hash_secret(secret: str) -> str:
    """Hash a secret; it is random, so it needs no salt and no slow hash."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
