"""Sentences about accounts: linking, listing and unlinking them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent_core.localization import LANGUAGES, Plural, Text, join_list
from agent_core.tools.clock import ReaderClock
from agent_core.transcript import flatten
from gateway.texts.general import EXAMPLES, PURPOSE, name_platform

if TYPE_CHECKING:
    from agent_core.state.people.people import NewAccount
    from gateway.operations.account_types import ListedAccount

LINK_IN_GROUP = Text(
    "I only link accounts in direct messages, because others can read this chat. I've"
    " cancelled any code you sent. /link in a direct message creates a new one."
)
LINK_SAME = Text(
    "You made that code with this account. Send it to me from the account you want to add."
)
LINK_OWNER_FIRST = Text(
    "You're an owner, so you have to create the code with this account. If the other account"
    " is also yours, send /link here and enter the new code there."
)
_LINK_MISSING = Text(
    "{platform} isn't connected to me, so there's nothing to link there. The owner connects it with"
    " `talaria setup {name}`."
)
LINK_NOTHING = Text("No accounts are being linked, so there's nothing to cancel.")
LINK_CANCELLED = Text("Cancelled. I've linked nothing, and the code no longer works.")
LINK_CANCELLED_THERE = Text("(Cancelled. I've linked nothing.)")
LINK_CANCELLED_NOTICE = Text("The other account cancelled the link. Nothing has changed.")
LINK_REPLACED = Text(
    "(A newer code has replaced this one, so I've linked nothing. Use the newer one.)"
)
LINK_OVER = Text("(That code no longer works, so I've linked nothing. /link makes a new one.)")
LINK_CHANGED = Text(
    "(That account now belongs to someone else, so I've linked nothing. /link makes a new code.)"
)
LINK_REFUSED = Text("(Not linked. Nothing has changed.)")
LINK_REFUSED_NOTICE = Text("The other account declined the link. Nothing has changed.")
BUSY = Text("I'm still working on something for you. Try again when it's done.")
ANSWER_FIRST = Text("I'm waiting for your answer to “{question}”. Answer it first, then try again.")
_ANSWER_THERE = Text(
    "One of my questions is waiting for your answer on {platform}. Answer it there first, then"
    " try again."
)
MERGE_LEFT = Text(
    "(I've set these notes aside and won't use them. To add them to your memory, send"
    " /accounts keep. If you unlink the account they come from, it gets them back.)"
)
MERGE_NOTHING = Text("No notes were set aside.")
ACCOUNTS_IN_GROUP = Text(
    "I only show accounts in direct messages, because others can read this chat."
)
UNLINK_LOCAL = Text("The console always belongs to an owner, so you can't unlink it.")
UNLINK_LAST = Text("That's your only account, so there's nothing to unlink it from.")
UNLINK_SEVERAL = Text("Several of your accounts match that. Send /unlink with a number:")
UNLINK_FIRST = Text(
    "Your other accounts were linked to that one, so it has to stay. Unlink the others instead."
)
UNLINK_UNKNOWN = Text("None of your accounts matches that. Send /unlink with a number:")
UNLINK_USAGE = Text(
    "Send /unlink with a number. The account then keeps the conversations that began with it:"
)
YES = Text("Yes, link them")
NO = Text("No")
KEEP = Text("Keep all of them")
LEAVE = Text("Set them aside")

NOTICES_UNSEEN = Text(
    "If something is wrong with me, you only see it in the console and with `talaria"
    " logs`. Send me a direct message in a chat app, and I'll tell you there."
)
WAITS = Text(
    "{name} wrote to me on {platform} and waits to be let in. If you don't know them, do nothing."
)
_WAIT = Plural(
    "{n} more person wrote to me and waits to be let in: {names}. If you don't know them, do"
    " nothing. Otherwise, ask them for their code and send /approve with it.",
    "{n} more people wrote to me and wait to be let in: {names}. If you don't know them, do"
    " nothing. Otherwise, ask them for their code and send /approve with it.",
)
_ON_PLATFORM = Text("{name} on {platform}")
_FURTHER = Plural("{n} other", "{n} others")
LET_IN = Text("Let them in")
ASK_FOR_CITY = Text(
    "Which time zone are you in? Write your city, such as “Lisbon”, or “UTC+2”. If I should stay"
    " silent at night, add the hours: “Vienna, quiet 22-7”."
)
_HELLO = Text("Hi {name}! {purpose} Try one of these:")
_HELLO_OWNER = Text("Hi {name}, you're now the owner. {purpose} Try one of these:")
_SETUP = Text("It's {clock} for you ({city} time), and I answer {language}. {correction}")
_SETUP_QUIET = Text(
    "It's {clock} for you ({city} time). Your quiet hours are {hours}, and I answer"
    " {language}. {correction}"
)
_SETUP_OURS = Text("It's {clock} for me in {city}, and I answer {language}. {correction}")
_SETUP_OURS_QUIET = Text(
    "It's {clock} for me in {city}. Your quiet hours are {hours}, and I answer {language}."
    " {correction}"
)
_CORRECTION = Text(
    "Is something wrong? Then write what is right: your city, your language, or quiet hours"
    " like “22-7”."
)
_IN_LANGUAGE = Text("in {language}")
_IN_YOUR_LANGUAGE = Text("in the language you write in")
_CODE = Text(
    "Your code is {code}\nSend me /link {code} from your other account within ten"
    " minutes. I'll ask you here before I link it. Don't share the code: a linked account"
    " can see and do everything you can. /link cancel cancels it."
)
_WAY_ADDRESS = Text("On {platform}, open {address} and press Start or Send.")
_WAY_OPEN = Text("On {platform}, open {address} and write me `{command}`.")
_WAY_COMMAND = Text("On {platform}, write me `{command}`.")
_INVITED = Text("Send this to {name}. The invitation is for one person, and lasts a week:")
_INVITED_SOMEBODY = Text(
    "Send this to the person you want to invite. The invitation is for one person and lasts a week:"
)
_LINK_PLATFORM = Text("Link {platform}")
ASK_TO_LINK = Text(
    "{account} sent your code. Once I link the two accounts, they share one conversation, one"
    " memory and one budget. From either one, everything that was written to me from the"
    " other can be seen. Is that account yours?"
)
_ASKED = Text(
    "I've asked on {platform} whether to link the accounts. Confirm it there within ten minutes."
    " You and {name} will then share everything that either of you has told me. If you didn't"
    " create that code, send /link cancel now."
)
LINKED = Text(
    "(Linked: {account} is now one of your accounts. /accounts lists them, and /unlink"
    " unlinks one.)"
)
_LINKED_NOTICE = Text(
    "Linked: {name} on {platform} and you are now one person to me. /accounts lists your accounts."
    " If you didn't want this, send /unlink."
)
UNREADABLE = Text(
    "I can't read {path}, so I changed nothing. Ask an owner to repair it, then try again."
)
_OVERFULL = Plural(
    "{n} note from {account} doesn't fit into your memory:\n"
    "{shown}\n"
    "Keep it anyway? If so, I can't add new notes until you shorten yours.",
    "{n} notes from {account} don't fit into your memory:\n"
    "{shown}\n"
    "Keep them anyway? If so, I can't add new notes until you shorten yours.",
)
_MORE_NOTES = Text("- {count} more")
KEPT = Plural("(I've added {n} note to your memory.)", "(I've added {n} notes to your memory.)")
_ACCOUNT = Text("{name} on {platform} (id {user_id})")
_LINES: dict[str, Text] = {
    "list": Text("{number}. {account}, since {date}, on the list of allowed accounts"),
    "code": Text("{number}. {account}, since {date}, approved by code"),
    "invitation": Text("{number}. {account}, since {date}, by invitation"),
    "claim": Text("{number}. {account}, since {date}, with the code for the owner"),
    "local": Text("{number}. {account}, since {date}, on this computer"),
    "link": Text("{number}. {account}, since {date}, linked to your other accounts"),
    "out": Text(
        "{number}. {account}, since {date}, may not talk with me until an owner lets it in"
    ),
}
_LINE_HERE = Text("{line} (this one)")
_SET_ASIDE = Plural(
    "{n} note was set aside when you linked accounts. To add it to your memory, send:"
    " /accounts keep",
    "{n} notes were set aside when you linked accounts. To add them to your memory, send:"
    " /accounts keep",
)
_UNLINKED = Text("{account} is a separate person again.")
_UNLINKED_CONVERSATIONS = Plural(
    "{n} conversation that began with that account stays with it.",
    "{n} conversations that began with that account stay with it.",
)
_UNLINKED_NOTES = Plural(
    "{n} note of that account stays with it.", "{n} notes of that account stay with it."
)
_UNLINKED_KEPT = Plural(
    "{n} conversation that began with another of your accounts stays with you. So does what"
    " you wrote in it from the unlinked account.",
    "{n} conversations that began with another of your accounts stay with you. So does what"
    " you wrote in them from the unlinked account.",
)
_UNLINKED_NOT_ALLOWED = Text("Before that account can talk to me again, an owner has to let it in.")
_MOST_SHOWN = 10
_LONGEST_NAME = 64
_QUOTED = Text("“{name}”")
_RISKY = re.compile(r"[`*~\[\]<>|\\#@/:“”„]|(?<!\w)_|_(?!\w)|\w\.\w|&[\w#]")
"""What Markdown or a chat app may read as a format, a link or a mention, or as the quote's end."""
_MOST_NAMES = 10
"""Names that one message shows of the people who wait to be let in."""
_LONGEST_NOTE = 160

