"""What is said about accounts: joining them, listing them, splitting them off."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from agent_core.state.people.people import Account
from agent_core.tools.untrusted_text import flatten
from gateway.texts.general import name_platform

LINK_IN_ROOM = (
    "That is for direct messages only: here others can read along. A code that was written here"
    " is not good any more; /link in a direct message makes a new one."
)
LINK_SAME = (
    "That code was made by you: this account is one of yours already. Send it to me from the"
    " account that you want to add."
)
LINK_OWNER_FIRST = (
    "You run this house, so I join nothing with you by a code that was made elsewhere: who confirms"
    " there would run it, too. If that account is yours, send /link here, and the code from there."
)
LINK_NOTHING = "There is nothing to cancel."
LINK_CANCELLED = "Cancelled. Nothing was joined, and the code is not good any more."
LINK_CANCELLED_THERE = "(Cancelled. Nothing was joined.)"
LINK_TOLD_CANCELLED = (
    "The joining of accounts was cancelled on the other side. Nothing has changed."
)
LINK_REPLACED = "(There is a newer code. Nothing was joined.)"
LINK_OVER = "(That is over. Nothing was joined; /link makes a new code.)"
LINK_CHANGED = (
    "(That account has become somebody else's meanwhile, so nothing was joined. /link makes a new"
    " code.)"
)
LINK_REFUSED = "(Not joined. Nothing has changed.)"
LINK_TOLD_REFUSED = "The other side said no: nothing was joined, and nothing has changed."
BUSY = "I am in the middle of something for you. Try that again when it is done."
MERGE_LEFT = (
    "(They stay as they are and are not used. /accounts keep takes them in; they come back by"
    " themselves if that account is taken out again.)"
)
MERGE_NOTHING = "There are no notes that were left out."
ACCOUNTS_IN_ROOM = "I tell that in a direct message only: here others can read along."
UNLINK_LOCAL = "The console is where you run me; it always is the owner's."
UNLINK_LAST = "That is your only account. There is nothing to split it off from."
UNLINK_SEVERAL = "That fits more than one of your accounts. Send /unlink with a number:"
UNLINK_FIRST = (
    "Your other accounts were joined to that one, so it stays who you are. Take them out instead:"
    " the result is the same."
)
UNLINK_UNKNOWN = "None of your accounts is that. Send /unlink with a number:"
UNLINK_HOW = "Send /unlink with a number; what began in that account goes with it:"
YES = "Yes, join them"
NO = "No"
KEEP = "Keep all of them"
LEAVE = "Leave them out"

_CODE = (
    "Your code is {code}\nSend me /link {code} in a direct message from your other account within"
    " ten minutes. I ask you here before anything is joined. /link cancel ends it. Give the code"
    " to nobody: whoever is joined with you sees and is everything that you are here."
)
_ASK = (
    "{account} sent your code and would be joined with you. From then on it is you: it sees all"
    " that you have said to me and what I remember of you, and you see what it has said. Both"
    " have one conversation, one memory, and one budget. Is that account yours?"
)
_TOLD = (
    "I asked on {platform}: confirm there, within ten minutes. Then {name} there and you are one"
    " person to me: both see everything that either of you has said to me. If you did not make"
    " that code yourself, send /link cancel now."
)
_JOINED = (
    "(Joined: {account} is you now. /accounts lists your accounts, and /unlink takes one out"
    " again.)"
)
_TOLD_JOINED = (
    "Joined: {name} on {platform} and you are one person to me now. If that was not you, send"
    " /unlink; /accounts lists who you are."
)
_OVERFULL = (
    "{count} of what I remember of {account} did not fit into your notes, which have a limit:\n"
    "{shown}\nKeep them all the same? The notes may then only become shorter until they fit."
)
_HOW: dict[str, str] = {
    "list": "on the list of who may talk",
    "code": "by a code",
    "local": "at home",
    "link": "through your other accounts",
}
_MOST_SHOWN = 10
_LONGEST_NAME = 64
_LONGEST_NOTE = 160


def quote_name(name: str) -> str:
    """A name that somebody gave themselves, so that it can't pass for anything else."""
    return _quote(name, _LONGEST_NAME)


