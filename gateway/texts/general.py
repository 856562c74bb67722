"""Sentences that any part of the gateway says to a person."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from agent_core.localization import LANGUAGES, Plural, Text, join_list, name_language, use_language
from agent_core.safe_names import read_call_name
from agent_core.shown_settings import VERBOSITIES, name_city
from gateway.known_platforms import find_title

CODE_INVALID = Text("That code is invalid, expired or already used. Ask for a new one.")
CODE_ON_PAGE = Text(
    "A code counts for the account that sends it, so I can't take it here. Send it to"
    " me in the chat app."
)
CODE_MISSING = Text("Add the code, for example: /{command} ABCD-EFGH")
CODE_BLOCKED = Text("That code is wrong, too. I'll ignore your codes for the next ten minutes.")
INVITE_IN_GROUP = Text(
    "Others have seen that code here, so I've cancelled it. Ask my owner for a new one, and send it"
    " to me in a direct message."
)
IN_ALREADY = Text("You can talk to me already. Just write.")
LET_IN_ALREADY = Text("{name} can talk to me already.")
WAITS_NO_MORE = Text(
    "{name} isn't waiting any more. If they write to me again, you can let them in."
)
NO_CODE = Text("The code is missing.")
NO_PERSON = Text("There is no person {name}; `talaria people list` shows names and folders.")
SEVERAL_PEOPLE = Text(
    "Several people are called {name}. Instead of the name, write one of these folders: {names}."
)
NAME_WRONG = Text("A name has 1 to {most} printable characters.")
LIMIT_WRONG = Text("The limit must be a number from 1 to {most}.")
OWNER_ONLY = Text("Only an owner can do that.")
APPROVED = Text("{name} can now talk to me.")
CLAIM_IN_GROUP = Text(
    "Others have seen that code here, so I've cancelled it. Run `talaria people claim` for a new"
    " one, and send it to me in a direct message."
)
CONVERSATION_STARTED = Text(
    "I've started a new conversation. You can still search the old one, and I keep what I remember"
    " about you."
)
_YES = Text(
    "yes, yep, yeah, ok, okay, sure, please, please do, of course, do it, do that, go ahead,"
    " exactly, correct"
)
_NO = Text("no, no thanks, no thank you, nope, nah, don't, please don't, better not")
_YES_FIRST, _NO_FIRST = Text("yes"), Text("no, don't")
_NEVER_MIND = Text("nothing, never mind, nevermind, cancel, forget it, leave it, not now")
CHANGED_NOTHING = Text("All right, I've changed nothing.")
SETTING_SAVED = Text("Done.")
VERBOSITY_SAVED = Text("Done. What you see of my work: {shown}.")
LANGUAGE_PARTLY = Text(
    "I'll answer you in that language ({language}). But my buttons and commands are only in"
    " {languages}."
)
SETTING_MISSING = Text(
    "Write the new value after the name, or “off” to clear the setting: /settings {name} …"
)
VERBOSE_USAGE = Text("Write /verbose on to see every step, or /verbose off to see less.")
ZONE_BUTTON = Text("Time zone: {city}")
QUIET_NIGHT = Text("Quiet from 22:00 to 07:00")
QUIET_OFF = Text("No quiet hours")
WEEKENDS_OFF = Text("Weekends off")
NO_DAYS_OFF = Text("No days off")
STOP_NOT_YOURS = Text(
    "I'm working on something for someone else. Only they or an owner can stop it."
)
MOVE_NOT_YOURS = Text(
    "I'm working on something for someone else. The answer goes to the chat where they asked."
)
MOVE_NOTHING = Text("I'm not working on anything that I could continue here.")
STOP_NOTHING = Text("Nothing is running here.")
RETRY_NOTHING = Text("There's nothing to retry here.")
WAITED = Plural(
    "{platform} lets me write only for a day after your last message, so this waited for you:",
    "{platform} lets me write only for a day after your last message, so these {n} messages waited"
    " for you:",
)
MISSED = Plural(
    "While I couldn't reach you here, {n} message was not delivered. Shall I send it now?",
    "While I couldn't reach you here, {n} messages were not delivered. Shall I send them now?",
)
MISSED_SEND = Text("Send now")
RETRY = Text("Try again")
RETRY_RUNNING = Text("I'm still working on it. /stop ends it.")
QUEUED = Text("I'll start on that when I've finished the current answer.")
QUEUED_ASKED = Text("I'll start on that once you've answered my question above.")
QUESTION_OVER = Text("(This no longer needs an answer.)")
QUESTION_LATE = Text("(Nobody answered in time.)")
PRESSED_LATE = Text(
    "(This question had expired, so nothing was done. Ask me again if you still want it.)"
)
QUESTION_EXPIRED = Text(
    "(This question had expired, so nothing has changed. I'm asking again below.)"
)
VOID = Text("(Please ignore this message. My answer is in another one.)")
QUESTION_AGAIN = Text("(I've asked this again below.)")
QUESTION_MOVED = Text("(I've asked this in another chat.)")
QUESTION_ABOVE = Text("What's your answer?")
OWNER_ASKED = Text("An owner has to approve that. I've asked; it may take a few minutes.")
QUESTION_NOT_YOURS = Text("You can't answer that question: it's for someone else.")
EMPTY = Text("Your message was empty. Write what you need.")
ANONYMOUS = Text(
    "I can't tell who wrote this: it was sent in the name of a group or channel. Send it under"
    " your own name, or write to me directly."
)
INTERNAL_ERROR = Text("Something went wrong on my side. Please try again or put it another way.")
DAMAGED_ANSWER = Text("One of my answers was damaged before it reached you. Please ask me again.")
NEAREST_COMMAND = Text("I don't know the command {name}. Did you mean /{nearest}?")
UNKNOWN_COMMAND = Text("I don't know the command {name}. /help lists the commands.")
TOO_LONG = Text(
    "Your message has {size:,} characters, and I can read {limit:,} at once."
    " Send the part that matters, or split it."
)

_CONSOLE = Text("the console")
_SETTINGS = (
    Text("- Time zone: {zone}"),
    Text("- Language: {language}"),
    Text("- Quiet hours: {hours}"),
    Text("- Days off: {days_off}"),
    Text("- What you see of my work: {verbosity}"),
    Text("- Reading limit: {cap}"),
)
_DEFAULT_ZONE = Text("{zone} (default; you haven't set yours)")
_ANY_LANGUAGE = Text("the one you write in")
_NONE = Text("none")
_SETTINGS_USAGE = Text(
    "To change one, just tell me, or send for example:\n"
    "- /settings time_zone Europe/Vienna: your time zone\n"
    "- /settings language de: the language I write in\n"
    "- /settings quiet_hours 22:00-07:30: hours when I send only what is urgent\n"
    "- /settings days_off sat,sun: days when I send only what is urgent\n"
    "- /settings reading_limit 50000: how much I read for one answer, in tokens"
)
HOME = Text("## Now\n\n{status}\n\n## Next reminders\n\n{digests}\n\n## Settings\n\n{settings}")
_MOVED = Text("(I'm continuing this on {platform}.)")
_STOPPED_ELSEWHERE = Text("I've stopped what I was doing on {platform}.")
_UNSENT_FILES = Text("I made {names}, but I can't send files here. Ask for them in another chat.")
_REPLY_WITH_NUMBER = Text("Reply with the number.")
_REPEAT = Text("(You may have received this before.)")
_STRANGER = Text(
    "I don't know you yet, so I can't answer. Ask my owner to send me this within a"
    " day:\n"
    "{approve}\n"
    "If you already talk to me in another app, send me {linking} there instead."
)
_STRANGER_THERE = Text("On {platform}, these commands are {approve} and {linking}.")
STRANGER_AGAIN = Text(
    "I don't know you yet, so I can't answer. Ask my owner to approve the code that I gave you."
)
COMMAND_TAKEN = Text("I'm working on it. You'll see the rest below.")
COMMAND_DONE = Text("Done.")
_STRANGER_NO_OWNER = Text(
    "I don't have an owner yet. If you run me, send me /claim and the code that Talaria printed"
    " when it started."
)
_FAILURES = {
    "model_busy": Text("The model stayed overloaded, so I stopped trying."),
    "model_unreachable": Text("I couldn't reach the model for a long time, so I stopped trying."),
    "model_cut": Text("The model's answers kept breaking off, so I stopped trying."),
    "model_rejected": Text("The model rejected the request."),
    "model_unknown": Text(
        "The provider doesn't offer the model that is set up here. An owner can correct that."
    ),
    "model_misplaced": Text(
        "No model answers at the address that is set up here. An owner can correct that."
    ),
    "model_denied": Text(
        "The model's provider rejected the key that is set up here. An owner can correct that."
    ),
    "overflow": Text(
        "With your message, this conversation is too long for me. Send less at once, or start a new"
        " one with /new; you can still search this one."
    ),
    "empty": Text("The model gave no answer."),
    "length": Text("The model ran out of space before it could answer."),
    "crashed": Text("I was interrupted several times while working on this, so I stopped."),
    "off": Text("I was interrupted while working on this and couldn't continue."),
}
_OTHER_FAILURE = Text("Something went wrong on my side.")
_PROVIDER_SAID = Text("The provider said: {detail}")
_RETRY = Text("I still have your message: /retry tries again.")
NOT_STARTED = Text("I couldn't start working on your message. Please send it again later.")
DAMAGED = Text(
    "I can't continue: this conversation is damaged in my storage. Use /new to start a new one, or"
    " ask an owner to restore a backup."
)
_DECLINED = Text("The model declined to answer this. Try putting it another way.")
_DECLINED_FOR = Text("The model declined to answer this ({category}). Try putting it another way.")
_LIMITS = {
    "steps": Text(
        "(I stopped: I've taken as many steps as one answer may take. Say “go on” to continue.)"
    ),
    "tokens": Text(
        "(I stopped: I've read and written as much as I may for one answer. Say “go on” to"
        " continue.)"
    ),
    "money": Text(
        "(I stopped: I've reached my spending limit for one answer. Say “go on” to continue.)"
    ),
    "time": Text(
        "(I stopped: I've reached my time limit for one answer. Say “go on” to continue.)"
    ),
    "no_progress": Text(
        "(I stopped: I kept repeating the same step. Say “go on” to continue, or put it"
        " another way.)"
    ),
}
_OTHER_LIMIT = Text("(I stopped: I've reached a limit for one answer. Say “go on” to continue.)")
_STOPPED = Text("(Stopped.)")
_STOPPED_AFTER = Text("(Stopped. Done so far: {tools}.)")
_CUT = {
    "length": Text(
        "(This answer is cut off, because the model can't write a longer one at once. Say “go"
        " on” to continue.)"
    ),
    "unknown_stop": Text("(The model stopped for an unknown reason. Say “go on” to continue.)"),
    "rule_unmet": Text("(Check this answer: a rule asks me to use a tool first, and I didn't.)"),
    "left_out": Text(
        "(The model's server refused a part of this conversation. I answered without that part.)"
    ),
    "left_out_message": Text(
        "(The model's server refused your message, so I answered without reading it. Put it"
        " in other words, or leave out any file.)"
    ),
    "left_out_results": Text(
        "(The model's server refused what my tools found, so I answered without it.)"
    ),
    "left_out_earlier": Text(
        "(The model's server refused earlier messages of this conversation, so I answered without"
        " them. They are still stored.)"
    ),
}
_DEAD = Text("I couldn't deliver an answer here. /retry sends it again.")
_DEAD_REASON = Text("The chat app says: “{reason}”")
_STATUS_TITLE = Text("**{title}**")
_UNTITLED = Text("This conversation")
_STATUS_LINES = {
    True: Text("Messages: {messages:,} · I'm working on an answer"),
    False: Text("Messages: {messages:,} · I have nothing to do"),
}
_STATUS_WAITING = Text("Waiting messages: {waiting:,}")
_STATUS_ASKED = Text("I'm waiting for your answer to “{question}”")
_STATUS_MODEL = Text("Model: {model}")
_STATUS_USAGE = Text(
    "Last 24 hours: {read:,} tokens read ({share:.0%} from the cache), {written:,} written, {cost}"
)
_STATUS_UNDELIVERED = Plural(
    "{n:,} message wasn't delivered; /retry sends it again.",
    "{n:,} messages weren't delivered; /retry sends them again.",
)
_QUEUE_EMPTY = Text("No message is waiting.")
_QUEUE = Plural("{n} message is waiting.", "{n} messages are waiting.")
_QUEUE_USAGE = Text(
    "Write /queue in front of a message, and I'll start on it when the current answer is done."
)
PURPOSE = Text("I answer questions, keep things in mind and remind you on time.")
EXAMPLES = (
    Text("“Remind me tomorrow at 9 to feed the dog”"),
    Text("“Remember that I'm allergic to nuts”"),
    Text("“What do you know about me?”"),
)
"""Examples of what a newcomer may ask for; the stand-in understands them, too."""
_PERSON = Text("You are {name} ({role}).\nAccounts: {accounts}\nTime zone: {zone}")
_ROLES = {"owner": Text("owner"), "member": Text("member")}
_HELP = Text(
    "Just write to me. You can also add or correct something while I'm working. For example:"
)
HelpGroup = Literal["talk", "reminders", "memory", "abilities", "you", "data"]
_HELP_GROUPS: Mapping[HelpGroup, Text] = {
    "talk": Text("Our conversation"),
    "reminders": Text("Reminders"),
    "memory": Text("What I remember"),
    "abilities": Text("What I can do"),
    "you": Text("You and your accounts"),
    "data": Text("Your data"),
}
COMMAND_ARGUMENT = Text("What comes after the command")
_MORE_COMMANDS = Plural(
    "There is {n} more command. To see it, send /help all.",
    "There are {n} more commands. To see them, send /help all.",
)


def describe_stranger(code: str | None, prefixes: Mapping[str, str]) -> str:
    """Greet an unknown person, with a pairing code; None if the gateway has no owner.

    `prefixes` holds the text in front of a command on each platform where it is not a slash.
    """
    if not code:
        return _STRANGER_NO_OWNER()

    def spell(prefix: str) -> dict[str, str]:
        # In code, so that the reader's platform changes nothing: both are typed elsewhere.
        return {"approve": f"`{prefix}approve {code}`", "linking": f"`{prefix}link`"}

    there = (
        _STRANGER_THERE(platform=name_platform(platform), **spell(prefix))
        for platform, prefix in prefixes.items()
    )
    return " ".join([_STRANGER(**spell("/")), *there])


def describe_settings(
    *, zone: str, is_default_zone: bool, values: dict[str, str], verbosity: str, more: Sequence[str]
) -> str:
    """Show a person's settings; `values` are language, hours, days_off and cap, or empty.

    `more` are further lines.
    """
    shown = {name: value or _NONE() for name, value in values.items()} | {
        "zone": _DEFAULT_ZONE(zone=name_city(zone)) if is_default_zone else name_city(zone),
        "language": name_language(values["language"]) or _ANY_LANGUAGE(),
        "verbosity": VERBOSITIES[verbosity](),
    }
    return "\n".join((*(line(**shown) for line in _SETTINGS), *more, "", _SETTINGS_USAGE()))


def describe_move(platform: str) -> str:
    """Close a live message whose turn continues on another platform."""
    return _MOVED(platform=name_platform(platform))


def describe_stop_elsewhere(platform: str) -> str:
    """Confirm the stop of a turn whose answer was due on another platform."""
    return _STOPPED_ELSEWHERE(platform=name_platform(platform))


def name_platform(platform: str) -> str:
    """Return the name of a platform that people know."""
    if platform == "console":
        return _CONSOLE()
    return "API" if platform == "api" else find_title(platform) or platform


def describe_unsent_files(names: Sequence[str]) -> str:
    """Say that files were made but can't be sent here."""
    return _UNSENT_FILES(names=join_list(names))


