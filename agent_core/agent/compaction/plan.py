"""Chooses what of a transcript is shortened, and what is folded; pure."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from agent_core.agent.compaction.compacted_view import render_summary, shorten
from agent_core.ids import MessageId, TurnId
from agent_core.models.catalog import estimate_messages
from agent_core.state.conversations.compactions import Compaction
from agent_core.state.conversations.messages import START, StoredMessage

_WHOLE_STEPS = 3
"""The newest outputs of tools, which are shortened only where nothing else is left."""
_WHOLE_TURNS = 2
"""Turns before the present one that are folded only where nothing else is left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenBudget:
    """How much room there is, in tokens.

    `fixed` is what else stands in the request; `scale` makes tokens of estimated ones, and
    `shown` are the keys of pictures that are shown. `target` is wished for, `roof` has to do;
    `summary` is the most that a new summary takes.
    """

    fixed: float
    scale: float
    target: float
    roof: float
    summary: float
    shown: Collection[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionPlan:
    """How the transcript is to be shown, and about how long the request is then.

    `told` are the messages that a new summary has to tell, besides the former one; without
    any, the former summary stays.
    """

    shortened_to: MessageId
    summarized_to: MessageId
    kept: tuple[MessageId, ...]
    told: tuple[StoredMessage, ...]
    size: int


@dataclass(frozen=True, slots=True)
class _Choice:
    """Fold the messages before `cut` but for `pins`, shorten those before `whole_from`."""

    cut: int
    whole_from: int
    pins: frozenset[int]


class Planner:
    """Plans for one transcript under the fold that it has now."""

    def __init__(
        self,
        stored: Sequence[StoredMessage],
        compaction: Compaction | None,
        room: TokenBudget,
        *,
        turn_id: TurnId | None = None,
        pinned: Collection[MessageId] = (),
    ) -> None:
        """`turn_id` is the turn that runs, None between turns. Messages in `pinned` are never
        folded; nor is the first of all that a person said.
        """
        self._stored = stored
        self._fold = compaction
        self._room = room
        self._running = turn_id
        self._cut = _count_to(stored, compaction.summarized_to if compaction else START)
        self._whole_from = _count_to(stored, compaction.shortened_to if compaction else START)
        self._pins = _close_pairs(stored, _find_pins(stored, pinned))
        self._words = frozenset(
            i
            for i, one in enumerate(stored)
            if one.turn_id == turn_id and one.message.role == "user"
        )
        kept = set(compaction.kept) if compaction else set()
        self._kept = frozenset(i for i in range(self._cut) if stored[i].id in kept)
        self._summary = self._tokens_of_summary()
        self._long = [self._tokens(one) for one in stored]
        self._short = [self._tokens(one, is_short=True) for one in stored]
        self._long_sums = [0.0, *accumulate(self._long)]
        self._short_sums = [0.0, *accumulate(self._short)]

    def choose(self) -> CompactionPlan | None:
        """The gentlest way to the target, or below the roof; else the one that gains most.

        None if there is nothing to gain.
        """
        shorter = self._ways_to_shorten()[0]
        if self._size(shorter) <= (self._room.target + self._room.roof) / 2:
            return self._best([shorter])
        tried = [shorter]
        for choices in self._tiers():
            found = self._pick(choices)
            if found:
                return self._best([found])
            tried += choices
        return self._best(tried)

    def choose_largest(self) -> CompactionPlan | None:
        """All but the newest turns folded, however much room there is; None for no gain.

        Where a fold has left these already, they stay.
        """
        far, near, *_ = self._tiers()
        choices = far or ([] if self._cut else near)
        return self._best(choices[-1:] or self._ways_to_shorten())

    def shorten_only(self) -> CompactionPlan | None:
        """What can be gained without a new summary; None for nothing."""
        return self._best(self._ways_to_shorten())

    def _best(self, choices: Iterable[_Choice]) -> CompactionPlan | None:
        best = min(choices, key=self._size, default=None)
        present = _Choice(self._cut, self._whole_from, self._kept)
        if best is None or self._size(best) >= self._size(present):
            return None
        return self._plan(best)

    def _pick(self, choices: Sequence[_Choice]) -> _Choice | None:
        """The first that reaches the target, or half the way to it; else the last, if it is
        below the roof.
        """
        target, roof = self._room.target, self._room.roof
        for wanted in (target, (target + roof) / 2):
            for choice in choices:
                if self._size(choice) <= wanted:
                    return choice
        is_enough = choices and self._size(choices[-1]) <= roof
        return choices[-1] if is_enough else None

    def _tiers(self) -> Iterator[list[_Choice]]:
        """Ways to go, the gentlest first; within each, from little to much."""
        whole_from, everything = self._spare_steps(), len(self._stored)
        starts = [cut for cut in self._turn_starts() if cut > self._cut]
        # The last start is that of the running turn; between turns it is that of the last one.
        spared = _WHOLE_TURNS if self._running else _WHOLE_TURNS - 1
        far, near = starts[:-spared], starts[-spared:]
        yield [_Choice(cut, whole_from, self._pins) for cut in far]
        yield [_Choice(cut, whole_from, self._pins) for cut in near]
        pins = self._pins | self._words
        steps = [cut for cut in self._step_starts() if cut > self._cut]
        yield [_Choice(cut, whole_from, pins) for cut in steps]
        last = max([self._cut, *starts, *steps])
        yield [_Choice(last, everything, pins if last > self._cut else self._kept)]
        yield [_Choice(last, everything, self._words)]

    def _ways_to_shorten(self) -> list[_Choice]:
        spared, everything = self._spare_steps(), len(self._stored)
        return [_Choice(self._cut, place, self._kept) for place in (spared, everything)]

    def _spare_steps(self) -> int:
        outputs = [i for i, one in enumerate(self._stored) if one.message.role == "tool"]
        spared = outputs[-_WHOLE_STEPS] if len(outputs) >= _WHOLE_STEPS else 0
        return max(spared, self._whole_from)

    def _turn_starts(self) -> list[int]:
        """Where turns begin, but for the first, and for what follows a call without result."""
        stored = self._stored
        return [
            i
            for i in range(1, len(stored))
            if stored[i].turn_id != stored[i - 1].turn_id and stored[i].message.role != "tool"
        ]

    def _step_starts(self) -> list[int]:
        """Where the steps of the running turn begin: with an answer of the model."""
        return [
            i
            for i, one in enumerate(self._stored)
            if one.turn_id == self._running and one.message.role == "assistant"
        ]

    def _told(self, choice: _Choice) -> tuple[StoredMessage, ...]:
        """What is shown now and is not with this choice."""
        return tuple(
            self._stored[i]
            for i in range(choice.cut)
            if (i >= self._cut or i in self._kept) and i not in choice.pins
        )

    def _plan(self, choice: _Choice) -> CompactionPlan:
        stored, cut = self._stored, choice.cut
        return CompactionPlan(
            shortened_to=stored[choice.whole_from - 1].id if choice.whole_from else START,
            summarized_to=stored[cut - 1].id if cut else START,
            kept=tuple(stored[i].id for i in sorted(choice.pins) if i < cut),
            told=self._told(choice),
            size=int(self._size(choice)),
        )

    def _size(self, choice: _Choice) -> float:
        cut, whole_from = choice.cut, max(choice.whole_from, choice.cut)
        pins = [i for i in choice.pins if i < cut]
        kept = sum(self._short[i] if i < choice.whole_from else self._long[i] for i in pins)
        is_as_it_was = cut == self._cut and self._kept.issubset(pins)
        summary = self._summary if is_as_it_was else self._room.summary
        after = self._short_sums[whole_from] - self._short_sums[cut]
        after += self._long_sums[-1] - self._long_sums[whole_from]
        return self._room.fixed + kept + summary + after

    def _tokens(self, one: StoredMessage, *, is_short: bool = False) -> float:
        message = shorten(one.message) if is_short else one.message
        return self._room.scale * estimate_messages((message,), self._room.shown)

    def _tokens_of_summary(self) -> float:
        if self._fold is None or not self._fold.summary:
            return 0.0
        return self._room.scale * estimate_messages((render_summary(self._fold.summary),), ())


def _count_to(stored: Sequence[StoredMessage], message_id: MessageId) -> int:
    return sum(one.id <= message_id for one in stored)


def _find_pins(stored: Sequence[StoredMessage], pinned: Collection[MessageId]) -> set[int]:
    """The places of what is never folded: the first request, and whatever is pinned."""
    first = next((i for i, one in enumerate(stored) if one.message.role == "user"), None)
    pins = {i for i, one in enumerate(stored) if one.id in pinned}
    return pins if first is None else pins | {first}


def _close_pairs(stored: Sequence[StoredMessage], pins: set[int]) -> frozenset[int]:
    """With a call its results are pinned, and with results their call."""
    closed = set(pins)
    for i in pins:
        if stored[i].message.role == "tool":
            closed.add(i - 1)
        elif stored[i].message.calls and i + 1 < len(stored):
            closed.add(i + 1)
    return frozenset(closed)