def name_account(platform: str, user_id: str, name: str) -> str:
    """An account by what can't be made up, and by its name."""
    return f"{quote_name(name)} on {name_platform(platform)} (id {quote_name(user_id)})"


def show_code(code: str) -> str:
    """A fresh code, and what to do with it."""
    return _CODE.format(code=code)


def ask_to_join(account: str) -> str:
    """The question on the first side."""
    return _ASK.format(account=account)


def tell_asked(platform: str, name: str) -> str:
    """What the account that sent a code reads."""
    return _TOLD.format(platform=name_platform(platform), name=quote_name(name))


def describe_joined(account: str) -> str:
    """What the question ends in."""
    return _JOINED.format(account=account)


def tell_joined(platform: str, name: str) -> str:
    """What the other side reads once it is done."""
    return _TOLD_JOINED.format(platform=name_platform(platform), name=quote_name(name))


def describe_unreadable(path: str) -> str:
    """That a memory can't be joined because a file of it can't be read."""
    return f"I can't read {path}, and would not lose what is in it. Mend that and try again."


def ask_to_keep(account: str, entries: Sequence[str]) -> str:
    """The question about what did not fit."""
    shown = [f"- {_quote(entry, _LONGEST_NOTE)}" for entry in entries[:_MOST_SHOWN]]
    if len(entries) > _MOST_SHOWN:
        shown.append(f"- and {len(entries) - _MOST_SHOWN} more")
    return _OVERFULL.format(count=len(entries), account=account, shown="\n".join(shown))


def describe_kept(count: int) -> str:
    """That what was left out is in now."""
    return f"(Kept: {_count(count, 'note', 'notes')} more stand in your memory now.)"


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountLine:
    """One line of /accounts. `is_let_in` is false for one that may talk only with the others."""

    account: Account
    is_here: bool
    is_let_in: bool


def list_accounts(lines: Sequence[AccountLine], *, zone: str, left: int = 0) -> str:
    """The accounts of a person, numbered as /unlink takes them."""
    told = []
    for number, line in enumerate(lines, 1):
        account = line.account
        name = name_account(account.platform, account.user_id, account.display_name)
        since = datetime.fromtimestamp(account.created_at / 1000, ZoneInfo(zone))
        how = _HOW[account.admitted_by if line.is_let_in else "link"]
        here = ", this one" if line.is_here else ""
        told.append(f"{number}. {name}, since {since:%Y-%m-%d}, {how}{here}")
    if left:
        notes = _count(left, "note", "notes")
        told.append(
            f"Left out of your memory when accounts were joined: {notes}."
            " /accounts keep takes them in."
        )
    return "\n".join(told)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unlinked:
    """What came of splitting an account off; see `splitting.Parted`."""

    account: str
    sessions: int
    kept: int
    entries: int
    is_let_in: bool


def describe_unlinked(done: Unlinked) -> str:
    """What went with an account, and what stayed."""
    began = _count(done.sessions, "conversation that it began", "conversations that it began")
    notes = _count(done.entries, "note", "notes")
    told = [f"{done.account} is a person of its own again. With it went {began} and {notes}."]
    if done.kept:
        stayed = _count(done.kept, "conversation", "conversations")
        told.append(f"What it said in {stayed} that you began elsewhere stays with you.")
    if not done.is_let_in:
        told.append("It is not let in by itself: it has to ask the owner for that.")
    return " ".join(told)


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _quote(text: str, limit: int) -> str:
    """One line in which nothing is read as Markdown."""
    return "`" + (flatten(text, limit).replace("`", "'") or "?") + "`"
