"""The skills as conversations see them: the list in the prompt, the search and the commands.

A request is ranked by BM25F over names, descriptions and texts, by pairs of neighbouring words, by
topics, and by meaning. A topic is a line of `topics.txt`: English and German words that people use
for one thing. So the request "my rose has yellow leaves" finds a skill on plants. `word_vectors`
compares the meaning of a request with names and descriptions.
"""

import asyncio
import math
from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise
from operator import add, mul

from agent_core.skills.catalog import CatalogEntry, SkillCatalog
from agent_core.skills.parser import Skill
from agent_core.state import word_vectors
from agent_core.state.engine.database import Database
from agent_core.state.memory import skills
from agent_core.state.memory.skills import SkillRow
from agent_core.state.tokenizer import UNINDEXED, cut
from agent_core.tools.selection.built_in import SKILL_TOOL
from agent_core.transcript import escape, flatten

FIND_TOOL = "skills_search"
LONGEST_LINE = 120
"""The most characters of a description in the prompt and in search results."""
_LETTERS_PER_TOKEN = 4
_MOST_SUGGESTED = 3
_LEAST = 0.8
"""The score of a single word in the text of a skill: too low to suggest the skill."""
_INTRODUCTION = f"Read one that fits the work with `{SKILL_TOOL}` first, and follow it."
_SEPARATOR = ", "
_NAMED = "Others: {names}."
_MORE = (
    "There are {count} more. `<facts>` names those that may fit a message; `" + FIND_TOOL + "`"
    " finds others."
)
_NAME, _DESCRIPTION, _BODY = 2.0, 1.0, 0.1
"""Weights of the fields."""
_SATURATION, _LENGTH_WEIGHT = 1.2, 0.75
"""The parameters k1 and b of BM25."""
_PAIR_IN_BODY = 0.3
"""The weight of a pair of words at the start of a text; in a name or a description, the weight is
1.
"""
_START = 400
"""The number of words at the start of a text whose pairs are indexed."""
_NUMBER_BITS = 20
"""The bits of a pair's entry that hold the number of its skill; the other bits are a hash."""
_LARGEST_HASH = (1 << 64 - _NUMBER_BITS) - 1
_FREQUENT = 3e-4
"""The general probability at which a word counts half in a request."""
_MEANING = 6.0
"""The weight of similar meaning, per word that is not frequent."""
_CLOSE = 3.0
"""The similarity of meaning that suffices without a common word. Small talk rarely reaches it."""
_RELATED = 0.5
"""The weight of a word of the same topic."""
_PART = 4
"""The fewest letters of a part that is found in a longer word, such as in a German compound."""
_LONGEST_TEXT = 20_000
"""The most characters of a text that are indexed, and of a request that are read, because each turn
waits for that.
"""

_ASKING = frozenset(
    word
    for line in (
        "again always anything can could everything find get give go hello help hi keep know let",
        "like lot make many much need never new nice now ok okay only please put really right see",
        "show something start still stop sure take thanks thing think time try use want way work",
        "aber als am an auch auf aus bei bis bitte da damit dann das dass dem den der des die dir",
        "doch du ein eine einem einen einer er es etwas fur gib habe haben hast hat hier ich ihr",
        "im in ist ja jetzt kann kannst kein keine konnen konntest mach machen mal mehr mein meine",
        "meinem meinen meiner mich mir mit mochte muss mussen nach nicht noch nur oder schon sehr",
        "sich sie sind so soll uber um und uns unser unsere unter viel vom von vor wann war warum",
        "was welche welchen welcher wenn wer wie will wir wird wo zeig zu zum zur",
    )
    for word in cut(line)
)
"""Words that people use in any request."""


