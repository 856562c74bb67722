"""The budget of one turn: its steps, tokens, money and time."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

Exhausted = Literal["", "steps", "tokens", "money", "time"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The most that one turn may use, including everything it starts.

    `steps` are model calls, at least 1; `micro_dollars` are millionths of a US dollar. For tokens,
    money and time, 0 means no limit. Raises `ValueError` for lower values.
    """

    steps: int
    tokens: int
    micro_dollars: int
    seconds: float

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise ValueError("a turn needs at least one step")
        if min(self.tokens, self.micro_dollars, self.seconds) < 0:
            raise ValueError("a limit can't be negative; 0 means no limit")


class Budget:
    """The remaining limits of one turn.

    Each helper has its own `Budget`, which counts its steps and takes everything else from its
    parent. The budget of a team counts the steps of all its members, too.
    """

    def __init__(
        self,
        limits: Limits,
        *,
        started: float,
        clock: Callable[[], float],
        parent: "Budget | None" = None,
        counts_helpers: bool = False,
    ) -> None:
        """`started` is a moment of `clock`, a monotonic clock in seconds.

        With a `parent`, its limits hold, too, except that of steps. With `counts_helpers`, the
        steps of helpers count here.
        """
        self._parent = parent
        self._counts_helpers = counts_helpers
        self._limits = limits
        self._started = started
        self.clock = clock
        """Returns monotonic seconds."""
        self._steps = 0
        self._refunds = 0
        self._tokens = 0
        self._micro_dollars = 0
        self._pauses = 0
        self._paused_at = 0.0

    def share(self, steps: int) -> "Budget":
        """Return the budget of a helper: `steps` of its own, and the rest of this budget."""
        limits = Limits(steps=steps, tokens=0, micro_dollars=0, seconds=0)
        return Budget(limits, started=self.clock(), clock=self.clock, parent=self)

    def share_in_team(self, steps: int, micro_dollars: int) -> "Budget":
        """Return the budget of a team: what all its members use counts; 0 is no limit of money."""
        limits = Limits(steps=steps, tokens=0, micro_dollars=micro_dollars, seconds=0)
        clock = self.clock
        return Budget(limits, started=clock(), clock=clock, parent=self, counts_helpers=True)

    def take_step(self) -> None:
        """Count a model call that is about to be made, also in the teams that it is part of."""
        self._steps += 1
        if self._parent:
            self._parent.take_steps_of_helper(1)

    def take_steps_of_helper(self, steps: int) -> None:
        """Count model calls that a helper has made; only teams count them."""
        if self._counts_helpers:
            self._steps += steps
        if self._parent:
            self._parent.take_steps_of_helper(steps)

    def refund_step(self) -> None:
        """Return the last step, whose tool calls were all cheap.

        Refunds at most as many steps as the limit has: a model that calls only cheap tools must
        still reach the limit.
        """
        if self._steps and self._refunds < self._limits.steps:
            self._steps -= 1
            self._refunds += 1

    def spend(self, usage_tokens: int, micro_dollars: int | None) -> None:
        """Charge a model call; None if the model's price is unknown."""
        self._tokens += usage_tokens
        self._micro_dollars += micro_dollars or 0
        if self._parent:
            self._parent.spend(usage_tokens, micro_dollars)

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Stop the clock while the turn waits for its person. Pauses may overlap."""
        if not self._pauses:
            self._paused_at = self.clock()
        self._pauses += 1
        try:
            yield
        finally:
            self._pauses -= 1
            if not self._pauses:
                self._started += self.clock() - self._paused_at

    def exhausted(self) -> Exhausted:
        """The name of the limit that is reached; empty for none."""
        return "steps" if self._steps >= self._limits.steps else self._spent_up()

    def _spent_up(self) -> Exhausted:
        """The name of the reached limit, here or above, without the steps of this turn alone."""
        limits = self._limits
        if self._counts_helpers and self._steps >= limits.steps:
            return "steps"
        if limits.tokens and self._tokens >= limits.tokens:
            return "tokens"
        if limits.micro_dollars and self._micro_dollars >= limits.micro_dollars:
            return "money"
        if limits.seconds and self.clock() - self._started >= limits.seconds:
            return "time"
        return self._parent._spent_up() if self._parent else ""
