"""Sentences about learning: what was learned, what needs approval, and how to change that."""

import json
import re
from collections.abc import Sequence

from agent_core.agent.review.claim_check import LONGEST, Claim
from agent_core.agent.review.record import HeldClaim, Lesson
from agent_core.localization import Plural, Text
from agent_core.memory.approval import fence
from agent_core.state.people.people import Learning, Summary
from agent_core.transcript import flatten, strip_controls
from gateway.texts import skills

_LEARNED = Text("Learned from what you said:")
_LINE = Text("- {entry}")
_LINE_INSTEAD = Text("- {entry} (before: {was})")
_MOVED = Text(
    "There is no more room in my notes about you. The ones I needed least are now in the"
    " archive, where I can still find them:"
)
_MERGED = Text("My notes about you were nearly full, so I merged some:")
_LEFT_OUT = Text("What the merged notes leave out is in the archive, where I can still find it:")
_ENDED = Text("This is over, so I moved it to the archive:")
_HELD = Plural(
    "{n} note waits for your yes: /learned review",
    "{n} notes wait for your yes: /learned review",
)
_FEED = Text("**What I learned from our conversations**")
_FEED_LINE = Text("{number}. {entry} ({date})")
_FEED_HINT = Text(
    "/why {number} shows the message behind note {number}, and /undo {number} takes the note back."
)
NOTHING = Text(
    "I haven't learned anything from our conversations yet. /memory shows what you asked me to"
    " remember."
)
HOW = Text(
    "How I learn: now and then, I read again what you wrote to me here. I do so after about ten"
    " answers, four hours of silence or a correction. I keep what you said about yourself, and tell"
    " you. Where I'm not sure, I ask. I never learn from the words of others. The buttons below"
    " change that."
)
_UNPROVED = Text("**Noted while we talked, but your messages don't clearly say so**")
_UNPROVED_HINT = Text("If a note is wrong, delete it like this: /memory forget {number}")
SWITCHED_OFF = Text("I don't learn from our conversations. Choose below to change that.")
UNTRUSTED = Text(
    "I don't learn from our conversations yet: this model hasn't passed the test for that."
    " An owner can run this test with `talaria models test`, or choose another model. I"
    " still remember what you ask me to remember."
)
NO_REVIEWS = Text("The owner has switched learning off.")
LOOKING = Text(
    "I'm looking through our last messages for what will still matter in a few weeks."
    " /learned shows what I keep."
)
NOTHING_NEW = Text("There's nothing new to learn: we haven't talked since I last looked.")
NOTHING_HELD = Text("No note waits for your yes. /learned shows what I learned.")
NOTHING_DISMISSED = Text("There's no dismissed note that I could bring back.")
_DISMISSED = Text("**Dismissed, or not answered in time**")
_DISMISSED_LINE = Text("{number}. {entry}")
_DISMISSED_HINT = Text("/learned restore {number} makes me ask you about note {number} again.")
RESTORE = Text("Bring back {number}")
DISMISSED_UNKNOWN = Text(
    "There's no dismissed note with that number. To see all of them, send /learned dismissed."
)
_QUESTION = Text("Should I remember this? {doubt}\n\n{entry}\n\nYou wrote: {quote}")
_QUESTION_REPLACE = Text(
    "Should I replace this note? {doubt}\n\nThe old one:\n{was}\nThe new one:\n{entry}\n\nYou"
    " wrote: {quote}"
)
_QUESTION_REPLACE_UNPROVED = Text(
    "Should I replace this note? {doubt}\n\nThe old one:\n{was}\nThe new one:\n{entry}"
)
_QUESTION_UNPROVED = Text("Should I remember this? {doubt}\n\n{entry}")
_QUESTION_NOTE = Text(
    "The same thing went wrong twice. Should I remember this?\n\n{entry}\n\nThe first"
    " time:\n{earlier}\nThe second time:\n{later}"
)
_QUESTION_PATCH = Text(
    "The same thing went wrong twice. Should I change the skill “{name}”?\n"
    "\n"
    "Instead of:\n"
    "{was}\n"
    "it would say:\n"
    "{entry}\n"
    "\n"
    "The first time:\n"
    "{earlier}\n"
    "The second time:\n"
    "{later}"
)
_QUESTION_WORK_NOTE = Text(
    "Should I remember this for next time? You didn't tell me; I learned it from what I did.\n\n"
    "{entry}\n\nWhat I did:\n{work}"
)
_QUESTION_WORK_PATCH = Text(
    "Should I change my skill “{name}” after this work?\n"
    "\n"
    "Instead of:\n"
    "{was}\n"
    "it would say:\n"
    "{entry}\n"
    "\n"
    "The work:\n"
    "{work}"
)
_QUESTION_WORK_SKILL = Text(
    "Should I write the skill “{name}” from this work? I'll use it as soon as it passes its"
    " test.\n"
    "\n"
    "{entry}\n"
    "\n"
    "The work:\n"
    "{work}"
)
_TRACES = {
    "person": Text("You wrote: {words}"),
    "assistant": Text("I answered: {words}"),
    "correction": Text("Then you wrote: {words}"),
    "script": Text("The script that ran: {words}"),
    "error": Text("What went wrong: {words}"),
}
_CALLED = Text("I used {name}: {words}")
_CALLED_WELL = Text("I used {name}, which went well: {words}")
_CALLED_BADLY = Text("I used {name}, which failed: {words} ({reason})")
_DRAFT = Text("The new skill is a draft. I test it before I rely on it.")
KEEP_ALL, KEEP_NONE = Text("Keep all"), Text("None")
ONE_BY_ONE = Text("One by one")
_QUESTION_ALL = Text(
    "Should I remember these notes? I wasn't sure about them.\n\n{entries}\n\n“{one}” shows where"
    " each comes from."
)
_ENTRY = Text("{number}. {entry}")
_ENTRY_INSTEAD = Text("{number}. {entry} (before: {was})")
_ENTRY_SKILL = Text("{number}. A change to the skill “{name}”: I'll show it before you decide")
_MORE_WAIT = Plural(
    "{n} more question waits; I'll ask it next.", "{n} more questions wait; I'll ask them next."
)
_KEPT_ALL = Plural(
    "I'll remember this note. /memory shows it, and /undo takes it back.",
    "I'll remember these {n} notes. /memory shows them, and /undo takes back the newest.",
)
_KEPT_NONE = Plural(
    "I won't remember this note, and I won't ask again. You can still see it with /learned"
    " dismissed.",
    "I won't remember these {n} notes, and I won't ask again. You can still see them with"
    " /learned dismissed.",
)
ASKING_EACH = Text("I'll ask about each note.")
ASKED_AGAIN = Text("I'm asking about these notes again in a newer message.")
NOTES_GONE = Text("These notes no longer wait for your answer. /learned shows what I learned.")
DECIDE = Text("Decide now")
_DOUBTS = {
    "asked": Text("You asked to decide about each note."),
    "source": Text("I'm not sure which of your messages this comes from."),
    "quote": Text("I'm not sure that I got your words right."),
    "words": Text("The wording is mine, so please check it."),
    "sense": Text("I'm not sure whether you meant this or the opposite."),
    "question": Text("I'm not sure whether you meant it as a fact."),
    "voice": Text("I wrote it as if I were you, so please check it."),
    "replace": Text("It changes what I knew before."),
    "undone": Text("You removed a note like this before."),
    "again": Text("You dismissed a note like this before, but have said the same again since."),
    "unsure": Text("I'm not sure whether you meant it to last."),
    "unjudged": Text("I couldn't check it against your words just now."),
    "gone": Text("The note that this should replace is gone, so I'd add this as a new one."),
}
MODE_SAVED: dict[Learning, Text] = {
    "off": Text("I no longer learn from our conversations. What I remember stays."),
    "ask": Text("I'll ask before I remember something from our conversations."),
    "quiet": Text("I'll tell you what I learn from our conversations, without a sound."),
    "tell": Text("I'll tell you with a sound when I learn something from our conversations."),
}
SUMMARY_SAVED: dict[Summary, Text] = {
    "daily": Text("Once a day, in the morning, I'll tell you what I've learned."),
    "weekly": Text("Once a week, on Monday morning, I'll tell you what I've learned."),
}
USAGE = Text(
    "With /learned you can:\n"
    "- /learned: see what I learned from our chats\n"
    "- /learned review: decide about notes that wait for your yes\n"
    "- /learned dismissed: see the notes you dismissed\n"
    "- /learned ask: decide about every note first\n"
    "- /learned tell: get a sound for each new note; /learned quiet stops that\n"
    "- /learned daily or /learned weekly: get one summary instead\n"
    "- /learned off: stop me learning"
)