YOUR_ACCOUNTS = Text("Your accounts")
ABOUT_ACCOUNTS = Text(
    "To Talaria, you are one person in all of these. To link another account, send me /link"
    " from that account."
)
ACCOUNT = Text("Account")
HOW = Text("How it was added")
UNLINK = Text("Unlink")
UNLINK_ACCOUNT = Text("Unlink {account}?")
UNLINKED_TOO = Text(
    "That account keeps its own conversations and notes, and you no longer see them here. You'll"
    " be logged out of these pages. To undo this, link the two accounts again with /link."
)
UNLINK_NOW = Text("Yes, unlink it")
KEEP_IT = Text("No, keep it")
SINCE = Text("Since")
WROTE_THERE = Text("Who wrote there lately")
NOBODY_WROTE = Text("nobody")
DIRECT_THERE = Text("Direct conversation continued there")
DIRECT_CONTINUES = Text("continues for {name}")
DIRECT_WITH_OTHERS = Text("not possible: others have been there since {time}")
DIRECT_ASKED = Text("asked: {time}; nobody has agreed yet")
DIRECT_NOT_ASKED = Text("no: nobody has agreed to that")
_ADMITTED = {
    "list": Text("on the list of allowed accounts, since {date}"),
    "code": Text("approved by code: {date}"),
    "invitation": Text("by invitation, since {date}"),
    "claim": Text("with the code for the owner, since {date}"),
    "local": Text("on this computer, since {date}"),
    "link": Text("linked to the other accounts, since {date}"),
    "out": Text("known since {date}; may not talk until an owner lets it in"),
}
_LINKED = Text("{admission}; linked")
_LINKED_ON = Text("{admission}; linked: {date}")


