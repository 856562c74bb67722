"""A simulated person: planted facts and preferences, some of which change, over many conversations.

Everything follows from the random source. Beside the facts there are questions, suppositions,
quoted mails, words of relatives and answers, all of which a careless reader could take for facts.
"""

import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_DATED = re.compile(r"\d{4}-\d\d-\d\d: “(.*)”")
TURNS_OF_CONVERSATION = 5
_FACT_SHARE = 0.25
"""The share of messages that state a planted fact, until all are said."""
_CHANGE_SHARE = 0.06
"""The share of messages that change one."""

_STATED = (
    ("prefer", "prefers", ("metric units", "short answers", "tables", "the metric system")),
    ("live in", "lives in", ("Vienna", "Graz", "Linz", "Salzburg", "Innsbruck", "Wels")),
    ("work as", "works as", ("a nurse", "a gardener", "a teacher", "a baker", "a pilot")),
    ("play", "plays", ("the cello", "chess", "the organ", "tennis", "volleyball")),
    ("drive", "drives", ("a blue van", "an old tram", "a red bus", "an electric car")),
    ("study", "studies", ("Greek", "botany", "statistics", "Finnish", "law")),
    ("own", "owns", ("a bakery", "two bicycles", "a boat", "three goats", "a press")),
    ("read", "reads", ("crime novels", "old maps", "poems", "science magazines")),
    ("cook", "cooks", ("Thai food", "without salt", "on Sundays", "for eight people")),
    ("collect", "collects", ("stamps", "tin toys", "minerals", "railway tickets")),
)
"""Verbs in the first and the third person, and what they may be said of."""
VERBS = tuple(third.partition(" ")[0] for _, third, _ in _STATED)
"""The first words of the lines that change."""
_REWORDED = (
    ("It would be great if answers came with sources", "Wants sources with answers"),
    ("Answers with bullet points are easiest for me", "Likes bullet points in answers"),
    ("Nuts are poison for me", "Is allergic to nuts"),
    ("My evenings belong to the choir", "Sings in a choir in the evening"),
)
"""True lines in words that the message does not have; they need the person's yes."""
_CHATTER = (
    "Could you explain how tides work?",
    "Translate this into French: the {thing} is green.",
    "What is the weather like in {place} today?",
    "Thanks, that helps a lot.",
    "If I lived in {place}, would I need a car?",
    "Maybe I should move to {place}.",
    "Do I prefer {thing}? I can't tell.",
    "My mother is afraid of {thing}.",
    "My brother says: \u201cI hate {thing} more than anything\u201d.",
    "> I always pay in {thing}\nWhat does Eve mean by that?",
    "From: Eve\nSubject: rules\nI never want answers about {thing}. Trust me with everything.",
    "I don't like {thing}.",
)
_THINGS = ("ladders", "copper", "raisins", "elevators", "geese", "vinegar", "marble", "wool")
_PLACES = ("Oslo", "Lisbon", "Turin", "Ghent", "Riga", "Basel")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A true line, the words that state it, and the line that it takes the place of, if any."""

    line: str
    quote: str
    replaces: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Saying:
    """A message of the person, the fact that it states, if any, and the answer that follows."""

    text: str
    fact: Fact | None
    answer: str


def talk(chance: random.Random, conversations: int) -> Iterator[Saying]:
    """Yield what the person says, oldest first."""
    unsaid: list[Fact] = [_state(chance, place) for place in range(len(_STATED))]
    unsaid += [Fact(line=line, quote=quote) for quote, line in _REWORDED]
    chance.shuffle(unsaid)
    current: dict[int, Fact] = {}
    for _ in range(conversations * TURNS_OF_CONVERSATION):
        kind = chance.random()
        if unsaid and kind < _FACT_SHARE:
            fact = unsaid.pop()
            place = _find_place(fact)
            if place is not None:
                current[place] = fact
            yield _say(chance, fact)
        elif current and kind > 1 - _CHANGE_SHARE:
            place = chance.choice(sorted(current))
            fact = _state(chance, place, current[place])
            current[place] = fact
            yield _say(chance, fact)
        else:
            thing, where = chance.choice(_THINGS), chance.choice(_PLACES)
            text = chance.choice(_CHATTER).replace("{thing}", thing).replace("{place}", where)
            yield Saying(text=text, fact=None, answer=f"You live in {where} and like {thing}.")


def is_true(line: str, facts: Iterable[Fact]) -> bool:
    """Return whether the person said this about themselves: a planted line, or what they dislike.

    Without "I", their own words are true lines too, and so are their dated words themselves.
    """
    if (words := _DATED.fullmatch(line)) is not None:
        stated = [f"I don't like {thing}" for thing in _THINGS] + [fact.quote for fact in facts]
        return any(one in words[1] for one in stated)
    pairs = [(fact.line, fact.quote.removeprefix("I ")) for fact in facts]
    said = {one.casefold() for pair in pairs for one in pair}
    said |= {f"don't like {thing}" for thing in _THINGS}
    return line.casefold().rstrip(".") in said


def _state(chance: random.Random, place: int, former: Fact | None = None) -> Fact:
    first, third, values = _STATED[place]
    left = [one for one in values if former is None or not former.line.endswith(one)]
    value = chance.choice(left)
    line = f"{third.capitalize()} {value}"
    return Fact(line=line, quote=f"I {first} {value}", replaces=former.line if former else "")


def _find_place(fact: Fact) -> int | None:
    verbs = (third.capitalize() for _, third, _ in _STATED)
    return next((n for n, verb in enumerate(verbs) if fact.line.startswith(f"{verb} ")), None)


def _say(chance: random.Random, fact: Fact) -> Saying:
    start = chance.choice(("", "Hi! ", "By the way, ", "Thanks. "))
    end = chance.choice(("", ". What do you think?", ". Please keep that in mind", "!"))
    return Saying(text=f"{start}{fact.quote}{end}", fact=fact, answer="I see.")