_STEP = re.compile(
    r"(?:\[turn \d+\] )?(?P<name>[\w-]+)(?P<colon>:?) (?P<words>\"(?:[^\"\\]|\\.)*\")(?P<end>.*)"
)
"""A line of a trace: who said what, or a tool with what it got and how that ended."""
_FAILED = "failed: "


def _quote(words: str) -> str:
    return f"`{flatten(words, LONGEST).replace(chr(96), chr(39))}`"


def describe_learned(
    entries: Sequence[tuple[str, Sequence[str]]],
    held: int,
    *,
    merged: Sequence[tuple[str, Sequence[str], Sequence[str]]] = (),
    ended: Sequence[str] = (),
    moved: Sequence[str] = (),
    has_draft: bool = False,
) -> str:
    """Report new entries, each with those that it replaced, and how many wait.

    `merged` are entries that stand for several, each with those and with the ones that it leaves
    out. `has_draft` says that one is a skill. `ended` were over, and `moved` made room.
    """
    lost = [one for _, _, left_out in merged for one in left_out]
    parts = (
        _list([_LEARNED(), *(_list_learned(*one) for one in entries)]),
        _list([_MERGED(), *(_list_learned(text, was) for text, was, _ in merged)]),
        _list([_LEFT_OUT(), *map(_list_one, lost)]),
        _list([_ENDED(), *map(_list_one, ended)]),
        describe_moved(moved) if moved else "",
        _DRAFT() if has_draft else "",
        _HELD(held) if held else "",
    )
    return "\n\n".join(filter(None, parts))


