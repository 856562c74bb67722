"""What the program says when people want all that is theirs, or want it gone."""

from collections.abc import Sequence

from gateway.texts.people import quote_name

EXPORT_NO_FILES = (
    "Files can't be sent here. Whoever runs this house can write it all to a file for you, with"
    " `talaria people export {slug} FILE`."
)
EXPORT_TOO_LARGE = (
    "All that is yours is too large to be sent here. Whoever runs this house can write it to a"
    " file for you, with `talaria people export {slug} FILE`."
)
EXPORT_FAILED = "I could not put that together, the disk took no more. Try it again later."

FORGET_USAGE = (
    "Say which words: /forget lisbon takes out what holds a word that begins so. Several words"
    ' all have to be there; /forget "the old house" looks for just that. I show you what there is'
    " before anything is gone."
)
FORGET_NOTHING = "Nothing of yours holds that."
FORGET_ENTRIES = "Entries only"
FORGET_ALL = "Entries and messages"
FORGET_NONE = "Nothing"
FORGET_KEPT = "All of it stays as it is."
FORGET_BEGUN = "I am taking it out now, and tell you when it is done."
FORGET_STUCK = (
    "I can't take everything out yet: something of your memory, perhaps one of its files, can't be"
    " read. I go on trying, and tell you when it is done. Whoever runs this house finds the reason"
    " in its log."
)

ERASE_USAGE = (
    "/erase me takes out everything that I hold of you. An owner may name somebody else by their"
    " folder's name, as `talaria people list` shows it."
)
ERASE_OTHERS = "Only an owner may do that for others; /erase me is about you."
ERASE_UNKNOWN = "I know nobody of that name; `talaria people list` shows the names."
ERASE_OWNER = (
    "That is an owner. An owner can only do that themselves, or whoever runs this house, with"
    " `talaria people erase`."
)
ERASE_LAST_OWNER = (
    "You are the only owner, and somebody has to be. Make somebody else an owner first, with"
    " `talaria people claim`; or, if nobody needs this house any more, remove its home."
)
LAST_OWNER = (
    "They are the only owner, and somebody has to be. Make somebody else an owner first, with"
    " `talaria people claim`; or, if nobody needs this house any more, remove its home."
)
ERASE_YES = "Erase"
ERASE_SURE = "Erase for good"
ERASE_NO = "Keep all"
ERASE_KEPT = "Nothing was erased."
ERASE_BEGUN = "I am erasing it now. That takes a moment; what you write after it is a stranger's."
ERASE_BEGUN_OTHER = "I am erasing it now, and tell you when it is done."
ERASE_BUSY = (
    "Something of theirs is under way just now: a turn, a message, or a look at their memory."
    " Nothing was erased; try again in a moment."
)
GONE_ALREADY = "There is nobody of that name any more."

_LISTED_BACKUPS = 10


def describe_export(parts: int) -> str:
    """What goes with the first archive."""
    several = f" It comes in {parts} archives." if parts > 1 else ""
    return f"This is everything that I hold of you; the README in it says what is where.{several}"


def ask_to_forget(entries: int, messages: int, jobs: int, lines: Sequence[str]) -> str:
    """What holds the words, and the question what is to go."""
    also = f", and {_count(jobs, 'job', 'jobs')} of yours," if jobs else ""
    counted = (
        f"{_count(entries, 'entry of your memory', 'entries of your memory')} and"
        f" {_count(messages, 'message', 'messages')} of your talks{also} hold that"
    )
    shown = "".join(f"\n- {quote_name(line)}" for line in lines)
    return (
        f"{counted}:{shown}\n\nWhat shall I forget? It can't be brought back. With the messages"
        " go jobs, what tools gave, files that came along, and every note of them."
    )


def tell_forgotten(entries: int, messages: int, jobs: int, *, has_messages: bool) -> str:
    """What is gone."""
    gone = _count(entries, "entry", "entries")
    if has_messages:
        gone += f" and {_count(messages, 'message', 'messages')}"
    if jobs:
        gone += f", and {_count(jobs, 'job', 'jobs')}"
    return f"Forgotten: {gone}. What stands in chats themselves and in backups I can't take back."


def tell_kept_files(names: Sequence[str]) -> str:
    """Which files that people put there hold what was forgotten; nothing where none does."""
    if not names:
        return ""
    shown = ", ".join(quote_name(name) for name in names)
    return f" I change no files that people gave me for digests: it still stands in {shown}."


def ask_to_erase(name: str | None) -> str:
    """The first question; `name` is whose, None for who asks."""
    whose = f"all that I hold of {quote_name(name)}" if name else "all that I hold of you"
    return (
        f"Erase {whose}? Talks, memory, archive, files, jobs, settings, and who {_them(name)}:"
        " nothing of it can be brought back. /export gives you a copy of what is yours first."
    )


def ask_again(name: str | None) -> str:
    """The second one."""
    return (
        f"Really all of it{f', of {quote_name(name)}' if name else ''}? This is the last question."
    )


def tell_erased(backups: Sequence[str], outside: Sequence[str]) -> str:
    """That somebody is gone, and where they are not, or not yet."""
    return f"Erased. {describe_remains(backups, outside)}"


def describe_remains(backups: Sequence[str], outside: Sequence[str]) -> str:
    """What may hold what was erased: copies in the home, and outside memories."""
    told = [describe_backups(backups)]
    if outside:
        told.append(
            f"{' and '.join(outside)} will be told to forget it, too; `talaria check` shows whether"
            " something is still to be told there."
        )
    return " ".join(told)


def describe_backups(backups: Sequence[str]) -> str:
    """Which copies in the home may hold what was erased."""
    if not backups:
        return "No backup lies in the home; copies made elsewhere may still hold it."
    named = ", ".join(backups[:_LISTED_BACKUPS])
    more = len(backups) - _LISTED_BACKUPS
    rest = f" and {more} more" if more > 0 else ""
    return (
        f"These backups in the home may still hold it: {named}{rest}. Delete them, or let them"
        " grow old; so with copies made elsewhere."
    )


def _them(name: str | None) -> str:
    return "they are" if name else "you are"


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"
