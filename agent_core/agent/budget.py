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
    parent.
    """

    def __init__(
        self,
        limits: Limits,
        *,
        started: float,
        clock: Callable[[], float],
        parent: "Budget | None" = None,
    ) -> None:
        """`started` is a moment of `clock`, a monotonic clock in seconds.

        With a `parent`, tokens, money and time are the parent's, and only the steps its own.
        """
        self._parent = parent
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

    def take_step(self) -> None:
        """Count a model call that is about to be made."""
        self._steps += 1

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
        if self._steps >= self._limits.steps:
            return "steps"
        return self._parent._spent_up() if self._parent else self._spent_up()

    def _spent_up(self) -> Exhausted:
        """The name of the reached limit, without the limit of steps; empty for none."""
        limits = self._limits
        if limits.tokens and self._tokens >= limits.tokens:
            return "tokens"
        if limits.micro_dollars and self._micro_dollars >= limits.micro_dollars:
            return "money"
        if limits.seconds and self.clock() - self._started >= limits.seconds:
            return "time"
        return ""
