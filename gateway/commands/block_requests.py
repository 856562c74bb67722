"""Requests about memory blocks: their arguments, and the blocks and readers that they name."""

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass

from agent_core.ids import PersonId
from agent_core.memory.files import find_flaw
from agent_core.state.engine.database import Connection
from agent_core.state.memory import blocks
from agent_core.state.memory.blocks import Block
from agent_core.state.people import people
from agent_core.tools.secret_scan import find_secret
from gateway.commands.registry import Call
from gateway.texts import blocks as block_texts
from gateway.texts.people import quote_name
from gateway.texts.rooms import name_room

_LABEL = re.compile(r"(?=.*[^\W\d_])[\w-]{1,40}")
_BLANK_LETTERS = re.compile("[\u115f\u1160\u3164\uffa0]")
"""Characters that Unicode counts as letters but fonts draw as blanks."""
LONGEST_DESCRIPTION = 300
HERE, EVERYONE, ME = "here", "everyone", "me"
"""Words in an argument that name a reader without a person's name."""
_LEAST_LIMIT, _MOST_LIMIT = 100, 20_000


def read_label(word: str) -> str:
    """Normalize a label that the user typed."""
    return unicodedata.normalize("NFC", word.strip()).casefold()


def is_label(label: str, reserved: Collection[str]) -> bool:
    """Return whether a word may name a block; `reserved` words may not."""
    is_word = _LABEL.fullmatch(label) and not _BLANK_LETTERS.search(label)
    return bool(is_word) and label not in reserved


def parse_target(rest: str) -> str:
    """Return the reader that an argument names, without "with" or "from"."""
    words = " ".join(rest.split()).casefold()
    return re.sub(r"^(?:with|from) ", "", words)


def read_limit(word: str) -> int | None:
    """Read a limit in characters; None if it is no number or out of bounds."""
    digits = word.replace(",", "").replace(".", "")
    if not digits.isdecimal() or len(digits) > len(str(_MOST_LIMIT)):
        return None
    limit = int(digits)
    return limit if _LEAST_LIMIT <= limit <= _MOST_LIMIT else None


def find_fault(description: str) -> str:
    """Return why a description is invalid, or an empty text. Prompts show a description on one
    line.
    """
    if not description or len(description) > LONGEST_DESCRIPTION:
        return block_texts.NO_DESCRIPTION()
    if find_flaw(description):
        return block_texts.HIDDEN_IN_DESCRIPTION()
    return block_texts.SECRET_FOUND() if find_secret(description) else ""


class BlockRefused(Exception):
    """A request is refused and changes nothing. The text is the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockRequest:
    """A request about a block: its name, and the words after it."""

    label: str
    rest: str
    call: Call
    platforms: Collection[str]

    @property
    def shown(self) -> str:
        """The name, quoted for use in a sentence."""
        return quote_name(self.label)


def list_for(connection: Connection, call: Call) -> list[Block]:
    """List the blocks that the command may name in this chat."""
    if call.room:
        return blocks.list_visible(connection, person_id=call.room.person_id)
    if call.person.is_owner:
        return blocks.list_all(connection)
    made = blocks.list_made(connection, person_id=call.person.id)
    seen = blocks.list_visible(connection, person_id=call.person.id)
    by_label = {block.label: block for block in (*seen, *made)}
    return [by_label[label] for label in sorted(by_label)]


def find_own(connection: Connection, request: BlockRequest) -> Block:
    """Return the named block if the caller may change it. Raises `BlockRefused`.

    A block that the caller neither sees nor made counts as unknown.
    """
    block, person = find_block(connection, request), request.call.person
    if block.made_by == person.id or person.is_owner:
        return block
    raise BlockRefused(block_texts.NOT_YOURS(name=request.shown))


def find_block(connection: Connection, request: BlockRequest) -> Block:
    """Return the named block. Raises `BlockRefused`.

    Owners find every block, others only those that they see or made.
    """
    call = request.call
    known = blocks.list_all(connection) if call.person.is_owner else _list_own(connection, call)
    for block in known:
        if request.label in (block.label, str(block.id)):
            return block
    raise BlockRefused(block_texts.UNKNOWN(name=request.shown))


def _list_own(connection: Connection, call: Call) -> list[Block]:
    made = blocks.list_made(connection, person_id=call.person.id)
    return [*made, *blocks.list_visible(connection, person_id=call.person.id)]


def find_target(connection: Connection, request: BlockRequest) -> tuple[PersonId, str]:
    """Return the named reader with their display name. Raises `BlockRefused`."""
    whom, room = parse_target(request.rest), request.call.room
    if not whom:
        raise BlockRefused(block_texts.WITH_WHOM())
    if whom == HERE:
        if room is None:
            raise BlockRefused(block_texts.HERE_NOWHERE())
        return room.person_id, name_room(room.shown_name)
    if whom == ME:
        return request.call.person.id, block_texts.YOU()
    if whom == EVERYONE:
        return blocks.make_team(connection, now=request.call.now), block_texts.EVERYONE()
    platform, _, user_id = whom.partition(":")
    account = people.find_account(connection, platform=platform, user_id=user_id)
    found = [
        person
        for person in people.list_all(connection)
        if (account and account.person_id == person.id)
        or whom in (person.name.casefold(), person.slug)
    ]
    if len(found) != 1:
        why = block_texts.SEVERAL if found else block_texts.NOBODY
        raise BlockRefused(why(name=quote_name(whom)))
    return found[0].id, quote_name(found[0].name)
