"""Sentences of `/undo`: what it took back, and which change it asks about first."""

from agent_core.localization import Text

TAKEN_BACK = Text("↩ Taken back. {done}")
BRING_BACK = Text("Bring it back")
_HAS_COME = Text("The reminder “{title}” has come already.")
_WAS_DELETED = Text("The reminder “{title}” was deleted already.")
_IS_BACK = Text("The reminder “{title}” is back already.")
_KEPT = Text(
    "{reason}\nSo there's nothing I can take back of your last change ({change}). Send /undo again"
    " for the change before it."
)
_KEPT_NAMED = Text("{reason}\nSo there's nothing I can take back here: {change}.")
TAKEN_ALREADY = Text("That was taken back already.")
NO_WAY_BACK = Text("I can't bring that back any more.")
FIXED = Text("Your last message changed nothing that I can take back ({change}).")
STILL_ASKED = Text("My question above is still open.")
FORGOT = Text("/forget deletes permanently, so I can't take it back.")
_OLD = Text(
    "The last change here that I can take back was made earlier ({moment}): {change}\n"
    "Shall I take it back?"
)
_ELSEWHERE = Text(
    "Nothing is left to take back in this chat. The last change elsewhere ({moment}, {place}):"
    " {change}\nShall I take it back?"
)
_OF_OTHERS = Text(
    "You've changed nothing here that I can take back. The newest change by someone else"
    " ({moment}): {change}\nShall I take that one back?"
)
_BEFORE = Text("{reason} The change before that ({moment}): {change}\nShall I take that one back?")
OTHER_WAYS = {
    "new": Text("you began a new conversation; /sessions leads back to an earlier one"),
    "resume": Text("you went to another conversation; /sessions leads back"),
    "branch": Text("you went on in a copy of the conversation; /sessions leads back"),
    "link": Text("you linked accounts; /accounts lists them, and /unlink unlinks one"),
    "unlink": Text("you unlinked an account; /link links it again"),
    "invite": Text("you made an invitation; you can cancel it on the page “People and groups”"),
    "approve": Text("somebody was let in; `talaria people erase` removes a person"),
    "approvals": Text("you revoked a permission; I ask again when I need it"),
    "connections": Text("your connections changed; /connections shows them"),
    "block": Text("you changed a shared block; /block undo NAME takes its newest change back"),
}
"""What commands change that have another way back, or none; by the name of the command."""
_UNNAMED = Text("a change")
_MEMORY = Text("Memory: {entry}")
_MEMORY_DELETED = Text("Removed from memory: {entry}")
_FILES = Text("Files: {files}")
_SKILL = Text("Skill “{name}”")


def ask(
    moment: str, did: str, *, elsewhere: str = "", reason: str = "", is_of_others: bool = False
) -> str:
    """Ask whether a change is meant that is old, or made `elsewhere`, in a place with that name.

    With a `reason`, the last change can't be taken back, and this is the one before it.
    """
    change = f"\n{did}" if "\n" in did else did or _UNNAMED()
    if is_of_others:
        return _OF_OTHERS(moment=moment, change=change)
    if reason:
        return _BEFORE(reason=reason, moment=moment, change=change)
    if elsewhere:
        return _ELSEWHERE(moment=moment, place=elsewhere, change=change)
    return _OLD(moment=moment, change=change)


def describe_past(title: str, state: str) -> str:
    """Say why nothing of a reminder is left to take back; `state` is that of its job."""
    told = {"over": _HAS_COME, "dropped": _WAS_DELETED}.get(state, _IS_BACK)
    return told(title=title)


def describe_kept(reason: str, did: str, *, is_last: bool) -> str:
    """Say why nothing is taken back, and of which change; `is_last` if a bare `/undo` meant it."""
    if not did:
        return reason
    told = _KEPT if is_last else _KEPT_NAMED
    return told(reason=reason, change=did.replace("\n", "; "))


def name_memory(before: str, after: str) -> str:
    """Name a change of an entry; `after` is "" if it was removed."""
    return _MEMORY(entry=after) if after else _MEMORY_DELETED(entry=before)


def name_files(names: str) -> str:
    """Name a change of files."""
    return _FILES(files=names)


def name_skill(name: str) -> str:
    """Name a change of a skill."""
    return _SKILL(name=name)
