"""Sentences about learning: what was learned, what needs approval, and how to change that."""

from collections.abc import Sequence

from agent_core.agent.review.claim_check import LONGEST, Claim
from agent_core.agent.review.record import Lesson
from agent_core.localization import Plural, Text
from agent_core.memory.approval import fence
from agent_core.memory.explanations import ChangeName
from agent_core.state.people.people import Learning, Summary
from agent_core.transcript import flatten, strip_controls

_LEARNED = Text("Learned from what you said:")
_LINE = Text("- {entry}")
_HELD = Plural(
    "{n} note needs your approval: /learned review",
    "{n} notes need your approval: /learned review",
)
_FEED = Text("**What I learned from our conversations**")
_FEED_LINE = Text("{number}. {entry} ({date})")
_FEED_HINT = Text(
    "/why {number} shows the message behind entry {number}, and /undo {number} removes it."
)
NOTHING = Text(
    "I haven't learned anything yet. After about ten answers, I look for facts that you stated and"
    " that will matter for weeks."
)
SWITCHED_OFF = Text("I don't learn from our conversations. Choose below to change that.")
UNTRUSTED = Text(
    "I don't learn from our conversations: the model has not passed its fitness test for reviews."
)
NO_REVIEWS = Text("The owner has switched learning off.")
LOOKING = Text(
    "I'm looking through our last messages for what will matter for weeks. /learned shows what I"
    " keep."
)
NOTHING_NEW = Text("We haven't talked since I last looked for something to learn.")
NOTHING_HELD = Text("Nothing needs your approval.")
ASKED_BELOW = Text("I'm asking about each note below.")
NOTHING_DISMISSED = Text("You haven't dismissed anything that could come back.")
_DISMISSED = Text("**Dismissed, or not answered in time**")
_DISMISSED_LINE = Text("{number}. {entry}")
_DISMISSED_HINT = Text("/learned restore {number} asks about note {number} again.")
RESTORE = Text("Bring back {number}")
RESTORED = Text("I'm asking about it again below.")
DISMISSED_UNKNOWN = Text(
    "There's no dismissed note with that number. /learned dismissed lists them."
)
_QUESTION = Text("Should I remember this? {doubt}\n\n{entry}\n\nYou wrote: {quote}")
_QUESTION_REPLACE = Text(
    "Should I replace this note? {doubt}\n\nThis goes:\n{was}\nThis comes:\n{entry}\n\nYou wrote:"
    " {quote}"
)
_QUESTION_REPLACE_UNPROVED = Text(
    "Should I replace this note? {doubt}\n\nThis goes:\n{was}\nThis comes:\n{entry}"
)
_QUESTION_UNPROVED = Text("Should I remember this? {doubt}\n\n{entry}")
_QUESTION_NOTE = Text(
    "The same thing went wrong twice. Should I remember this?\n\n{entry}\n\nThe first"
    " time:\n{earlier}\nThe second time:\n{later}"
)
_QUESTION_PATCH = Text(
    "The same thing went wrong twice. Should I change the skill {name}?\n\nInstead of:\n{was}\nit"
    " would say:\n{entry}\n\nThe first time:\n{earlier}\nThe second time:\n{later}"
)
_QUESTION_WORK_NOTE = Text(
    "Should I remember this for the next time? Your messages don't say it; I concluded it from my"
    " work.\n\n{entry}\n\nThe work:\n{work}"
)
_QUESTION_WORK_PATCH = Text(
    "Should I change my skill {name} after this work?\n\nInstead of:\n{was}\nit would"
    " say:\n{entry}\n\nThe work:\n{work}"
)
_QUESTION_WORK_SKILL = Text(
    "Should I write the skill {name} from this work? It counts once its test"
    " passes.\n\n{entry}\n\nThe work:\n{work}"
)
_DRAFT = Text("The new skill is a draft. I test it before I rely on it.")
DECIDE = Text("Decide now")
_DOUBTS = {
    "asked": Text("You asked to decide about each note."),
    "source": Text("I can't tell which of your messages says this."),
    "quote": Text("I can't find these words in your message."),
    "words": Text("It says more than your message does."),
    "sense": Text("Your message may say the opposite."),
    "question": Text("Your message is a question or only a possibility."),
    "voice": Text("It speaks in your name."),
    "replace": Text("It would replace another note."),
    "gone": Text("The note that it was to replace is gone, so it would be added."),
}
MODES: dict[Learning, Text] = {
    "off": Text("Don't learn"),
    "ask": Text("Ask first"),
    "quiet": Text("Tell me silently"),
    "tell": Text("Tell me with a notification"),
}
MODE_SAVED: dict[Learning, Text] = {
    "off": Text("I no longer learn from our conversations. What I remember stays."),
    "ask": Text("I'll ask before I remember something from our conversations."),
    "quiet": Text("I'll tell you what I learn from our conversations, without a notification."),
    "tell": Text("I'll notify you when I learn something from our conversations."),
}
SUMMARIES: dict[Summary, Text] = {
    "daily": Text("Daily summary"),
    "weekly": Text("Weekly summary"),
}
SUMMARY_SAVED: dict[Summary, Text] = {
    "daily": Text("I'll tell you what I learn once a day, in the morning."),
    "weekly": Text("I'll tell you what I learn once a week, on Monday morning."),
}
USAGE = Text(
    "Send /learned, /learned review, /learned dismissed, /learned off, /learned ask,"
    " /learned quiet, /learned tell, /learned daily or /learned weekly."
)


