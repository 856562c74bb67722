"""Sentences about a person's data: exporting it, and deleting some or all of it."""

from collections.abc import Sequence

from agent_core.localization import Plural, Text, join_list
from agent_core.privacy.progress import Progress
from agent_core.state.lifecycle.redact import ERASED, FORGOTTEN
from agent_core.transcript import flatten
from gateway.texts.people import quote_name, quote_words

ALL_OF_ME = frozenset(
    (
        *("me", "everything", "my data", "all my data"),
        *("mich", "alles", "meine daten", "alle meine daten"),
    )
)
"""The words with which a person means everything that is stored about them."""
EXPORT_NO_FILES = Text(
    "I can't send files here. Ask whoever runs me to write your data to a file:"
    " `talaria people export {slug} FILE`."
)
EXPORT_TOO_LARGE = Text(
    "Your data is too large to send here. Ask whoever runs me to write it to a file:"
    " `talaria people export {slug} FILE`."
)
EXPORT_BROKEN = Text(
    "I couldn't write your export. Try again later. Whoever runs me can find the reason"
    " with `talaria logs`."
)
EXPORT_FAILED = Text("I couldn't write your export, because the disk is full. Try again later.")

DISAPPEARING = Text(
    "Messages disappear in this chat. When the app deletes one, I forget it too, with my answer."
    " I learn nothing from it by myself; what you ask me to remember stays."
)

FORGET_USAGE = Text(
    "Write the words after the command. For example, /forget lisbon finds every note, reminder"
    " and message with a word that starts with “lisbon”. Use quotes for an exact phrase:"
    ' /forget "the old flat". With a star, I also look inside words: /forget *bon.'
)
FORGET_USAGE_HERE = Text(
    "Write the words after the command. Here, /forget lisbon finds notes with that word that I"
    " saved for this group because you asked me to. For your messages and your own notes, send me"
    " /forget in a direct message."
)
FORGET_NOTHING = Text("I found nothing of yours with those words.")
FORGET_NOTHING_HERE = Text(
    "None of this group's notes that you may delete has those words. For your messages and"
    " your own notes, send me /forget in a direct message."
)
FORGET_ENTRIES = Text("Notes only")
FORGET_ALL = Text("Notes and messages")
FORGET_NONE = Text("Nothing")
FORGET_KEPT = Text("I've deleted nothing.")
FORGET_BEGUN = Text("I'm deleting it now and will tell you when it's done.")
FORGET_SOON = Text("I'll delete it and tell you when it's done.")
FORGET_AFTER_ANSWER = Text(
    "First I need your answer to “{question}”. I've asked it again below; when that's done, I'll"
    " delete the words."
)
FORGET_AFTER_WORK = Text(
    "I'm still working on something else for you. When that's done, I'll delete the words. To end"
    " that work now, send /stop in the chat where I do it."
)
FORGET_STUCK = Text(
    "I can't delete everything yet, because I can't read part of your memory. I'll keep"
    " trying and tell you when it's done. Whoever runs me can find the reason with"
    " `talaria logs`."
)

ERASE_USAGE = Text(
    "/erase me deletes everything I have about you. Owners can also delete another person's"
    " data: send /erase and the name of the person's folder. `talaria people list` shows it."
)
ERASE_OTHERS = Text("Only an owner can delete other people's data. /erase me deletes yours.")
ERASE_UNKNOWN = Text(
    "I know nobody with that folder. `talaria people list` shows everyone's folder."
)
ERASE_OWNER = Text(
    "That person is an owner. They can delete their data themselves, or you can run"
    " `talaria people erase`."
)
ERASE_LAST_OWNER = Text(
    "You're the only owner, so I can't delete your data. Add another owner with `talaria people"
    " claim` first. If nobody needs Talaria any more, delete its folder."
)
LAST_OWNER = Text(
    "That person is the only owner, so I can't delete their data. Add another owner with"
    " `talaria people claim` first. If nobody needs Talaria any more, delete its folder."
)
ERASE_YES = Text("Delete")
ERASE_SURE = Text("Delete permanently")
ERASE_NO = Text("Keep everything")
ERASE_KEPT = Text("I've deleted nothing.")
ERASE_BEGUN_OTHER = Text("I'm deleting it now and will tell you when it's done.")
ERASE_BUSY = Text(
    "I'm still working on something for that person, so I've deleted nothing. Try again in"
    " a moment."
)
ERASE_UNFINISHED = Text(
    "I haven't finished an answer to that person, so I've deleted nothing. Start Talaria,"
    " then run this command again."
)
GONE_ALREADY = Text("There's nobody by that name any more.")