def list_choices(question: str, labels: Sequence[str]) -> str:
    """Append numbered choices to a question, for chats without buttons."""
    lines = [f"{number}. {label}" for number, label in enumerate(labels, start=1)]
    return "\n".join([question, "", *lines, "", _REPLY_WITH_NUMBER()])


def close_question(question: str, outcome: str) -> str:
    """Append the outcome to a closed question."""
    return f"{question}\n\n{outcome}"


def describe_choice(label: str, name: str) -> str:
    """Show which choice was made, and by whom if their name can stand there."""
    called = read_call_name(name)
    return f"→ {label} ({called})" if called else f"→ {label}"


def describe_failure(reason: str, *, detail: str = "") -> str:
    """Explain why a turn failed; `detail` is the provider's message, for owners only."""
    sentences = [_FAILURES.get(reason, _OTHER_FAILURE)()]
    if detail and reason.startswith("model_"):
        sentences.append(_PROVIDER_SAID(detail=detail))
    return " ".join([*sentences, _RETRY()])


def explain_ending(state: str, reason: str) -> str:
    """Explain why a turn ended without an answer; "" if it was answered or still runs."""
    match state:
        case "failed" if reason == "damaged":
            return DAMAGED()
        case "failed":
            return _FAILURES.get(reason, _OTHER_FAILURE)()
        case "exhausted":
            return _LIMITS.get(reason, _OTHER_LIMIT)()
        case "refused":
            return describe_refusal(reason)
        case "stopped":
            return _STOPPED()
        case _:
            return ""


