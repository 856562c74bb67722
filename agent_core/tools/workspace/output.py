"""Shorten a command's output for the model."""

import re
import signal
from collections.abc import Awaitable, Callable, Sequence

from agent_core.tools.text_cleaner import TextCleaner

OUT_OF_TIME = 128 + signal.SIGXCPU
"""The status of a command that used up its processor time."""
HEAD, TAIL = 4_000, 6_000
"""Characters shown of a long output's beginning and end; the end reports the outcome."""
NO_OUTPUT = "[No output.]"
_LONGEST_STATE = 60
_STATE = re.compile(
    r"(?:[0-9]+|[\s.,:;%=/()+-]|\b(?:ok|okay|done|success|passed|failed|true|false|yes|no|none|error"
    r"|errors|warnings?|skipped|in|s|ms|tests?|total|all)\b)*",
    re.IGNORECASE | re.ASCII,
)
"""Numbers, and words that only say how something went."""
_MOST_NUMBERS = 4
"""Numbers of a state; a longer row could spell words."""


Keep = Callable[[bytes], Awaitable[str]]
"""Stores a long output; returns a clause that tells where all of it is."""


async def show_output(
    cleaner: TextCleaner, output: bytes, keep: Keep, *, is_growing: bool = False
) -> str:
    """Return the part of an output that the model sees; "" for an empty one.

    Secrets are masked before the output is cut: a cut secret can't be found. The end of an output
    that `is_growing` is left out if it may begin a secret.
    """
    found = await cleaner.clean_output(output, head=HEAD, tail=TAIL, is_growing=is_growing)
    if found.fault:
        return found.fault
    if found.is_binary:
        return describe_binary(len(output))
    if not found.data:
        return found.head
    left_out = found.length - HEAD - TAIL
    where = await keep(found.data)
    return f"{found.head}\n[… {left_out:,} characters left out; {where} …]\n{found.tail}"


def describe_binary(size: int) -> str:
    """Describe a binary output by its size in bytes."""
    return (
        f"[The output is binary, {size:,} bytes; write it to a file, or print it with xxd or"
        " strings.]"
    )


def describe_refusals(refusals: Sequence[str]) -> list[str]:
    """Return a line for each host or request that the command's network refused."""
    return [f"[Network: {sentence}.]" for sentence in refusals]


def describe_status(status: int) -> list[str]:
    """Return a line about the exit status of a failed command."""
    if status == OUT_OF_TIME:
        return ["[It was stopped because it took too much processor time; do less at once.]"]
    return [f"[Exit status {status}.]"] if status else []


def says_state(shown: str) -> bool:
    """Return whether an output only says how a command went: nothing, "OK", "3 passed in 0.2 s".

    No such text can ask for anything, whoever wrote it. Any other output counts as words of others.
    """
    if shown == NO_OUTPUT:
        return True
    is_short = len(shown) <= _LONGEST_STATE and len(re.findall(r"[0-9]+", shown)) <= _MOST_NUMBERS
    return is_short and _STATE.fullmatch(shown) is not None
