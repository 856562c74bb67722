"""What is said about what fills the context of a talk, and how to need less of it."""

from collections.abc import Iterator

from agent_core.replay.reckoning import Reckoning, Source

CONTEXT_EMPTY = (
    "There is nothing to tell yet: no answer was given in this talk since it began. Ask again"
    " after the next one."
)
_SOURCES: dict[Source, str] = {
    "identity": "Who I am, and my rules",
    "memory": "Memory",
    "files": "Context files",
    "tools": "Tools",
    "summary": "Summary of older turns",
    "talk": "What was said here",
    "outputs": "What tools gave",
}
_LEAST_SAVED = 100
"""Tokens below which nobody is told how to save them."""


def describe_context(reckoning: Reckoning, limit: int) -> str:
    """How much a model reads before each answer, of what, and what would make it less.

    `limit` is the most tokens that a call may read here.
    """
    total = reckoning.total
    left = max(limit - total, 0)
    head = (
        f"**What I read before each answer**: about {total:,} of at most {limit:,} tokens;"
        f" {left:,} are left"
    )
    lines = [
        head,
        *(
            f"- {name}: {reckoning.sources[source]:,}"
            for source, name in _SOURCES.items()
            if reckoning.sources[source]
        ),
        _describe_last(reckoning),
    ]
    hints = list(_list_hints(reckoning))
    return "\n".join([*lines, "", *hints]) if hints else "\n".join(lines)


def _describe_last(reckoning: Reckoning) -> str:
    calls = "1 call" if reckoning.calls == 1 else f"{reckoning.calls} calls"
    share = 100 * reckoning.cached // max(reckoning.read, 1)
    line = f"The last answer took {calls}; {share} % of what was read came from the cache"
    if reckoning.grown is None:
        return f"{line}."
    word = "more" if reckoning.grown >= 0 else "less"
    return f"{line}, and {abs(reckoning.grown):,} tokens {word} were read than for the one before."


def _list_hints(reckoning: Reckoning) -> Iterator[str]:
    """What a person can do about it, the largest first."""
    ways = [
        (reckoning.history, "Without this talk's past, with /new, it is {} less."),
        (reckoning.saved_by_folding, "With older turns told by a summary, /compact, {} less."),
        (
            reckoning.sources["memory"],
            "Without anything remembered up to {} less: /memory drops what is not needed.",
        ),
    ]
    for saved, sentence in sorted(ways, reverse=True):
        if saved >= _LEAST_SAVED:
            yield sentence.format(f"{saved:,}")
