"""Sentences about groups and channels, and about sharing entries of a memory there."""

from collections.abc import Sequence

from agent_core.localization import Text
from agent_core.state.people.rooms import Mode, Room
from gateway.texts.people import quote_name

ONLY_IN_ROOMS = Text("That's for groups: send it in the group you mean.")
SILENT_HERE = Text("An owner has switched me off in this group. Write to me directly instead.")
ONLY_IN_DIRECT = Text("That's private: send it to me in a direct message.")
FULL_QUESTION = Text(
    "You're the only one here. Shall I continue our direct conversation in this group, with"
    " everything I remember about you? I stop that for good once anyone else joins, writes or"
    " reacts."
)
FULL_YES = Text("Yes, continue here")
FULL_NO = Text("No, keep it private")
FULL_OPENED = Text(
    "Our direct conversation continues here. That ends for good once anyone else joins, writes or"
    " reacts."
)
FULL_DECLINED = Text(
    "I keep our direct conversation out of this group. Send /room full if you change your mind."
)
FULL_ENDED = Text(
    "Someone else is here now, so our direct conversation no longer continues here. What"
    " you told me in private stays out of my answers in this group."
)
FULL_UNSURE = Text(
    "I can't tell who can read this group, so our direct conversation no longer continues"
    " here. Send /room full to continue it here again."
)
FULL_IMPOSSIBLE = Text(
    "Other people have been here, so I keep our direct conversation out of this group for good."
)
FULL_UNKNOWN = Text(
    "I can't tell who can read this group, so I keep our direct conversation out of it."
)
FULL_REPLACED = Text("I asked again below.")
ONLY_OWNER_OR_CREATOR = Text(
    "Only an owner, or whoever created this group, can bring a private conversation into it."
)
ANSWERED_IN_DIRECT = Text("I've answered in our direct chat, because others can read this one.")
ONLY_OWNER_SETS = Text("Only an owner can change that. /room shows the current setting.")
ONLY_OWNER_CHANGES = Text("Only an owner can change how I answer in a group.")
NO_SUCH_ROOM = Text("There's no group {number}. The page “People and groups” lists the groups.")
MODE_UNKNOWN = Text(
    "Choose how I answer in this group:\n"
    "- /room person: everyone has a conversation of their own with me\n"
    "- /room room: everyone here shares one conversation\n"
    "- /room full: the only person here goes on with their direct conversation\n"
    "- /room off: I don't answer here\n"
    "- /room name Kitchen: I call this group Kitchen"
)
NUMBER_MISSING = Text(
    "Add the number of a note, which /memory shows:\n"
    "- /share 3 in a group: that group can see note 3\n"
    "- /share 3 in any other chat: everyone I talk with in groups can see it\n"
    "- /share 3 private: from then on, only you can see it"
)
NUMBER_UNKNOWN = Text("You have no note {number}. /memory in a direct message lists your notes.")
AUDIENCE_UNKNOWN = Text(
    "Choose /share {number} everyone or /share {number} private. To share the note with one"
    " group, send /share {number} there."
)
MEMORY_EMPTY_HERE = Text(
    "I haven't saved anything about this group yet. For what I know about you, send me /memory in"
    " a direct message."
)
MEMORY_EMPTY = Text("I haven't saved anything about you yet.")
MEMORY_USAGE = Text(
    "With /memory you can:\n"
    "- /memory: see what I remember about you\n"
    "- /memory forget 3: delete note 3\n"
    "- /memory review: decide about notes that wait for your yes\n"
    "- /memory conflicts: see notes that contradict each other"
)
UNREADABLE = Text(
    "I couldn't read the notes, so I changed nothing. Whoever runs me can find the reason"
    " with `talaria logs`."
)
UNNAMED_ROOM = Text("a group without a name")

