"""Makes the usage row of a model call: what it took, and what that costs."""

from collections.abc import Callable

from agent_core.models.contract import Fingerprint, Usage
from agent_core.state.usage import Spent

Cost = Callable[[str, Usage], int | None]
"""Micro-dollars of a call to a model by its name, None where no price is known."""


def bill(
    model: str, taken: Usage, purpose: str, cost: Cost, asked: Fingerprint | None = None
) -> Spent:
    """The row of a call; `model` is the name that answered, `asked` what it was made of."""
    return Spent(
        purpose=purpose,
        model=model,
        input_tokens=taken.input_tokens,
        cache_read_tokens=taken.cache_read_tokens,
        cache_write_tokens=taken.cache_write_tokens,
        output_tokens=taken.output_tokens,
        micro_dollars=cost(model, taken),
        request_hash=asked.hash if asked else None,
        asked_model=asked.model if asked else None,
        output_limit=asked.output_limit if asked else None,
    )
