"""What is said about how much of a talk a model reads, and about making it shorter."""

COMPACT_RUNNING = (
    "I am still answering here. A long talk is made shorter on the way by itself; for more, say"
    " /compact again when I am done, or /stop first."
)
COMPACT_EMPTY = "There is nothing to make shorter yet: this talk has just begun."
COMPACT_NO_GAIN = (
    "There is nothing to gain here: what could be told shorter is short already, or no summary of"
    " it was to be had just now. Nothing was changed."
)


def describe_compact(before: int, after: int) -> str:
    """A talk was made shorter."""
    return (
        f"This talk is shorter for me now: about {after:,} tokens instead of {before:,}. Older"
        " turns are told by a summary; all of it stays findable."
    )


def describe_cap(cap: int | None) -> str:
    """How much of a talk is read at once, as a person has set it."""
    return f"at most {cap:,} tokens" if cap else "as much as this house allows"