FOLDER_STAYS = Text("A folder with the data can't be deleted. Details: “{reason}.”")
YOUR_DATA = Text("Your data")
GET_COPY = Text("Get a copy")
ABOUT_COPY = Text("An archive with everything I have about you. Packing it may take a while.")
DOWNLOAD = Text("Download")
DELETE_WORDS = Text("Delete what I know about something")
WHICH_WORDS = Text("Which words?")
HINT_WORDS = Text(
    "Like: lisbon. Use quotes for an exact phrase. Before I delete anything, you see what I found."
)
FIND = Text("Find it")
DELETE_ALL = Text("Delete everything")
ABOUT_ERASE = Text(
    "That includes conversations, memory, files, reminders, settings and your account. You can't"
    " undo this, so get a copy first."
)
_WORKING = Text("I'm working on it. This takes a little longer.")
_SEARCHING = Text("Searching: {percent}%")
_DELETING = Text("Messages deleted: {done:,} of {total:,}")
_PACKING = Text("Messages packed: {done:,} of {total:,}")
_LISTED_BACKUPS = 10
_EXPORT = Text("This is everything I have about you. The README inside explains the files.")
_EXPORT_PARTS = Text("You get it in {count} archives.")
_FOUND_NOTES = Text("Notes: {count:,}")
_FOUND_MESSAGES = Text("Messages: {count:,}")
_FOUND_QUOTES = Text("What I added to other messages for myself: {count:,}")
_FOUND_JOBS = Text("Reminders: {count:,}")
_FOUND_BLOCKS = Text("Names of shared notes: {count:,}")
_RENAMED = Text("These shared notes have new names: {names}.")
_ASK_FORGET = Text(
    "I found these words in:\n"
    "{counts}\n"
    "{lines}\n"
    "\n"
    "What should I delete? You can't undo this. If you keep the messages, I can still find"
    " the words in them. Deleting messages also deletes matching reminders, tool results and"
    " files."
)
_ASK_FORGET_HERE = Text(
    "I found the words in these notes of this group:\n"
    "{lines}\n"
    "\n"
    "Should I delete them? You can't undo this. For your messages and your own notes, send me"
    " /forget in a direct message."
)
_FORGOTTEN_HERE = Plural(
    "Deleted permanently: {n:,} note of this group. The messages here stay, so I may still"
    " know it in this conversation. /new starts a conversation without these messages.",
    "Deleted permanently: {n:,} notes of this group. The messages here stay, so I may still"
    " know them in this conversation. /new starts a conversation without these messages.",
)
_FORGOTTEN_DEEDS = Text("Deleted permanently. /undo in this group can't bring the words back.")
_FOUND_GROUP_NOTES = Text("Notes in the group {name}: {count:,}")
_FOUND_PAST = Text("Something deleted or changed that /undo could still bring back")
_GONE_PAST = Text("Deleted or changed words: /undo can't bring them back now")
_FOUND_NAMELESS_NOTES = Text("Notes in a group: {count:,}")
_DELETED_WORDS = Text("(These words were deleted.)")
_FORGOTTEN = Text(
    "Deleted:\n{counts}\nI can't delete anything from the chats themselves or from backups."
)
_KEPT_FILES = Text(
    "I don't change files that people gave me to summarise. The words are still in: {names}."
)
_MOST_NAMED = 5
_LONGEST_NOTE = 120
_MORE = Plural("{n:,} more", "{n:,} more")
_WORKSPACE_FILES = Text(
    "The words are still in these files in your workspace: {names}. Tell me which of them to"
    " delete."
)
_ASK_ERASE = Text(
    "Delete everything I have about you? That includes conversations, memory, files, reminders,"
    " settings and your account. You can't undo this; /export gives you a copy first."
)
_ASK_ERASE_OTHER = Text(
    "Delete everything I have about {name}? That includes conversations, memory, files, reminders,"
    " settings and their account. You can't undo this; they can get a copy with /export first."
)
_ASK_AGAIN = Text("Are you sure? This deletes all of it permanently.")
_ASK_AGAIN_OTHER = Text("Are you sure? This deletes everything about {name} permanently.")
_ERASED = Text("Deleted. {remains}")
_EXTERNAL_OWN = Text("I'll also delete your data from {names}.")
_EXTERNAL = Text(
    "I'll also delete the data from {names}. `talaria check` shows whether anything is left there."
)
_ERASE_BEGUN = Text(
    "I'm deleting your data now. After that, an owner has to let you in before you can talk"
    " to me again."
)
_OWN_BACKUPS = Text(
    "These backups still have your data: {names}. Whoever runs me can delete them, and any"
    " copies elsewhere."
)
_NO_BACKUP = Text("No backup in Talaria's folder contains the data. Copies elsewhere may.")
_BACKUPS = Text(
    "These backups may still have the data: {names}. Delete them, and any copies elsewhere,"
    " or wait until they expire."
)
_MORE_BACKUPS = Text("{count} more")


