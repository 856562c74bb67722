"""Sentences about a person's profile."""

from collections.abc import Mapping, Sequence

from agent_core.agent.review.claim_check import LONGEST, Section
from agent_core.agent.review.profile import ProfileLine
from agent_core.localization import Text
from agent_core.memory.archive.conclusions import Conclusion
from agent_core.transcript import flatten

TITLES: Mapping[Section | None, Text] = {
    "person": Text("Who you are"),
    "answers": Text("How you like answers"),
    "work": Text("What you are working on"),
    "people": Text("People and projects"),
    None: Text("Other notes"),
}
_SHORTEST = 20
"""Fewest characters to which a quote is cut, so that it stays recognizable beside many others."""
_LINE = Text("{number}. {entry}")
_QUOTED_LINE = Text("{number}. {entry} (you wrote: {quote}, {date})")
_HINT = Text(
    "To correct line {number}, send /profile {number} and the new text. /profile forget"
    " {number} deletes it, and /why {number} shows the whole message behind it."
)
_GUESSES = Text("**What I only guess**")
_GUESS = Text("{guess} ({percent}% sure, because: {premises}). To delete it: /memory forget {name}")
EMPTY = Text(
    "I have no profile of you yet. I add what you tell me about yourself, your work, and how you"
    " like answers."
)
USAGE = Text(
    "With /profile you can:\n"
    "- /profile: see your profile\n"
    "- /profile 3 NEW WORDS: correct line 3\n"
    "- /profile forget 3: delete line 3"
)
FORGET = Text("Delete {number}")
CHANGE = Text("Correct {number}")
HOW = Text(
    "To correct line {number}, send /profile {number} and the new text. So far it says: {entry}"
)
CORRECTED = Text("Line {number} now says: {entry}")
EMPTY_LINE = Text("Write what I should remember.")
SAME = Text("That's there already.")
FULL = Text("There is no room for that many words. Shorten the text, or delete another line first.")
SECRET = Text("That looks like a password or a key, so I don't store it.")
HIDDEN = Text("That contains invisible characters. Type it again by hand instead of pasting it.")


def list_profile(
    lines: Sequence[ProfileLine], dates: Sequence[str], guesses: Sequence[Conclusion] = ()
) -> str:
    """List a profile by section, each line with the words that it rests on, and the guesses."""
    parts: list[str] = []
    shown = None
    for line, date in zip(lines, dates, strict=True):
        if not parts or line.section != shown:
            gap = "\n" if parts else ""
            parts.append(f"{gap}**{TITLES[line.section]()}**")
            shown = line.section
        entry = quote(line.text)
        if line.quotes:
            limit = max(_SHORTEST, LONGEST // len(line.quotes))
            words = ", ".join(quote(one, limit) for one in line.quotes)
            parts.append(_QUOTED_LINE(number=line.number, entry=entry, quote=words, date=date))
        else:
            parts.append(_LINE(number=line.number, entry=entry))
    parts += ["", _HINT(number=lines[0].number)]
    if guesses:
        parts += ["", _GUESSES()]
    for guess in guesses:
        premises = ", ".join(quote(one) for one in guess.premises)
        parts.append(
            _GUESS(
                guess=quote(guess.text),
                percent=guess.confidence,
                premises=premises,
                name=guess.name,
            )
        )
    return "\n".join(parts)


def quote(words: str, limit: int = LONGEST) -> str:
    """Show words literally, whatever mark-up characters they contain."""
    return f"`{flatten(words, limit).replace(chr(96), chr(39))}`"
