"""A request whose price is known."""

from agent_core.models.contract import ModelRequest
from agent_core.transcript import user_message

ASKED = ModelRequest(
    model="good",
    system="",
    tools=(),
    messages=(user_message("x" * 400),),
    max_output_tokens=1000,
)
"""100 tokens: with `good` a call costs 10 to 1,125 micro-dollars, with `cheap` 1 to 113."""
