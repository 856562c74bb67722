"""Sentences about named blocks of memory, and about the assistant's identity."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent_core.localization import Text, join_list
from agent_core.memory.approval import fence, show_difference
from agent_core.memory.shared import SharedList
from agent_core.state.memory.ledger import Change
from agent_core.transcript import flatten
from gateway.texts.people import quote_name

USAGE = Text(
    "With /block you can:\n"
    "- /block: list your blocks (notes to share)\n"
    "- /block new NAME 1000 DESCRIPTION: make a block of at most 1000 characters\n"
    "- /block share NAME with PERSON: share a block. In a group, PERSON can be “here”; for"
    " owners, also “everyone”\n"
    "- /block unshare NAME PERSON: stop sharing it; /block unshare NAME me hides it from you"
    "\n"
    "- /block readonly NAME on: stop me from changing it\n"
    "- /block limit NAME 2000: set its size\n"
    "- /block describe NAME TEXT: set its description\n"
    "- /block undo NAME: undo its newest change\n"
    "- /block delete NAME: delete it"
)
NONE = Text("You have no shared notes (blocks) yet. Ask me to make one.")
ONLY_IN_DIRECT = Text(
    "In a group, you can only list, show, make, share and unshare blocks. Send me this in a "
    "direct message instead."
)
BAD_LABEL = Text(
    "Choose another name: one word of at most 40 letters, digits, - or _, with at least one"
    " letter. It can't be one of the commands for blocks, such as “new” or “share”."
)
BAD_LIMIT = Text("Choose a limit from 100 to 20,000 characters.")
NO_DESCRIPTION = Text("Describe the block's purpose in at most 300 characters.")
HIDDEN_IN_DESCRIPTION = Text(
    "That description contains invisible or control characters. Send it again without them."
)
SECRET_FOUND = Text(
    "I can't save that, because it seems to contain a password or a key. Send it again without"
    " that."
)
TAKEN = Text("There's already a block with that name. Choose another one.")
UNKNOWN = Text("You have no block called {name}. /block lists yours.")
NOT_YOURS = Text("Only owners, and whoever made the block {name}, can do that.")
ON_OR_OFF = Text(
    "To stop me from changing the block, send /block readonly {name} on. To let me change it again,"
    " send /block readonly {name} off."
)
WITH_WHOM = Text(
    "Add a person's name, an account such as telegram:1234, or the word “everyone”. In a"
    " group, you can also write the word “here”."
)
ONLY_OWNERS_WITH_ALL = Text(
    "Only an owner can share a block with everyone. You can share it with one person"
    " after another. To share it with a group, send this command there."
)
HERE_NOWHERE = Text(
    "“here” stands for the group in which you write, so send the command in the group that"
    " you mean."
)
NOBODY = Text(
    "I don't know anyone called {name}. Check the name, or use an account such as telegram:1234."
)
SEVERAL = Text("Several people are called {name}. Use an account such as telegram:1234 instead.")
DROP = Text("Delete it")
EVERYONE = Text("everyone")
YOU = Text("you")

_READ_ONLY = Text("read-only")
_MINE = Text("you made it")
_READERS = Text("shared with {names}")
_HEAD = Text("**{label}** [{size:,}/{limit:,} characters]: {description}")
_EMPTY = Text("This block is empty.")
_MORE = Text("… and {count} more")
_MADE = Text(
    "I've made the block “{label}” for at most {limit:,} characters. Only you can see"
    " it so far. /block share {label} with PERSON lets others see and change it."
)
_MADE_IN_ROOM = Text(
    "I've made the block “{label}” for at most {limit:,} characters. You and everyone"
    " here can see it. /block share {label} with PERSON lets others see and change it."
)
_SHARED = Text("The block “{label}” is now shared with {audience}.")
_SHARED_ALREADY = Text("The block “{label}” is already shared with {audience}.")
_SHARED_WITH_YOU = Text(
    "{name} shared the block “{label}” ({description}) with you. I can read it in our"
    " conversations and change it when you ask. /block lists your blocks; /block unshare"
    " {label} me hides it."
)
_UNSHARED = Text("The block “{label}” is no longer shared with {audience}.")
_NOT_SHARED = Text("The block “{label}” wasn't shared with {audience}.")
_NOW_READ_ONLY = Text(
    "I won't change the block “{label}” any more. Its file can still be edited on the"
    " computer that runs me."
)
_NOW_WRITABLE = Text("I can now change the block “{label}”.")
NEW_LIMIT = Text("The block “{label}” can now hold {limit:,} characters.")
NEW_DESCRIPTION = Text("The block “{label}” now has this description: {description}")
_ASK_DROP = Text(
    "Delete the block “{label}”? Nobody will see it any more; its file and history stay on"
    " disk. To confirm, send: /block delete {label} yes"
)
_ASK_DROP_SHARED = Text(
    "Delete the block “{label}”? {names} use it, too. Nobody will see it any more; its file"
    " and history stay on disk. To confirm, send: /block delete {label} yes"
)
BLOCKS = Text("Shared notes (blocks)")
ABOUT_BLOCKS = Text(
    "A block holds notes for several people. I read it in each conversation with one of them, and"
    " change it when one of them asks."
)
NO_BLOCKS = Text("You have no shared notes yet.")
SIZE = Text("{size:,} of {limit:,} characters")
ONLY_READ = Text("I don't change it")
SEEN_BY = Text("{name} can see it")
SEEN_BY_NOBODY = Text("Nobody else sees it.")
HIDE = Text("Hide")
HIDE_FROM = Text("Hide {label} from {name}")
HIDE_FROM_ME = Text("Hide {name} from me")
CHANGE_NAMED = Text("Share or change {name}")
SHARE_WITH = Text("Share with (a person's name, or “everyone” if you are an owner)")
SHARE_NAMED = Text("Share {name}")
DESCRIPTION = Text("What it is for")
LIMIT = Text("At most this many characters (100 to 20,000)")
KEEP_AS_IS = Text("The assistant doesn't change it")
ABOUT_DROP = Text("Nobody will see it any more. Its file and history stay on disk.")
DROP_NAMED = Text("Delete {name}")
MAKE = Text("Make a block")
NAME = Text("Name")
HINT_NAME = Text("One word, such as shopping.")
DROPPED = Text("I've deleted the block “{label}”.")
_BEFORE, _NOW = Text("before"), Text("now")
_SOUL_CHANGED = Text(
    "Someone changed my character in the file SOUL.md. New conversations use the new text."
    " `talaria memory log` shows the old and the new text (row {row}). If you didn't want"
    " this, put the old one back."
)
_LONGEST_DIFF = 2500
_SHORT, _LONG = 80, 300
"""Characters of a description."""
_MOST_CHARACTERS = 1200
"""Discord takes 2,000 in a message, and the text around a list needs its part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockLine:
    """A block as a list shows it; `readers` is empty if they are hidden."""

    shared: SharedList
    readers: Sequence[str]
    is_mine: bool


