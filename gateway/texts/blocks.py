"""What the program says about named blocks of memory, and about the identity of the assistant."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent_core.memory.approval import fence, show_difference
from agent_core.memory.shared import SharedList
from agent_core.state.memory.ledger import Change
from agent_core.tools.untrusted_text import flatten
from gateway.texts.people import quote_name

USAGE = (
    "/block new NAME 1000 what it is for: makes a block of at most 1000 characters, which I see in"
    " every talk that it is shared with.\n"
    "/block share NAME with PERSON, or here (in a room), or, as an owner, everyone; /block unshare"
    " NAME PERSON; /block unshare NAME me, where you no longer want to see it\n"
    "/block readonly NAME on or off; /block limit NAME 2000; /block describe NAME new words;"
    " /block undo NAME, which takes the newest change of its entries back (as an owner: /block undo"
    " team, for the team's); /block drop NAME"
)
NONE = "There is no named block of memory that you see here.\n\n" + USAGE
ONLY_IN_DIRECT = (
    "In a room I do only /block, /block NAME, /block new, and /block share or unshare NAME here."
    " The rest is between us: send it to me in a direct message."
)
BAD_LABEL = (
    "A block's name is one word of at most 40 letters, digits, - or _, with at least one letter,"
    " and none of my own words for blocks (new, share, team, …)."
)
BAD_LIMIT = "A block's limit is a number of characters, from 100 to 20,000."
NO_DESCRIPTION = "Say in a few words what the block is for, at most 300 characters."
BAD_DESCRIPTION = "I can't keep that description: {reason}."
BAD_BLOCK = "I can't keep that: it holds what looks like {secret}."
TAKEN = "There is a block of that name already. Choose another one."
UNKNOWN = "There is no block {name} that you see or have made. /block lists them."
NOT_YOURS = "Only who made the block {name} and owners of this house may do that."
ON_OR_OFF = "Say /block readonly {name} on, or /block readonly {name} off."
WITH_WHOM = (
    "Say with whom: a person as /whoami names them to themselves, an account like telegram:1234,"
    " everyone, or here, in a room."
)
ONLY_OWNERS_WITH_ALL = (
    "Everybody's prompt would show that: only an owner of this house shares a block with everyone."
    " With single people, or here in a room, you may."
)
HERE_NOWHERE = "here means a room: send that in the room."
NOBODY = "I know nobody who is called {name}."
SEVERAL = "Several people are called {name}. Name an account of theirs, like telegram:1234."
DROP = "Drop it"

EVERYONE, YOU = "everyone", "you"
_LONGEST_DIFF = 2500
_SHORT, _LONG = 80, 300
"""Characters of a description."""
_MOST_CHARACTERS = 1200
"""Discord takes 2,000 in a message, and what stands around a list needs its part."""
_NAMELESS = "a room without a name"


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockLine:
    """A block as a list of them shows it; `readers` is empty where that is nobody's business."""

    shared: SharedList
    readers: Sequence[str]
    is_mine: bool


def list_blocks(lines: Sequence[BlockLine]) -> str:
    """The blocks that somebody sees."""
    return "\n".join([*_cut([_describe(line, _SHORT) for line in lines]), "", USAGE])


def show_block(line: BlockLine) -> str:
    """One block with its entries."""
    entries = [f"- {' '.join(entry.split())}" for entry in line.shared.entries]
    return "\n".join([_describe(line, _LONG), *(_cut(entries) or ["It is empty."])])


def _cut(lines: Sequence[str]) -> list[str]:
    """As many lines as go into one message of any platform."""
    kept: list[str] = []
    room = _MOST_CHARACTERS
    for number, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0:
            return [*kept, f"… and {len(lines) - number} more"]
        kept.append(line)
    return kept


def _describe(line: BlockLine, longest: int) -> str:
    shared, block = line.shared, line.shared.block
    assert block is not None  # noqa: S101 - a line is one of a block
    notes = ["read-only"] if block.is_read_only else []
    notes += ["yours"] if line.is_mine else []
    notes += [f"seen by {', '.join(line.readers)}"] if line.readers else []
    more = f" ({'; '.join(notes)})" if notes else ""
    size = f"{shared.size:,}/{shared.limit:,} characters"
    return f"**{block.label}** [{size}]: {flatten(block.description, longest)}{more}"


def name_room(title: str) -> str:
    """A room by its title."""
    return quote_name(title) if title else _NAMELESS


def describe_new(label: str, limit: int, *, is_in_room: bool) -> str:
    """A block that was made."""
    who = "You and everyone in this room see it" if is_in_room else "So far only you see it"
    return (
        f"The block {label} is there, for at most {limit:,} characters. {who}. /block share {label}"
        " with NAME lets others see it and have me write in it."
    )


def describe_shared(label: str, whom: str, *, is_new: bool) -> str:
    """A block that somebody sees from now on."""
    if not is_new:
        return f"The block {label} is shared with {whom} already."
    return f"The block {label} is shared with {whom} from now on."


def tell_shared(name: str, label: str, description: str) -> str:
    """To whoever a block is shared with."""
    return (
        f"{quote_name(name)} shares a block of memory with you: {label} ({description}). I see it"
        " in our talks from now on, and may write in it when you ask. /block lists such blocks,"
        f" /block unshare {label} me ends it."
    )


def describe_unshared(label: str, whom: str, *, is_gone: bool) -> str:
    """A block that somebody does not see any more."""
    if not is_gone:
        return f"The block {label} was not shared with {whom}."
    return f"The block {label} is not shared with {whom} any more."


def describe_read_only(label: str, *, is_read_only: bool) -> str:
    """Whether the assistant may write in a block."""
    if is_read_only:
        return f"I write nothing in the block {label} from now on. Its file you may edit."
    return f"I may write in the block {label} from now on."


def describe_limit(label: str, limit: int) -> str:
    """How long a block may become."""
    return f"The block {label} may hold {limit:,} characters from now on."


def describe_description(label: str, description: str) -> str:
    """What a block is for."""
    return f"The block {label} is for this from now on: {description}"


def ask_to_drop(label: str, readers: Sequence[str]) -> str:
    """Before a block is dropped."""
    seen = f" It is seen by {', '.join(readers)}." if readers else ""
    return (
        f"Shall I drop the block {label}?{seen} Nobody sees it after that. What stood in it stays"
        f" in the ledger and in its file. /block drop {label} yes does it."
    )


def describe_dropped(label: str) -> str:
    """A block that is no more."""
    return f"The block {label} is dropped."


def tell_of_soul(row_id: int, change: Change) -> str:
    """A change of SOUL.md that nobody approved in a talk."""
    diff = show_difference(change.before or "", change.after or "", ("before", "now"))
    shown = f"\n{fence(diff)}" if len(diff) <= _LONGEST_DIFF else ""
    return (
        "SOUL.md, which says who I am, was changed by hand. It holds from the next fresh prompt"
        f" on. Both texts are in the ledger, row {row_id}; if that was none of you, put the old one"
        f" back.{shown}"
    )
