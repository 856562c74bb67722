"""The chain of agents behind a message: who passed it on, and when passing on must end. Pure."""

from collections.abc import Sequence

MOST_HOPS = 3
"""The most messages in a chain, counted from the turn of a person or a job."""
DEFAULT = "default"
"""The name of the assistant itself in a chain."""


def find_objection(chain: Sequence[str], agent: str) -> str:
    """Return why the last of a chain may not write to an agent; "" if it may.

    A chain begins with the agent of the first turn, "" for the assistant itself.
    """
    names = [name or DEFAULT for name in (*chain, agent)]
    shown = " → ".join(names)
    if agent in chain:
        return f"the chain {shown} would go round in a circle"
    if len(chain) > MOST_HOPS:
        return f"the chain {shown} is too long: agents pass a task on at most {MOST_HOPS} times"
    return ""