def quote_name(name: str) -> str:
    """Quote a name that somebody chose.

    One that could pass for markup, a link or the end of the quote is shown letter by letter.
    """
    shown = flatten(name, _LONGEST_NAME)
    is_plain = shown and not _RISKY.search(shown)
    return _QUOTED(name=shown) if is_plain else quote_words(name)


def quote_words(words: str) -> str:
    """Quote an id, the name of a file or a line, in which nothing is read as Markdown."""
    return _quote(words, _LONGEST_NAME)


def describe_waiting(waiting: Sequence[tuple[str, str]]) -> str:
    """Say who waits to be let in; each has a platform and a name."""
    names = [
        _ON_PLATFORM(name=quote_name(name), platform=name_platform(platform))
        for platform, name in waiting[:_MOST_NAMES]
    ]
    if further := len(waiting) - len(names):
        names.append(_FURTHER(further))
    return _WAIT(len(waiting), names=join_list(names))


def name_account(platform: str, user_id: str, name: str) -> str:
    """Name an account by its platform and id, which can't be forged, and by its name."""
    return _ACCOUNT(
        name=quote_name(name), platform=name_platform(platform), user_id=quote_words(user_id)
    )


def name_own_account(account: "NewAccount") -> str:
    """Name an account to its owner: by its platform, and by its name if that is not an id."""
    platform, name = name_platform(account.platform), account.display_name
    is_named = name not in ("", account.user_id) and account.platform != "console"
    return _ON_PLATFORM(name=quote_name(name), platform=platform) if is_named else platform


def describe_greeting(name: str, *, is_new_owner: bool) -> str:
    """Greet somebody new with the bot's purpose and three examples."""
    hello = _HELLO_OWNER if is_new_owner else _HELLO
    # The name is the reader's own choice, but must not look like Markdown.
    shown = re.sub(r"[^\w .'’-]", "", flatten(name, _LONGEST_NAME)).replace("_", " ").strip()
    shown = shown[:1].upper() + shown[1:]  # a nickname on Slack is in lower case
    examples = [f"- {example()}" for example in EXAMPLES]
    return "\n".join([hello(name=shown or name, purpose=PURPOSE()), *examples])


