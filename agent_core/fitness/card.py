"""The card of a model: its fitness by the shares of tasks that it passed; pure."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any, Literal

from agent_core.models.profiles import ModelMode

Area = Literal[
    "language",
    "facts",
    "quotes",
    "honesty",
    "odd",
    "speed",
    "calls",
    "arguments",
    "needless",
    "decisions",
    "jobs",
    "review",
    "judge",
    "skills",
]
"""What tasks are about. `odd` and `speed` are judged in the answers of a conversation."""
Use = Literal["chat", "tools", "guided", "jobs", "reviews", "skills"]
"""What a model may be fit for. `guided` are forced decisions in place of tool calls."""

LEAST: Mapping[Area, float] = {
    "language": 0.8,
    "facts": 0.8,
    "quotes": 0.8,
    "honesty": 0.8,
    "odd": 0.9,
    "speed": 0.8,
    "calls": 0.85,
    "arguments": 0.8,
    "needless": 0.8,
    "decisions": 0.6,
    "jobs": 0.75,
    "review": 0.8,
    "judge": 0.75,
    "skills": 0.75,
}
"""The thresholds: the least share of an area's tasks that a fit model passes."""
_SAID: tuple[Area, ...] = ("language", "facts", "quotes", "honesty")
"""The areas whose answers are talk. A model that prints its calls may still talk well."""
_CHAT: tuple[Area, ...] = (*_SAID, "odd", "speed")
_TOOLS: tuple[Area, ...] = (*_CHAT, "calls", "arguments", "needless")
_REVIEWS: tuple[Area, ...] = ("review", "judge")
NEEDS: Mapping[Use, tuple[Area, ...]] = {
    "chat": _CHAT,
    "tools": _TOOLS,
    "guided": ("language", "odd", "speed", "decisions"),
    "jobs": (*_TOOLS, "jobs"),
    "reviews": _REVIEWS,
    "skills": (*_REVIEWS, "skills"),
}
"""The areas that each use needs. In guided mode, code knows the facts and says what was done."""

SLOW = 45.0
"""Seconds for one answer from which on it counts as slow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskResult:
    """The result of one task. `fault` says why it failed, "" if it passed.

    `odd` says what is odd about the answer, "" if nothing is. The tokens are those of the call.
    """

    task: str
    area: Area
    fault: str = ""
    odd: str = ""
    seconds: float = 0.0
    read: int = 0
    cached: int = 0
    written: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The tasks of one area: passed, done, and all there are."""

    passed: int = 0
    done: int = 0
    all: int = 0

    @property
    def hope(self) -> float:
        """The share that is still possible."""
        return (self.passed + self.all - self.done) / self.all if self.all else 1.0

    def is_passed(self, least: float) -> bool:
        """Return whether enough tasks of all were passed."""
        return self.all > 0 and self.passed >= least * self.all


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """The results of a whole test; `mode` follows from what the model is fit for."""

    fit: tuple[Use, ...]
    mode: ModelMode
    scores: Mapping[Area, tuple[int, int]]
    """The passed and the done tasks of each area."""
    seconds: float
    """The median of an answer."""
    speed: float
    """Tokens written in a second."""
    cached: float
    """The share of the read tokens that the server had read before."""
    faults: Mapping[str, str] = field(default_factory=dict)
    """Why tasks failed, by their names."""
    edition: int = 0
    """The edition of the tasks."""
    identity: str = ""
    """What the server told of the model's files; "" if nothing."""

    def dump(self) -> dict[str, Any]:
        """Return the card as JSON takes it."""
        return asdict(self)


def count_scores(results: Iterable[TaskResult], tasks: Mapping[Area, int]) -> dict[Area, Score]:
    """Count the results by area; `tasks` are the numbers of tasks."""
    listed = tuple(results)
    scores: dict[Area, Score] = {}
    for area in LEAST:
        own = [one for one in listed if one.area == area]
        passed, number = sum(not one.fault for one in own), tasks.get(area, 0)
        if area in ("odd", "speed"):
            own = [one for one in listed if one.area in _SAID]
            number = sum(tasks.get(one, 0) for one in _SAID)
            good = [one.seconds < SLOW if area == "speed" else not one.odd for one in own]
            passed = sum(good)
        scores[area] = Score(passed=passed, done=len(own), all=number)
    return scores


def is_lost(use: Use, scores: Mapping[Area, Score]) -> bool:
    """Return whether a model can no longer become fit for a use, whatever it answers now."""
    return any(scores[area].hope < LEAST[area] for area in NEEDS[use])


def is_worth(area: Area, scores: Mapping[Area, Score]) -> bool:
    """Return whether a further task of an area can still change what the model is fit for."""
    about = {area, "odd", "speed"} if area in _SAID else {area}
    return any(about & set(NEEDS[use]) and not is_lost(use, scores) for use in NEEDS)


def choose_mode(fit: Iterable[Use]) -> ModelMode:
    """Return how a model works best that is fit for these uses."""
    uses = frozenset(fit)
    if "tools" in uses:
        return "tools"
    return "guided" if "guided" in uses else "unfit"


def make_card(
    results: Iterable[TaskResult], tasks: Mapping[Area, int], *, edition: int, identity: str
) -> Card:
    """Return the card of a test that has ended; what was left out counts as failed."""
    listed = tuple(results)
    scores = count_scores(listed, tasks)
    fit = tuple(
        use
        for use, areas in NEEDS.items()
        if all(scores[area].is_passed(LEAST[area]) for area in areas)
    )
    seconds = sum(one.seconds for one in listed)
    read = sum(one.read for one in listed)
    return Card(
        fit=fit,
        mode=choose_mode(fit),
        scores={area: (one.passed, one.done) for area, one in scores.items()},
        seconds=round(median([one.seconds for one in listed] or [0.0]), 2),
        speed=round(sum(one.written for one in listed) / seconds, 1) if seconds else 0.0,
        cached=round(sum(one.cached for one in listed) / read, 2) if read else 0.0,
        faults={one.task: one.fault for one in listed if one.fault},
        edition=edition,
        identity=identity,
    )