def _quote(words: str) -> str:
    return f"`{flatten(words, LONGEST).replace(chr(96), chr(39))}`"


def describe_learned(entries: Sequence[str], held: int, *, has_draft: bool = False) -> str:
    """Report new entries, and how many wait; `has_draft` if one is a skill."""
    lines = [_LEARNED(), *(_LINE(entry=_quote(one)) for one in entries)]
    shown = "\n".join(lines) if entries else ""
    draft = _DRAFT() if has_draft else ""
    return "\n\n".join(filter(None, (shown, draft, _HELD(held) if held else "")))


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


def ask_about_lesson(lesson: Lesson) -> str:
    """Show a change and ask whether to make it, after one mistake happened twice or after some
    work.
    """
    entry, was = fence(lesson.text), fence(lesson.old)
    if len(lesson.traces) == 1:
        work = fence(lesson.traces[0])
        if not lesson.skill:
            return _QUESTION_WORK_NOTE(entry=entry, work=work)
        question = _QUESTION_WORK_PATCH if lesson.old else _QUESTION_WORK_SKILL
        return question(name=lesson.skill, was=was, entry=entry, work=work)
    earlier, later = map(fence, lesson.traces)
    if not lesson.skill:
        return _QUESTION_NOTE(entry=entry, earlier=earlier, later=later)
    return _QUESTION_PATCH(name=lesson.skill, was=was, entry=entry, earlier=earlier, later=later)


def list_feed(lines: Sequence[tuple[ChangeName, str, str]], held: int) -> str:
    """List learned entries as (number, entry, date)."""
    shown = [
        _FEED_LINE(number=number, entry=_quote(entry), date=date) for number, entry, date in lines
    ]
    numbers = (number for number, _, _ in lines if not str(number).startswith("skill "))
    hint = "".join(_FEED_HINT(number=number) for number in [*numbers][:1])
    parts = [_FEED(), "\n".join(shown), hint, _HELD(held) if held else ""]
    return "\n\n".join(filter(None, parts))


def list_dismissed(dismissed: Sequence[tuple[int, str]]) -> str:
    """List dismissed notes as (number, note), and say how to bring one back."""
    lines = [_DISMISSED_LINE(number=number, entry=_quote(note)) for number, note in dismissed]
    hint = _DISMISSED_HINT(number=dismissed[0][0])
    return "\n\n".join((_DISMISSED(), "\n".join(lines), hint))