def describe_setup(
    clock: str, city: str, language: str | None, hours: str, *, is_own: bool, is_told: bool
) -> str:
    """Say which time, quiet hours and language a person has, and how to correct them.

    `is_own` says that the person set the time zone, and that it is not only the home's. If it
    `is_told`, the person has just said so, and is not asked whether it is wrong.
    """
    shown = {
        "clock": clock,
        "city": city,
        "language": _IN_LANGUAGE(language=LANGUAGES.get(language, language))
        if language
        else _IN_YOUR_LANGUAGE(),
        "correction": "" if is_told else _CORRECTION(),
    }
    plain, quiet = (_SETUP, _SETUP_QUIET) if is_own else (_SETUP_OURS, _SETUP_OURS_QUIET)
    return (quiet(hours=hours, **shown) if hours else plain(**shown)).rstrip()


def describe_question_there(platform: str) -> str:
    """Say that an account can't be linked yet, because a question waits for an answer there."""
    return _ANSWER_THERE(platform=name_platform(platform))


def describe_code(code: str, ways: Sequence[str]) -> str:
    """Show a new link code, and how to use it; `ways` are those on other platforms."""
    return "\n".join([_CODE(code=code), *ways])


def describe_missing_platform(name: str) -> str:
    """Return the answer to a link with a platform that is off."""
    return _LINK_MISSING(platform=name_platform(name), name=name)


def describe_way(platform: str, address: str | None, command: str) -> str:
    """Say how to send a code on a platform: open an address, send a command, or do both in turn."""
    name = name_platform(platform)
    if address and command:
        return _WAY_OPEN(platform=name, address=address, command=command)
    if address:
        return _WAY_ADDRESS(platform=name, address=address)
    return _WAY_COMMAND(platform=name, command=command)


def offer_link(platform: str) -> str:
    """Label the button that links a platform."""
    return _LINK_PLATFORM(platform=name_platform(platform))


def describe_asked(platform: str, name: str) -> str:
    """Tell the account that sent a code where to confirm."""
    return _ASKED(platform=name_platform(platform), name=quote_name(name))


def describe_linked_notice(platform: str, name: str) -> str:
    """Tell the account that sent a code that it is linked."""
    return _LINKED_NOTICE(platform=name_platform(platform), name=quote_name(name))


def describe_invitation(guest: str, ways: Sequence[str]) -> str:
    """Tell an owner how to invite somebody; `ways` are those of `describe_way`."""
    head = _INVITED(name=quote_name(guest)) if guest else _INVITED_SOMEBODY()
    return "\n".join([head, *(f"- {way}" for way in ways)])


def ask_to_keep(account: str, entries: Sequence[str]) -> str:
    """Ask whether to keep the notes that exceed the limit."""
    shown = [f"- {_quote(entry, _LONGEST_NOTE)}" for entry in entries[:_MOST_SHOWN]]
    if len(entries) > _MOST_SHOWN:
        shown.append(_MORE_NOTES(count=len(entries) - _MOST_SHOWN))
    return _OVERFULL(len(entries), account=account, shown="\n".join(shown))


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountLine:
    """A line of /accounts."""

    account: "ListedAccount"
    is_here: bool


def list_accounts(lines: Sequence[AccountLine], *, clock: ReaderClock, left: int = 0) -> str:
    """List a person's accounts, numbered as /unlink takes them; `left` notes were set aside."""
    shown = []
    for number, line in enumerate(lines, 1):
        account = line.account
        text = _LINES[account.how](
            number=number,
            account=name_account(account.platform, account.user_id, account.name),
            date=clock.show_day(account.since),
        )
        shown.append(_LINE_HERE(line=text) if line.is_here else text)
    if left:
        shown.append(_SET_ASIDE(left))
    return "\n".join(shown)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unlinked:
    """The result of unlinking an account, in numbers."""

    account: str
    sessions: int
    kept: int
    entries: int
    is_admitted: bool


def describe_unlinked(done: Unlinked) -> str:
    """Say what left with an account, and what stayed."""
    reported = [_UNLINKED(account=done.account)]
    if done.sessions:
        reported.append(_UNLINKED_CONVERSATIONS(done.sessions))
    if done.entries:
        reported.append(_UNLINKED_NOTES(done.entries))
    if done.kept:
        reported.append(_UNLINKED_KEPT(done.kept))
    if not done.is_admitted:
        reported.append(_UNLINKED_NOT_ALLOWED())
    return " ".join(reported)


def _quote(text: str, limit: int) -> str:
    """Quote one line in which nothing is read as Markdown."""
    return "`" + (flatten(text, limit).replace("`", "'") or "?") + "`"


def describe_admission(how: str, since: str, *, is_linked: bool, linked: str) -> str:
    """Say how and when an account came to its person; `linked` is the day of the link, if known."""
    admission = _ADMITTED[how](date=since)
    if linked:
        return _LINKED_ON(admission=admission, date=linked)
    return _LINKED(admission=admission) if is_linked else admission
