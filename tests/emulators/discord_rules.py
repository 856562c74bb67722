"""The requests that Discord refuses, its error messages, and whom a message pings."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tests.emulators.discord_shapes import Json

MOST_CONTENT, MOST_ROWS, MOST_BUTTONS, MOST_CUSTOM_ID, MOST_LABEL = 2000, 5, 5, 100, 80
MOST_NONCE, MOST_EMBEDS, MOST_FILES, MOST_BYTES = 25, 10, 10, 10 * 1024 * 1024
_ACTION_ROW, _BUTTON, _LINK = 1, 2, 5
_USER, _ROLE = re.compile(r"<@!?(\d+)>"), re.compile(r"<@&(\d+)>")


class Refusal(Exception):
    """An error response."""

    def __init__(self, status: int, code: int, message: str, errors: Json | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.body: Json = {"message": message, "code": code}
        if errors is not None:
            self.body["errors"] = errors


def unknown(what: str, code: int) -> Refusal:
    """404 for something that does not exist."""
    return Refusal(404, code, f"Unknown {what}")


def malformed(path: str, code: str, message: str) -> Refusal:
    """400 `Invalid Form Body`, naming the field by a dotted path."""
    errors: Json = {"_errors": [{"code": code, "message": message}]}
    for piece in reversed(path.split(".")):
        errors = {piece: errors}
    return Refusal(400, 50035, "Invalid Form Body", errors)


def _too_long(path: str, most: int) -> Refusal:
    return malformed(path, "BASE_TYPE_BAD_LENGTH", f"Must be {most} or fewer in length.")


def check_message(body: Json, *, has_files: bool, is_new: bool) -> None:
    """Refuse invalid messages. An edit may omit fields."""
    content = body.get("content")
    if content is not None and not isinstance(content, str):
        raise malformed("content", "BASE_TYPE_STRING", "Must be a string.")
    # Astral characters count once: Discord counts code points, not UTF-16 units.
    if content is not None and len(content) > MOST_CONTENT:
        raise _too_long("content", MOST_CONTENT)
    nonce = body.get("nonce")
    if nonce is not None and len(str(nonce)) > MOST_NONCE:
        raise _too_long("nonce", MOST_NONCE)
    if len(body.get("embeds") or []) > MOST_EMBEDS:
        raise _too_long("embeds", MOST_EMBEDS)
    _check_components(body.get("components") or [])
    check_allowed_mentions(body.get("allowed_mentions"))
    filled = (content or "").strip() or body.get("embeds") or body.get("components")
    if is_new and not filled and not has_files:
        raise Refusal(400, 50006, "Cannot send an empty message")


def _check_components(rows: list[Json]) -> None:
    if len(rows) > MOST_ROWS:
        raise _too_long("components", MOST_ROWS)
    seen: set[str] = set()
    for row_number, row in enumerate(rows):
        here = f"components.{row_number}"
        if row.get("type") != _ACTION_ROW:
            raise malformed(f"{here}.type", "BASE_TYPE_CHOICES", "Value must be one of {1}.")
        parts = row.get("components") or []
        if not 1 <= len(parts) <= MOST_BUTTONS:
            raise malformed(
                f"{here}.components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length."
            )
        for number, part in enumerate(parts):
            _check_part(part, f"{here}.components.{number}", seen)


def _check_part(part: Json, here: str, seen: set[str]) -> None:
    custom_id = part.get("custom_id")
    if len(part.get("label") or "") > MOST_LABEL:
        raise _too_long(f"{here}.label", MOST_LABEL)
    if part.get("type") == _BUTTON and part.get("style") == _LINK:
        return
    if not custom_id:
        raise malformed(f"{here}.custom_id", "BASE_TYPE_REQUIRED", "This field is required")
    if len(custom_id) > MOST_CUSTOM_ID:
        raise _too_long(f"{here}.custom_id", MOST_CUSTOM_ID)
    if custom_id in seen:
        raise malformed(
            f"{here}.custom_id", "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id duplicated"
        )
    seen.add(custom_id)


def check_allowed_mentions(allowed: Any) -> None:
    """A kind that is parsed can't also be listed."""
    if not allowed:
        return
    for kind in ("users", "roles"):
        if kind in (allowed.get("parse") or []) and allowed.get(kind):
            raise malformed(
                "allowed_mentions",
                "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE",
                f'parse:["{kind}"] and {kind}: [ids...] are mutually exclusive.',
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Pings:
    """Whom a message pings."""

    users: list[int] = field(default_factory=list)
    roles: list[int] = field(default_factory=list)
    everyone: bool = False


def pings(content: str, allowed: Json | None, replied_to: int | None) -> Pings:
    """Whom the content and the reply ping under `allowed_mentions`. Without it: everybody."""
    users, roles = _distinct(_USER.findall(content)), _distinct(_ROLE.findall(content))
    everyone = "@everyone" in content or "@here" in content
    pings_replied = True
    if allowed is not None:
        parse = allowed.get("parse") or []
        listed = {
            kind: {int(one) for one in allowed.get(kind) or []} for kind in ("users", "roles")
        }
        users = [one for one in users if "users" in parse or one in listed["users"]]
        roles = [one for one in roles if "roles" in parse or one in listed["roles"]]
        everyone = everyone and "everyone" in parse
        pings_replied = bool(allowed.get("replied_user"))
    if replied_to is not None and pings_replied and replied_to not in users:
        users.append(replied_to)
    return Pings(users=users, roles=roles, everyone=everyone)


def _distinct(found: Iterable[str]) -> list[int]:
    return list(dict.fromkeys(int(one) for one in found))
