"""What the program says about rooms, and about who may see what of a person's memory."""

from collections.abc import Sequence

from agent_core.state.people.rooms import Mode
from gateway.texts.people import quote_name

ONLY_IN_ROOMS = "That is about a room: send it to me in one."
ONLY_IN_DIRECT = "That is between us: send it to me in a direct message."
ONLY_OWNER_SETS = "Only the owner of this house may change that. /room alone shows how it is here."
MODE_UNKNOWN = "I know four ways: /room person, /room full, /room room, /room off."
NUMBER_MISSING = (
    "Say which entry, by its number: /share 3 shows it to everyone I talk with in rooms, /share 3"
    " private takes that back. In a room /share 3 shows it to the people there. /memory lists the"
    " numbers."
)
NUMBER_UNKNOWN = "You have no entry {number} (any more). /memory, in a direct message, lists them."
AUDIENCE_UNKNOWN = (
    "I can make an entry visible to everyone (/share {number} everyone) or to nobody else (/share"
    " {number} private). To show it in one room, send /share {number} there."
)
MEMORY_EMPTY = "I have noted nothing about you yet."
MEMORY_USAGE = "/memory lists what I remember of you; /memory forget 3 drops entry 3."
UNREADABLE = "I can't read the file of that list right now, so I changed nothing: {reason}."

_MODES: dict[Mode, str] = {
    "person": (
        "Everyone has their own talk with me here. I know what this room remembers, and of"
        " whoever writes only what they let everyone here see."
    ),
    "full": (
        "An owner's whole direct talk with me goes on here, with all that I remember of them."
        " Everyone else has their own talk, as in /room person."
    ),
    "room": (
        "All of you share one talk with me here. I know what this room remembers, and nothing"
        " that is anybody's own."
    ),
    "off": "I keep silent here. Only an owner's /room is heard.",
}
_ALONE = (
    "Nobody but you can read along here, so your whole direct talk goes on here, with all that I"
    " remember of you. As soon as somebody else is here, that ends."
)
_MEMORY_USAGE = (
    "/why 3 tells where entry 3 comes from, /undo 3 takes it back, /memory forget 3 drops it."
    " /share 3 lets others see it, /share 3 private takes that back."
)
_HEADS = {"memory": "Notes (MEMORY.md)", "user": "About you (USER.md)"}
_LONGEST_ENTRY = 500


def describe_room(mode: Mode, *, is_alone: bool, is_owner: bool) -> str:
    """How mentions are answered in a room, and for an owner what can be changed."""
    said = _ALONE if is_alone else f"Here it is /room {mode}. {_MODES[mode]}"
    ways = "\n\nYou may change it: /room person, full, room or off." if is_owner else ""
    return said + ways


def describe_new_mode(mode: Mode) -> str:
    """What holds in a room from now on."""
    return f"From now on it is /room {mode} here. {_MODES[mode]}"


def list_memory(entries: Sequence[tuple[str, int, str, str]]) -> str:
    """What is remembered; `entries` are (list, number, words, who may see it)."""
    lines: list[str] = []
    for name, head in _HEADS.items():
        shown = [
            f"- {number}: {_cut(words)} ({seen})"
            for listed, number, words, seen in entries
            if listed == name
        ]
        lines += [f"**{head}**", *shown, ""] if shown else []
    return "\n".join([*lines, _MEMORY_USAGE])


def name_audiences(titles: Sequence[str], *, is_for_everyone: bool) -> str:
    """Who may see an entry, in a word or two; `titles` are of rooms."""
    if is_for_everyone:
        return "everyone"
    named = [quote_name(title) if title else "a room without a name" for title in titles]
    return ", ".join(named) or "private"


def describe_forgotten(entry: str) -> str:
    """An entry that was dropped."""
    return f"Forgotten: {_cut(entry)}"


def describe_share(number: int, entry: str) -> str:
    """An entry that everyone may see from now on."""
    return f"Everyone I talk with in rooms may see entry {number} from now on: {_cut(entry)}"


def describe_room_share(number: int) -> str:
    """Said in the room itself, so without a word of the entry."""
    return f"Everyone here may see entry {number} of your notes from now on."


def describe_private(number: int, entry: str) -> str:
    """An entry that is private again."""
    return f"Nobody else sees entry {number} any more: {_cut(entry)}"


def describe_room_private(number: int) -> str:
    """As `describe_private`, in a room."""
    return f"Nobody else sees entry {number} of your notes any more, here or anywhere."


def _cut(entry: str) -> str:
    """One line of an entry that a person may have made long by hand."""
    line = " ".join(entry.split())
    return line if len(line) <= _LONGEST_ENTRY else line[: _LONGEST_ENTRY - 1] + "…"