class SkillIndex:
    """An index of skills; it is built once and searched often."""

    def __init__(self, texts: Sequence[tuple[str, str, str]]) -> None:
        """`texts` are names with their descriptions and their bodies."""
        self._numbers = {name: number for number, (name, _, _) in enumerate(texts)}
        self._count = len(texts)
        names = [cut(name.replace("-", " ")) for name, _, _ in texts]
        descriptions = [cut(described) for _, described, _ in texts]
        bodies = [cut(body[:_LONGEST_TEXT]) for _, _, body in texts]
        counted: defaultdict[str, dict[int, float]] = defaultdict(dict)
        for weight, field in ((_NAME, names), (_DESCRIPTION, descriptions), (_BODY, bodies)):
            average = max(sum(map(len, field)) / max(len(field), 1), 1.0)
            for number, words in enumerate(field):
                norm = 1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * len(words) / average
                for word, count in Counter(words).items():
                    held = counted[word]
                    held[number] = held.get(number, 0.0) + weight * count / norm
        self._scores = {word: self._weigh(held) for word, held in counted.items()}
        self._pairs = [
            (1.0, _list_entries(map(add, names, descriptions))),
            (_PAIR_IN_BODY, _list_entries(words[:_START] for words in bodies)),
        ]
        self._points = [
            word_vectors.point(f"{name.replace('-', ' ')} {described}")
            for name, described, _ in texts
        ]

    def rank(self, query: str, least: float = 0.0) -> list[int]:
        """Return the numbers of the skills that fit a query, best first; an exact name comes first.

        Leaves out skills whose score for words is not above `least`, unless their meaning is close.
        """
        query = query[:_LONGEST_TEXT]
        scores: defaultdict[int, float] = defaultdict(float)
        telling = _list_telling(cut(query))
        words = {*telling}
        weights = _weigh_words(query) if words else {}  # a greeting loads no word vectors
        for word in words:
            best: dict[int, float] = {}
            for related, weight in _list_related(word):
                for number, score in self._scores.get(related, {}).items():
                    best[number] = max(best.get(number, 0.0), weight * score)
            for number, score in best.items():
                scores[number] += weights.get(word, 1.0) * score
        for pair in {*pairwise(telling)}:
            for number, score in self._score_pair(pair).items():
                scores[number] += score
        if (named := self._numbers.get(query.strip())) is not None:
            scores[named] = math.inf
        close = self._compare(
            " ".join(one for one in query.split() if words.intersection(cut(one)))
        )
        found = [
            (-scores[number] - likeness, number)
            for number, likeness in enumerate(close)
            if scores[number] > least or likeness > _CLOSE
        ]
        return [number for _, number in sorted(found)]

    def _compare(self, query: str) -> list[float]:
        """Return how close each skill is to the meaning of a query."""
        if not query:  # a greeting or a thank-you is about no skill
            return [0.0] * len(self._points)
        vector = word_vectors.embed(query)
        return [_MEANING * sum(map(mul, vector, direction)) for direction in self._points]

    def _score_pair(self, pair: tuple[str, str]) -> Mapping[int, float]:
        """Return the score that a pair of words gives each skill that contains the pair."""
        held: defaultdict[int, float] = defaultdict(float)
        first = _hash(pair) << _NUMBER_BITS
        after = first + (1 << _NUMBER_BITS)
        for weight, entries in self._pairs:
            for entry in entries[bisect_left(entries, first) : bisect_left(entries, after)]:
                held[entry - first] += weight
        return self._weigh(held)

    def _weigh(self, holders: Mapping[int, float]) -> Mapping[int, float]:
        """Return the score that a word or a pair gives each skill that contains it.

        A skill that only mentions a word in its text hardly lowers the word's rarity.
        """
        parts = {number: count / (count + _SATURATION) for number, count in holders.items()}
        held = sum(parts.values())
        rarity = math.log(1 + (self._count - held + 0.5) / (held + 0.5))
        return {number: rarity * (_SATURATION + 1) * part for number, part in parts.items()}


@dataclass(frozen=True, slots=True)
class _Known:
    """The skills as last read. `offered` are the skills that the model may choose itself, without
    drafts.
    """

    entries: Mapping[str, CatalogEntry]
    offered: tuple[Skill, ...]
    waiting: tuple[Skill, ...]
    index: SkillIndex