def list_blocks(lines: Sequence[BlockLine]) -> str:
    """List the blocks that a person can see; without any, say how to make one."""
    shown = _cut([_describe(line, _SHORT) for line in lines]) or [NONE()]
    return "\n".join([*shown, "", USAGE()])


def show_block(line: BlockLine) -> str:
    """Show one block with its entries."""
    entries = [f"- {' '.join(entry.split())}" for entry in line.shared.entries]
    return "\n".join([_describe(line, _LONG), *(_cut(entries) or [_EMPTY()])])


def _cut(lines: Sequence[str]) -> list[str]:
    """Keep as many lines as fit into one message of any platform."""
    kept: list[str] = []
    left = _MOST_CHARACTERS
    for number, line in enumerate(lines):
        left -= len(line) + 1
        if left < 0:
            return [*kept, _MORE(count=len(lines) - number)]
        kept.append(line)
    return kept


def _describe(line: BlockLine, longest: int) -> str:
    shared, block = line.shared, line.shared.block
    assert block is not None  # noqa: S101 - a line is one of a block
    notes = [_READ_ONLY()] if block.is_read_only else []
    notes += [_MINE()] if line.is_mine else []
    notes += [_READERS(names=join_list(line.readers))] if line.readers else []
    description = flatten(block.description, longest)
    head = _HEAD(label=block.label, size=shared.size, limit=shared.limit, description=description)
    return f"{head} ({'; '.join(notes)})" if notes else head


def describe_new(label: str, limit: int, *, is_in_room: bool) -> str:
    """Confirm a new block."""
    return (_MADE_IN_ROOM if is_in_room else _MADE)(label=label, limit=limit)


def describe_shared(label: str, audience: str, *, is_new: bool) -> str:
    """Confirm that a block is shared."""
    return (_SHARED if is_new else _SHARED_ALREADY)(label=label, audience=audience)


def describe_shared_with_you(name: str, label: str, description: str) -> str:
    """Tell a person that a block was shared with them."""
    return _SHARED_WITH_YOU(name=quote_name(name), label=label, description=description)


def describe_unshared(label: str, audience: str, *, was_shared: bool) -> str:
    """Confirm that a block is no longer shared."""
    return (_UNSHARED if was_shared else _NOT_SHARED)(label=label, audience=audience)


def describe_read_only(label: str, *, is_read_only: bool) -> str:
    """Say whether the assistant may change a block."""
    return (_NOW_READ_ONLY if is_read_only else _NOW_WRITABLE)(label=label)


def ask_to_drop(label: str, readers: Sequence[str]) -> str:
    """Ask whether to delete a block."""
    if not readers:
        return _ASK_DROP(label=label)
    return _ASK_DROP_SHARED(label=label, names=join_list(readers))


def describe_soul_change(row_id: int, change: Change) -> str:
    """Tell owners that somebody edited SOUL.md by hand."""
    diff = show_difference(change.before or "", change.after or "", (_BEFORE(), _NOW()))
    shown = f"\n{fence(diff)}" if len(diff) <= _LONGEST_DIFF else ""
    return _SOUL_CHANGED(row=row_id) + shown
