"""Choose which messages to shorten and which to summarize; pure."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from agent_core.agent.compaction.compacted_view import render_summary, shorten
from agent_core.ids import MessageId, TurnId
from agent_core.models.token_estimate import estimate_messages
from agent_core.state.conversations.compactions import Compaction
from agent_core.state.conversations.messages import START, StoredMessage
from agent_core.tools.selection.built_in import SKILL_TOOL
from agent_core.transcript import ToolResultPart

_WHOLE_STEPS = 3
"""The newest tool outputs; they are shortened only if nothing else suffices."""
_MOST_SKILLS = 3
_LONGEST_SKILLS = 24_000
"""Characters of the newest skills that stay whole."""
_WHOLE_TURNS = 2
"""Turns before the current one; they are summarized only if nothing else suffices."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenBudget:
    """The limits of a plan, in tokens.

    `fixed` is the rest of the request; `scale` converts estimated tokens to real ones; `shown` are
    the keys of the images in the request. `target` is the aim and `roof` the maximum; `summary` is
    the most that a new summary takes.
    """

    fixed: float
    scale: float
    target: float
    roof: float
    summary: float
    shown: Collection[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionPlan:
    """A new view of the transcript, and its approximate size.

    `summarized` are the messages that a new summary must cover besides the previous summary. They
    include messages that were left out before. If there are none, the previous summary stays.
    """

    shortened_to: MessageId
    summarized_to: MessageId
    kept: tuple[MessageId, ...]
    summarized: tuple[StoredMessage, ...]
    size: int


@dataclass(frozen=True, slots=True)
class _Choice:
    """Summarize the messages before `cut` except `pins`; shorten those before `whole_from`."""

    cut: int
    whole_from: int
    pins: frozenset[int]


class Planner:
    """Plans the next compaction of one transcript."""

    def __init__(
        self,
        stored: Sequence[StoredMessage],
        compaction: Compaction | None,
        budget: TokenBudget,
        *,
        turn_id: TurnId | None = None,
    ) -> None:
        """Plan from the present `compaction`; `turn_id` is the running turn, None between turns.

        `stored` may lack messages that the compaction replaces, unless it left them out without a
        summary: what is replaced once is never shown again, and no plan depends on it.
        Summarizes the oldest message of the person that it kept, mostly their first one, only if
        nothing else suffices.
        """
        self._stored = stored
        self._compaction = compaction
        self._budget = budget
        self._running = turn_id
        self._cut = _count_to(stored, compaction.summarized_to if compaction else START)
        self._whole_from = _count_to(stored, compaction.shortened_to if compaction else START)
        gap = compaction.left_out_from if compaction else None
        self._gap = self._cut if gap is None else _count_to(stored, MessageId(gap - 1))
        """The place of the first message that was left out; the present cut if no message was."""
        kept = set(compaction.kept) if compaction else set()
        self._kept = frozenset(i for i in range(self._cut) if stored[i].id in kept)
        shown = self._kept | frozenset(range(self._cut, len(stored)))
        is_cut = compaction is not None and compaction.summarized_to != START
        first = _find_first_request(stored, sorted(self._kept) if is_cut else range(len(stored)))
        self._pins = (first | _find_skills(stored)) & shown
        self._words = shown & {
            i
            for i, one in enumerate(stored)
            if one.turn_id == turn_id and one.message.role == "user"
        }
        self._summary = self._tokens_of_summary()
        self._long = [self._tokens(one) for one in stored]
        self._short = [self._tokens(one, is_short=True) for one in stored]
        self._long_sums = [0.0, *accumulate(self._long)]
        self._short_sums = [0.0, *accumulate(self._short)]

    def choose(self) -> CompactionPlan | None:
        """Return the gentlest plan that reaches the target, or at least the roof.

        If none does, returns the plan that gains most; None if no plan gains anything.
        """
        shorter = self._ways_to_shorten()[0]
        if self._size(shorter) <= (self._budget.target + self._budget.roof) / 2:
            return self._best([shorter])
        tried = [shorter]
        for choices in self._tiers():
            found = self._pick(choices)
            if found:
                return self._best([found])
            tried += choices
        return self._best(tried)

    def choose_between_turns(self) -> CompactionPlan | None:
        """Return the gentlest plan below the roof that leaves the newest turns whole; None for
        none.
        """
        shorter = self._ways_to_shorten()[0]
        if self._size(shorter) <= self._budget.target:
            return self._best([shorter])
        choices = next(self._tiers())
        reaching = [choice for choice in choices if self._size(choice) <= self._budget.target]
        found = (*reaching, *choices[-1:])[:1]
        is_enough = found and self._size(found[0]) <= self._budget.roof
        return self._best(found) if is_enough else None

    def choose_largest(self) -> CompactionPlan | None:
        """The plan that summarizes everything but the newest turns; None if that gains nothing."""
        far, near, *_ = self._tiers()
        choices = far or ([] if self._cut else near)
        return self._best(choices[-1:] or self._ways_to_shorten())

    def fill_gap(self) -> CompactionPlan | None:
        """The present view with a summary of the messages that were left out; None if none were."""
        if self._gap == self._cut:
            return None
        return self._plan(_Choice(self._cut, self._whole_from, self._kept))

    def only_shorten(self) -> CompactionPlan | None:
        """The plan that only shortens tool outputs; None if that gains nothing."""
        return self._best(self._ways_to_shorten())

    def _best(self, choices: Iterable[_Choice]) -> CompactionPlan | None:
        best = min(choices, key=self._size, default=None)
        present = _Choice(self._cut, self._whole_from, self._kept)
        if best is None or self._size(best) >= self._size(present):
            return None
        return self._plan(best)

    def _pick(self, choices: Sequence[_Choice]) -> _Choice | None:
        """Return the first choice that reaches the target or half the way to it.

        Otherwise returns the last one, if it is below the roof.
        """
        target, roof = self._budget.target, self._budget.roof
        for wanted in (target, (target + roof) / 2):
            for choice in choices:
                if self._size(choice) <= wanted:
                    return choice
        is_enough = choices and self._size(choices[-1]) <= roof
        return choices[-1] if is_enough else None

    def _tiers(self) -> Iterator[list[_Choice]]:
        """Groups of choices from the gentlest to the harshest, each group ordered by how much it
        hides.
        """
        whole_from, everything = self._spare_steps(), len(self._stored)
        starts = [cut for cut in self._turn_starts() if cut > self._cut]
        # The last start is that of the running turn or, between turns, of the last turn.
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
        """Starts of turns, except the first turn and those that follow a call without a result."""
        stored = self._stored
        return [
            i
            for i in range(1, len(stored))
            if stored[i].turn_id != stored[i - 1].turn_id and stored[i].message.role != "tool"
        ]

    def _step_starts(self) -> list[int]:
        """Places where the steps of the running turn begin: each answer of the model."""
        return [
            i
            for i, one in enumerate(self._stored)
            if one.turn_id == self._running and one.message.role == "assistant"
        ]

    def _summarized(self, choice: _Choice) -> tuple[StoredMessage, ...]:
        """The messages that the plan would hide and that no summary covers."""
        return tuple(
            self._stored[i]
            for i in range(choice.cut)
            if (i >= self._gap or i in self._kept) and i not in choice.pins
        )

    def _plan(self, choice: _Choice) -> CompactionPlan:
        stored, cut, present = self._stored, choice.cut, self._compaction
        return CompactionPlan(
            shortened_to=max(
                stored[choice.whole_from - 1].id if choice.whole_from else START,
                present.shortened_to if present else START,
            ),
            summarized_to=max(
                stored[cut - 1].id if cut else START,
                present.summarized_to if present else START,
            ),
            kept=tuple(stored[i].id for i in sorted(choice.pins) if i < cut),
            summarized=self._summarized(choice),
            size=int(self._size(choice)),
        )

    def _size(self, choice: _Choice) -> float:
        cut, whole_from = choice.cut, max(choice.whole_from, choice.cut)
        pins = [i for i in choice.pins if i < cut]
        kept = sum(self._short[i] if i < choice.whole_from else self._long[i] for i in pins)
        is_as_it_was = cut == self._cut and self._kept.issubset(pins)
        summary = self._summary if is_as_it_was else self._budget.summary
        after = self._short_sums[whole_from] - self._short_sums[cut]
        after += self._long_sums[-1] - self._long_sums[whole_from]
        return self._budget.fixed + kept + summary + after

    def _tokens(self, one: StoredMessage, *, is_short: bool = False) -> float:
        message = shorten(one.message) if is_short else one.message
        return self._budget.scale * estimate_messages((message,), self._budget.shown)

    def _tokens_of_summary(self) -> float:
        if self._compaction is None or not self._compaction.summary:
            return 0.0
        return self._budget.scale * estimate_messages(
            (render_summary(self._compaction.summary),), ()
        )


def _count_to(stored: Sequence[StoredMessage], message_id: MessageId) -> int:
    return sum(one.id <= message_id for one in stored)


def _find_first_request(stored: Sequence[StoredMessage], places: Sequence[int]) -> frozenset[int]:
    """The place of the person's first message among these places."""
    return frozenset([i for i in places if stored[i].message.role == "user"][:1])


def _find_skills(stored: Sequence[StoredMessage]) -> frozenset[int]:
    """The places of the newest skills that were read: each call with its results."""
    found: set[int] = set()
    seen: set[str] = set()
    left = _LONGEST_SKILLS
    for i in range(len(stored) - 2, -1, -1):
        read = {call.arguments for call in stored[i].message.calls if call.name == SKILL_TOOL}
        results = stored[i + 1].message
        if not read or read <= seen or results.role != "tool":
            continue
        seen |= read
        left -= sum(len(part.text) for part in results.parts if isinstance(part, ToolResultPart))
        if left < 0 or len(seen) > _MOST_SKILLS:
            break
        found |= {i, i + 1}
    return frozenset(found)