class SkillDirectory:
    """Keeps an index of the skills. Only `refresh` reads files, and only changed ones."""

    def __init__(self, catalog: SkillCatalog, database: Database, budget: int) -> None:
        """`budget` is the size of the list in a prompt, in tokens."""
        self.catalog = catalog
        self._database = database
        self._letters = budget * _LETTERS_PER_TOKEN
        self._drafts: frozenset[str] = frozenset()
        self._known = _index([], self._drafts)
        self._entries: Sequence[CatalogEntry] = []
        self._is_cut = True

    async def refresh(self) -> None:
        """Read the skills that have changed.

        Raises `SkillBroken` if the home's folder is unreadable, and `StoreError`.
        """
        entries = await asyncio.to_thread(self.catalog.list_all)
        drafts = await self._database.read(skills.list_drafts)
        if entries != self._entries or drafts != self._drafts:
            self._known = await asyncio.to_thread(_index, entries, drafts)
            self._entries, self._drafts = entries, drafts

    async def describe(self) -> str:
        """List the skills for a new prompt: all if they fit the budget, else the most used ones.

        A bundled skill that nobody has used is listed only by its name. Raises `StoreError`, and
        `SkillBroken` as `refresh`.
        """
        await self.refresh()
        offered = self._known.offered
        if not offered:
            return ""
        rows = {row.name: row for row in await self._database.read(skills.list_present)}
        described, named = self._choose(rows)
        self._is_cut = len(described) < len(offered)
        lines = [_INTRODUCTION, *(_show(skill) for skill in offered if skill.name in described)]
        if named:
            lines.append(_NAMED.format(names=_SEPARATOR.join(sorted(named))))
        more = len(offered) - len(described) - len(named)
        return "\n".join([*lines, _MORE.format(count=f"{more:,}")] if more else lines)

    def suggest(self, request: str) -> tuple[str, ...]:
        """Name the skills that fit a request best, unless a new prompt describes all of them."""
        if not self._is_cut:
            return ()
        found = self.search(request, _LEAST)[:_MOST_SUGGESTED]
        return tuple(skill.name for skill in found)

    def search(self, request: str, least: float = 0.0) -> list[Skill]:
        """Find skills by a request, best first: the usable ones, then those that wait.

        Leaves out skills whose score for words is not above `least`, unless their meaning is close.
        """
        known = self._known
        everything = (*known.offered, *known.waiting)
        found = [everything[number] for number in known.index.rank(request, least)]
        return sorted(found, key=lambda skill: skill in known.waiting)

    def is_trusted(self, name: str) -> bool:
        """True for a skill that an owner put here or agreed to."""
        entry = self._known.entries.get(name)
        return entry is not None and entry.is_trusted

    def list_offered(self) -> list[CatalogEntry]:
        """List the skills that the model may choose itself, by name, as last read."""
        offered = {skill.name for skill in self._known.offered}
        return [one for one in self._entries if one.name in offered]

    def list_commands(self) -> list[Skill]:
        """List the skills that a person can start with a command, by name."""
        return [
            one.skill
            for one in self._entries
            if one.skill and one.is_trusted and one.skill.is_command
        ]

    def _choose(self, rows: Mapping[str, SkillRow]) -> tuple[set[str], list[str]]:
        """Choose the skills that a prompt describes, and the skills that it only names.

        Pinned skills come first, then the most used ones, then those that do not come with Talaria.
        """

        def order(skill: Skill) -> tuple[bool, int, bool]:
            row = rows.get(skill.name)
            is_pinned = row is not None and row.is_pinned
            uses = row.uses if row and row.state == "active" else 0
            return not is_pinned, -uses, self._known.entries[skill.name].origin == "bundled"

        described: set[str] = set()
        named: list[str] = []
        left = self._letters
        for skill in sorted(self._known.offered, key=order):
            needs_no_line = order(skill) == (True, 0, True)
            if not needs_no_line and not named and len(_show(skill)) <= left:
                described.add(skill.name)
                left -= len(_show(skill))
            elif len(skill.name) + len(_SEPARATOR) <= left:
                named.append(skill.name)
                left -= len(skill.name) + len(_SEPARATOR)
        return described, named


def _index(entries: Sequence[CatalogEntry], drafts: frozenset[str]) -> _Known:
    good = [
        (one, one.skill)
        for one in entries
        if one.skill and one.skill.is_for_model and not _is_draft(one, drafts)
    ]
    offered = tuple(skill for one, skill in good if one.is_trusted)
    waiting = tuple(skill for one, skill in good if not one.is_trusted)
    texts = [(skill.name, skill.description, skill.body) for skill in (*offered, *waiting)]
    return _Known(
        entries={one.name: one for one in entries},
        offered=offered,
        waiting=waiting,
        index=SkillIndex(texts),
    )


def _is_draft(entry: CatalogEntry, drafts: frozenset[str]) -> bool:
    """Return whether no test has proved a skill yet; then only people can start it, by its name."""
    return entry.origin == "home" and entry.name in drafts


def _show(skill: Skill) -> str:
    return f"- {skill.name}: {escape(flatten(skill.description, LONGEST_LINE))}"


def _list_telling(words: Iterable[str]) -> list[str]:
    """List the words that show the subject of a text, in their order."""
    return [word for word in words if word not in UNINDEXED and word not in _ASKING]


def _weigh_words(request: str) -> Mapping[str, float]:
    """Return the weight of each word of a request; generally frequent words weigh less."""
    return {
        word: _FREQUENT / (_FREQUENT + word_vectors.measure_frequency(form))
        for form in word_vectors.list_words(request)
        for word in cut(form)
    }


def _list_entries(texts: Iterable[Sequence[str]]) -> "array[int]":
    """Return the sorted entries of all pairs of words, each with the number of its text."""
    return array(
        "Q",
        sorted(
            _hash(pair) << _NUMBER_BITS | number
            for number, words in enumerate(texts)
            for pair in pairwise(_list_telling(words))
        ),
    )


def _hash(pair: tuple[str, str]) -> int:
    return hash(pair) & _LARGEST_HASH


@lru_cache(maxsize=4096)
def _list_related(word: str) -> tuple[tuple[str, float], ...]:
    """List a word and the words of its topics, with their weights."""
    topics = _read_topics()
    known = topics.get(word)
    if known is None:
        known = frozenset[str]().union(*(topics.get(part, ()) for part in _list_parts(word)))
    return (word, 1.0), *((related, _RELATED) for related in known if related != word)


def _list_parts(word: str) -> Iterator[str]:
    """Yield the beginnings and ends of a word that may be words themselves."""
    for length in range(_PART, len(word) - _PART + 2):
        yield word[:length]
        yield word[-length:]


@cache
def _read_topics() -> Mapping[str, frozenset[str]]:
    """Read the table of topics: for each word, its related words."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    table = files("agent_core.skills.tools").joinpath("topics.txt").read_text(encoding="utf-8")
    for line in table.splitlines():
        words = set(cut(line))
        for word in words:
            found[word] |= words
    return {word: frozenset(related) for word, related in found.items()}