def describe_progress(progress: Progress | None) -> str:
    """Say how far a long piece of work is; None while it has not said anything."""
    if progress is None:
        return _WORKING()
    done, total = min(progress.done, progress.total), progress.total
    if progress.stage == "search":
        return _SEARCHING(percent=100 * done // max(total, 1))
    return (_DELETING if progress.stage == "delete" else _PACKING)(done=done, total=total)


def describe_export(parts: int) -> str:
    """Describe an export, which comes in this many archives."""
    return f"{_EXPORT()} {_EXPORT_PARTS(count=parts)}" if parts > 1 else _EXPORT()


def ask_to_forget(
    numbers: tuple[int, int, int, int],
    lines: Sequence[str],
    groups: Sequence[tuple[str, Sequence[str], int]],
    *,
    quotes: int,
    has_past: bool,
) -> str:
    """Show what holds the words, with some `lines` of it, and ask what to delete.

    `numbers` are those of notes, messages, reminders and names of blocks, `quotes` that of further
    messages that keep their words. `groups` are the names of
    groups, the lines of the notes there, and the number of deleted ones that an undo could bring
    back. `has_past` says that an undo of the person could bring the words back.
    """
    left = sum(numbers) - len(lines)
    shown = [*map(quote_words, lines), *([_MORE(left)] if left > 0 else [])]
    shown += [line for _, notes, _ in groups for line in _quote_notes(notes)]
    counts = _count(
        numbers,
        quotes=quotes,
        groups=[(name, len(notes)) for name, notes, _ in groups],
        past=_FOUND_PAST if has_past or any(past for _, _, past in groups) else None,
    )
    return _ASK_FORGET(counts=counts, lines=_list_lines(shown))


def ask_to_forget_here(notes: Sequence[str], *, has_past: bool) -> str:
    """Show the notes of a group that hold the words, and ask whether to delete them.

    What was deleted or changed already, `has_past`, is not shown to the group again.
    """
    shown = [*_quote_notes(notes), *([_FOUND_PAST()] if has_past else [])]
    return _ASK_FORGET_HERE(lines=_list_lines(shown).strip())


def describe_forgotten_here(count: int, *, has_deeds: bool) -> str:
    """Say in a group how many of its notes were deleted, or that only an undo held the words."""
    return _FORGOTTEN_HERE(count) if count or not has_deeds else _FORGOTTEN_DEEDS()


def describe_forgotten(
    entries: int,
    messages: int | None,
    jobs: int,
    *,
    quotes: int,
    groups: Sequence[tuple[str, int]],
    has_past: bool,
) -> str:
    """Say what was deleted; `groups` are the names of groups, and how many notes went there.

    `messages` is None if messages were kept.
    """
    counts = _count(
        (entries, messages, jobs, 0),
        quotes=quotes if messages is not None else 0,
        groups=groups,
        past=_GONE_PAST if has_past else None,
    )
    return _FORGOTTEN(counts=counts)


def _quote_notes(notes: Sequence[str]) -> list[str]:
    """Quote the first notes of a group, and count the others."""
    left = len(notes) - _MOST_NAMED
    quoted = [quote_words(flatten(note, _LONGEST_NOTE)) for note in notes[:_MOST_NAMED]]
    return [*quoted, *([_MORE(left)] if left > 0 else [])]


def _list_lines(lines: Sequence[str]) -> str:
    return "".join(f"\n* {line}" for line in lines)  # another sign than counts, another list


def describe_renamed(names: Sequence[str]) -> str:
    """Give the new names of blocks whose names held the words; "" if there are none."""
    return f" {_RENAMED(names=join_list(names))}" if names else ""


def describe_kept_files(names: Sequence[str]) -> str:
    """Name the files for digests that still hold the words; "" if there are none."""
    if not names:
        return ""
    return f" {_KEPT_FILES(names=join_list([quote_words(name) for name in names]))}"


def describe_workspace_files(names: Sequence[str]) -> str:
    """Name the first files of a workspace that still hold the words; "" if there are none."""
    if not names:
        return ""
    named = [quote_words(name) for name in names[:_MOST_NAMED]]
    more = [_MORE(len(names) - _MOST_NAMED)] if len(names) > _MOST_NAMED else []
    return f" {_WORKSPACE_FILES(names=join_list([*named, *more]))}"


def ask_to_erase(name: str | None) -> str:
    """Ask whether to delete everything about a person; None means the person who asked."""
    return _ASK_ERASE_OTHER(name=quote_name(name)) if name else _ASK_ERASE()


def ask_again(name: str | None) -> str:
    """Ask a second time."""
    return _ASK_AGAIN_OTHER(name=quote_name(name)) if name else _ASK_AGAIN()


def describe_erased(backups: Sequence[str], external: Sequence[str]) -> str:
    """Say that a person's data is deleted, and where it may remain."""
    return _ERASED(remains=describe_remains(backups, external))


def describe_erase_begun(backups: Sequence[str], external: Sequence[str]) -> str:
    """Say to the person that their data is being deleted, and where it may remain."""
    shown = [_OWN_BACKUPS(names=_list_names(backups)) if backups else _NO_BACKUP()]
    if external:
        shown.append(_EXTERNAL_OWN(names=join_list(external)))
    return f"{_ERASE_BEGUN()}\n\n{' '.join(shown)}"


def describe_remains(backups: Sequence[str], external: Sequence[str]) -> str:
    """Name what may still hold deleted data: backups, and external memories."""
    shown = [describe_backups(backups)]
    if external:
        shown.append(_EXTERNAL(names=join_list(external)))
    return " ".join(shown)


def describe_backups(backups: Sequence[str]) -> str:
    """Name the backups in the home directory that may still hold deleted data."""
    return _BACKUPS(names=_list_names(backups)) if backups else _NO_BACKUP()


def _list_names(backups: Sequence[str]) -> str:
    shown = [*backups[:_LISTED_BACKUPS]]
    if len(backups) > _LISTED_BACKUPS:
        shown.append(_MORE_BACKUPS(count=len(backups) - _LISTED_BACKUPS))
    return join_list(shown)


def _count(
    numbers: tuple[int, int | None, int, int],
    *,
    quotes: int,
    groups: Sequence[tuple[str, int]],
    past: Text | None,
) -> str:
    entries, messages, jobs, blocks = numbers
    shown = [_FOUND_NOTES(count=entries)] if entries else []
    for name, count in groups:
        if count:
            shown.append(
                _FOUND_GROUP_NOTES(name=quote_name(name), count=count)
                if name
                else _FOUND_NAMELESS_NOTES(count=count)
            )
    if past:
        shown.append(past())
    if messages:
        shown.append(_FOUND_MESSAGES(count=messages))
    if quotes:
        shown.append(_FOUND_QUOTES(count=quotes))
    if jobs:
        shown.append(_FOUND_JOBS(count=jobs))
    if blocks:
        shown.append(_FOUND_BLOCKS(count=blocks))
    return "\n".join(f"- {line}" for line in shown or [_FOUND_NOTES(count=0)])


def show_words(text: str) -> str:
    """Return the words of a message as people see them, deleted ones included."""
    return _DELETED_WORDS() if text in (FORGOTTEN, ERASED) else text