def describe_refusal(category: str) -> str:
    """Say that the model declined, with the provider's category if there is one."""
    return _DECLINED_FOR(category=category) if category else _DECLINED()


def describe_limit(reason: str, summary: str) -> str:
    """Append to an answer which limit ended its turn."""
    return _append(summary, _LIMITS.get(reason, _OTHER_LIMIT)())


def describe_stop(shown: str, tools: Sequence[str]) -> str:
    """Append to an answer that a person stopped it, and which tools ran before that."""
    return _append(shown, _STOPPED_AFTER(tools=join_list(tools)) if tools else _STOPPED())


def note_cut(text: str, reason: str) -> str:
    """Append to an answer that it is incomplete, if it is."""
    return _append(text, _CUT[reason]()) if reason in _CUT else text


def note_repeat(text: str) -> str:
    """Mark a message that may have been delivered before."""
    note = _REPEAT()
    return text if text.startswith(note) else f"{note}\n\n{text}"


def describe_dead(reason: str = "") -> str:
    """Say that an answer could not be delivered; an owner sees the platform's own `reason`."""
    return f"{_DEAD()}\n\n{_DEAD_REASON(reason=reason)}" if reason else _DEAD()


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The state of a conversation. Tokens and money are those of the last 24 hours."""

    model: str
    title: str
    messages: int
    is_running: bool
    waiting: int
    input_tokens: int
    cache_read_tokens: int
    output_tokens: int
    cost: str
    undelivered: int
    memory: str = ""
    """The state of the external memory, if there is one."""
    asked: str = ""
    """The question for whose answer Talaria waits, in any chat."""


def describe_status(status: Status) -> str:
    """Describe the state of a conversation and its cost in a few lines."""
    share = status.cache_read_tokens / status.input_tokens if status.input_tokens else 0.0
    lines = [
        _STATUS_TITLE(title=status.title or _UNTITLED()),
        _STATUS_LINES[status.is_running](messages=status.messages),
        _STATUS_MODEL(model=status.model),
        _STATUS_USAGE(
            read=status.input_tokens,
            share=share,
            written=status.output_tokens,
            cost=status.cost,
        ),
    ]
    if status.waiting:
        lines.insert(2, _STATUS_WAITING(waiting=status.waiting))
    if status.asked:
        lines.insert(2, _STATUS_ASKED(question=status.asked))
    if status.memory:
        lines.append(status.memory)
    if status.undelivered:
        lines.append(_STATUS_UNDELIVERED(status.undelivered))
    return "\n".join(lines)


def describe_queue(waiting: int) -> str:
    """Say how many messages wait, and how to add one."""
    return f"{_QUEUE(waiting) if waiting else _QUEUE_EMPTY()} {_QUEUE_USAGE()}"


def name_role(role: str) -> str:
    """Return the role of a person in words."""
    return _ROLES[role]() if role in _ROLES else role


def describe_person(name: str, role: str, accounts: Sequence[str], zone: str) -> str:
    """Show a person's name, role, accounts and time zone."""
    return _PERSON(
        name=name, role=name_role(role), accounts=", ".join(accounts), zone=name_city(zone)
    )


