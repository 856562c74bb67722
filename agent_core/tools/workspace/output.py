"""Shorten a command's output for the model."""

import signal
from collections.abc import Sequence

from agent_core.transcript import strip_controls

OUT_OF_TIME = 128 + signal.SIGXCPU
"""The status of a command that used up its processor time."""
HEAD, TAIL = 4_000, 6_000
"""Characters shown of a long output's beginning and end; the end reports the outcome."""


def read_output(output: bytes) -> str | None:
    """Return an output as text without control characters; None for a binary output."""
    if b"\0" in output:
        return None
    return strip_controls(output.decode("utf-8", "replace")).rstrip("\n")


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


def is_long(text: str) -> bool:
    """Return whether an output is too long to be shown whole."""
    return len(text) > HEAD + TAIL


def shorten(text: str, where: str) -> str:
    """Return the beginning and the end of a long output; `where` tells where the rest is."""
    left_out = len(text) - HEAD - TAIL
    return f"{text[:HEAD]}\n[… {left_out:,} characters left out; {where} …]\n{text[-TAIL:]}"