MODES: dict[Mode, Text] = {
    "person": Text(
        "Everyone has a separate conversation with me here (/room person). I use this group's"
        " memory, and the notes that people share with the group."
    ),
    "full": Text(
        "You continue our direct conversation here, with everything I remember about you"
        " (/room full). That ends for good once anyone else joins, writes or reacts."
    ),
    "room": Text(
        "You all share one conversation with me here (/room room). I use this group's memory,"
        " and nobody's private one."
    ),
    "off": Text("I don't answer here (/room off). I react only to /room from an owner."),
}
CHANGE_ROOM = Text("The group {name}")
HOW_TO_ANSWER = Text("How should I answer there?")
GIVEN_NAME = Text("What should I call this group? (optional)")
ABOUT_ROOM_FORM = Text(
    "If you change how I answer, that takes effect at once, and I tell the group."
)
CHANGED_ROOM = Text("The group {name} has been changed.")
CHOICES: dict[Mode, Text] = {
    "person": Text("Everyone has a conversation of their own, with the memory of the group."),
    "room": Text("All share one conversation, with the memory of the group only."),
    "off": Text("Not at all. Only an owner can change that, here or with /room there."),
    "full": Text("I continue one person's direct conversation, with that person's consent."),
}
_CHANGE_MODE = Text(
    "To change this: /room person, full, room or off. /room name Kitchen gives this group a name."
)
_NAMED = Text("I call this group {name}.")
_MODE = Text("In {name}: {command}")
NAME_SET = Text("From now on, I'll call this group {name}.")
NAME_TAKEN_BACK = Text("From now on, I use no name for this group.")
_MEMORY_LIST_USAGE = Text(
    "Press a note to see where it comes from or to delete it. You can also send its number:"
    " /why {number}, /memory forget {number}, /share {number}."
)
WHY, DELETE, ALL_NOTES = Text("Why?"), Text("Delete"), Text("All notes")
WHICH_TO_FORGET = Text("Several notes fit. Press the one to delete.")
NO_NOTE = Text("I have no note with “{words}”. /memory lists them all.")
_HEADS = {"memory": Text("Notes"), "user": Text("About you")}
_EVERYONE = Text("everyone")
_PRIVATE = Text("private")
_FORGOTTEN = Text("Deleted: {entry}")
_SHARED = Text("Everyone I talk with in groups can now see note {number}: {entry}")
SHARED_HERE = Text("Everyone here can now see your note {number}.")
_UNSHARED = Text("Only you can see note {number} now: {entry}")
UNSHARED_HERE = Text("Only you can see your note {number} now.")
AUDIENCE_BACK = Text("The people who could see your note {number} before can see it again.")
_LONGEST_ENTRY = 500


def name_mode(room: Room) -> str:
    """Name how a room is answered, for a person who may change that."""
    return _MODE(name=quote_name(room.name or room.platform_title), command=f"/room {room.mode}")


def describe_room(mode: Mode, name: str, *, is_owner: bool) -> str:
    """Describe how I answer in a group, and its given name; tell owners how to change both."""
    shown = f"{_NAMED(name=quote_name(name))} {MODES[mode]()}" if name else MODES[mode]()
    return f"{shown}\n\n{_CHANGE_MODE()}" if is_owner else shown


def list_memory(entries: Sequence[tuple[str, int, str, str]]) -> str:
    """List what is remembered; `entries` are (list, number, words, audience)."""
    lines: list[str] = []
    for name, head in _HEADS.items():
        shown = [
            f"- {number}: {_cut(words)} ({audience})"
            for listed, number, words, audience in entries
            if listed == name
        ]
        lines += [f"**{head()}**", *shown, ""] if shown else []
    return "\n".join([*lines, _MEMORY_LIST_USAGE(number=entries[0][1])])


def name_audiences(titles: Sequence[str], *, is_for_everyone: bool) -> str:
    """Name who can see an entry; `titles` are those of groups."""
    if is_for_everyone:
        return _EVERYONE()
    return ", ".join(name_room(title) for title in titles) or _PRIVATE()


def name_room(title: str) -> str:
    """Name a group by its title."""
    return quote_name(title) if title else UNNAMED_ROOM()


def describe_forgotten(entry: str) -> str:
    """Confirm that an entry was deleted."""
    return _FORGOTTEN(entry=_cut(entry))


def describe_share(number: int, entry: str) -> str:
    """Confirm that everyone can see an entry."""
    return _SHARED(number=number, entry=_cut(entry))


def describe_private(number: int, entry: str) -> str:
    """Confirm that an entry is private again."""
    return _UNSHARED(number=number, entry=_cut(entry))


def _cut(entry: str) -> str:
    """Shorten an entry, which a person may have made long by hand, to one line."""
    line = " ".join(entry.split())
    return line if len(line) <= _LONGEST_ENTRY else line[: _LONGEST_ENTRY - 1] + "…"