def describe_commands(groups: Mapping[HelpGroup, Sequence[tuple[str, str]]], *, more: int) -> str:
    """List commands as (names, summary) below the titles of groups; `more` of them are left out."""
    examples = "\n".join(f"- {example()}" for example in EXAMPLES)
    parts = [f"{PURPOSE()} {_HELP()}\n{examples}"]
    for group, commands in groups.items():
        lines = [f"{names}: {Text(summary)()}" for names, summary in commands]
        parts.append("\n".join([f"**{_HELP_GROUPS[group]()}**", *lines]))
    if more:
        parts.append(_MORE_COMMANDS(more))
    return "\n\n".join(parts)


def _append(text: str, note: str) -> str:
    return f"{text}\n\n{note}" if text else note


def read_yes_or_no(words: str) -> bool | None:
    """Return whether words are a bare yes, or a bare no; None for anything else.

    "Nothing, never mind" is a no. Each language counts, whatever the reader's is.
    """
    if re.fullmatch(_any_of(_YES), _plain(words)):
        return True
    return False if re.fullmatch(_any_of(_NO, _NEVER_MIND), _plain(words)) else None


def starts_with_yes_or_no(label: str) -> bool | None:
    """Return whether the label of a button is a yes, or a no; None for neither.

    It may go on, such as "Yes, delete".
    """
    for first, means in ((_YES_FIRST, True), (_NO_FIRST, False)):
        if re.match(rf"{_any_of(first)}\b", _plain(label)):
            return means
    return read_yes_or_no(label)


def _any_of(*texts: Text) -> str:
    """Make a pattern for one or several of the phrases that texts list in any language."""
    known: list[str] = []
    for tag in LANGUAGES:
        with use_language(tag):
            known += [part for text in texts for part in text().split(", ")]
    one = "|".join(re.escape(part) for part in sorted(known, key=len, reverse=True))
    return rf"(?:{one})(?: (?:{one}))*"


def _plain(words: str) -> str:
    plain = words.casefold().replace(",", " ").replace("’", "'")
    return " ".join(plain.split()).strip(".! ")