def _list(lines: Sequence[str]) -> str:
    """Join a heading and its lines; "" if it has none."""
    return "\n".join(lines) if len(lines) > 1 else ""


def _list_one(entry: str) -> str:
    return _LINE(entry=_quote(entry))


def _list_learned(entry: str, was: Sequence[str]) -> str:
    if was:
        return _LINE_INSTEAD(entry=_quote(entry), was=", ".join(map(_quote, was)))
    return _list_one(entry)


def describe_moved(entries: Sequence[str]) -> str:
    """Say which notes a full list has moved to the archive."""
    return _list([_MOVED(), *map(_list_one, entries)])


def ask_about(claim: Claim, doubt: str, replaced: str = "") -> str:
    """Ask whether to remember a claim, and say why it is not remembered without a yes.

    `replaced` is the note that goes for it; both are shown whole.
    """
    reason = describe_doubt(doubt)
    is_proved = doubt not in ("source", "quote")
    if replaced:
        was, entry = (fence(strip_controls(one)) for one in (replaced, claim.text))
        if not is_proved:
            return _QUESTION_REPLACE_UNPROVED(doubt=reason, was=was, entry=entry)
        quote = _quote(claim.quote)
        return _QUESTION_REPLACE(doubt=reason, was=was, entry=entry, quote=quote)
    if not is_proved:
        return _QUESTION_UNPROVED(doubt=reason, entry=fence(claim.text))
    return _QUESTION(doubt=reason, entry=fence(claim.text), quote=_quote(claim.quote))


def describe_doubt(doubt: str) -> str:
    """Say why a claim waits for a yes; "" for a lesson: its question shows its own reason."""
    return _DOUBTS[doubt]() if doubt in _DOUBTS else ""


