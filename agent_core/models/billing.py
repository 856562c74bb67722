"""Makes the usage row of a model call: what it took, and what that costs."""

from collections.abc import Callable

from agent_core.models.contract import ModelAnswer, Usage
from agent_core.state.usage import Spent

Cost = Callable[[str, Usage], int | None]
"""Micro-dollars of a call to a model by its name, None where no price is known."""


def bill(answer: ModelAnswer, purpose: str, cost: Cost) -> Spent:
    """The row for a call that gave `answer`."""
    return Spent(
        purpose=purpose,
        model=answer.model,
        input_tokens=answer.usage.input_tokens,
        cache_read_tokens=answer.usage.cache_read_tokens,
        cache_write_tokens=answer.usage.cache_write_tokens,
        output_tokens=answer.usage.output_tokens,
        micro_dollars=cost(answer.model, answer.usage),
    )