def ask_about_all(notes: Sequence[tuple[HeldClaim, str]], more: int) -> str:
    """Ask about several notes at once, each with the note that it replaces, "" for none.

    `more` notes wait for the next question.
    """
    lines = [_list_note(number, *note) for number, note in enumerate(notes, 1)]
    entries = "\n".join([*lines, *([_MORE_WAIT(more)] if more else [])])
    return _QUESTION_ALL(entries=entries, one=ONE_BY_ONE())


def _list_note(number: int, held: HeldClaim, replaced: str) -> str:
    if held.lesson and held.lesson.skill:
        return _ENTRY_SKILL(number=number, name=held.lesson.skill)
    entry = _quote(held.claim.text)
    if replaced:
        return _ENTRY_INSTEAD(number=number, entry=entry, was=_quote(replaced))
    return _ENTRY(number=number, entry=entry)


def describe_kept(count: int) -> str:
    """Say that notes are remembered after a yes."""
    return _KEPT_ALL(count)


def describe_dismissed(count: int) -> str:
    """Say that notes are not remembered."""
    return _KEPT_NONE(count)


def show_trace(trace: str) -> str:
    """Show what happened in a turn as its person would tell it, from the text for the model."""
    return "\n".join(map(_show_step, trace.splitlines()))


def _show_step(line: str) -> str:
    found = _STEP.fullmatch(line)
    try:
        words = str(json.loads(found["words"])) if found else ""
    except ValueError:
        return line
    if not found:
        return line
    name, end = found["name"], found["end"].strip()
    if name == "person" and (skill := skills.find_name(words)):
        words = f"/{skill} {skills.find_words(words)}".strip()
    if found["colon"]:
        return _TRACES[name](words=words) if name in _TRACES else _CALLED(name=name, words=words)
    if end.startswith(_FAILED):
        return _CALLED_BADLY(name=name, words=words, reason=end.removeprefix(_FAILED))
    return _CALLED_WELL(name=name, words=words)


def ask_about_lesson(lesson: Lesson) -> str:
    """Show a change and ask whether to make it, after one mistake happened twice or after some
    work.
    """
    entry, was = fence(lesson.text), fence(lesson.old)
    if len(lesson.traces) == 1:
        work = fence(show_trace(lesson.traces[0]))
        if not lesson.skill:
            return _QUESTION_WORK_NOTE(entry=entry, work=work)
        question = _QUESTION_WORK_PATCH if lesson.old else _QUESTION_WORK_SKILL
        return question(name=lesson.skill, was=was, entry=entry, work=work)
    earlier, later = (fence(show_trace(one)) for one in lesson.traces)
    if not lesson.skill:
        return _QUESTION_NOTE(entry=entry, earlier=earlier, later=later)
    return _QUESTION_PATCH(name=lesson.skill, was=was, entry=entry, earlier=earlier, later=later)


def list_feed(lines: Sequence[tuple[str, str, str]], held: int) -> str:
    """List learned entries as (number, entry, date)."""
    shown = [
        _FEED_LINE(number=number, entry=_quote(entry), date=date) for number, entry, date in lines
    ]
    numbers = (number for number, _, _ in lines if not number.startswith("skill "))
    hint = "".join(_FEED_HINT(number=number) for number in [*numbers][:1])
    parts = [_FEED(), "\n".join(shown), hint, _HELD(held) if held else ""]
    return "\n\n".join(filter(None, parts))


def list_unproved(lines: Sequence[tuple[str, str, str]]) -> str:
    """List entries that no words of the person prove, as (number, entry, date)."""
    shown = [
        _FEED_LINE(number=number, entry=_quote(entry), date=date) for number, entry, date in lines
    ]
    return "\n".join([_UNPROVED(), *shown, _UNPROVED_HINT(number=lines[0][0])])


def list_dismissed(dismissed: Sequence[tuple[int, str]]) -> str:
    """List dismissed notes as (number, note), and say how to bring one back."""
    lines = [_DISMISSED_LINE(number=number, entry=_quote(note)) for number, note in dismissed]
    hint = _DISMISSED_HINT(number=dismissed[0][0])
    return "\n\n".join((_DISMISSED(), "\n".join(lines), hint))
