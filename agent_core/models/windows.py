"""Read how long a request may be from the words with which a server refuses one; pure."""

import re

_NUMBER = r"(\d[\d,]*)"
_WINDOWS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"maximum context length (?:is|of)?:? ?{_NUMBER}",
        rf"context (?:length|window|size)(?: is| of|:)? ?\(?{_NUMBER} ?tokens",
        rf"{_NUMBER} maximum context length",
        rf"context limit: {_NUMBER} \+ {_NUMBER} > {_NUMBER}",
        rf"{_NUMBER} tokens > {_NUMBER} maximum",
        rf'"n_ctx": ?{_NUMBER}',
    )
)
_INPUTS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_NUMBER} (?:tokens )?(?:in|from) (?:the|your) (?:messages|prompt|input)",
        rf"{_NUMBER} input tokens",
        rf"{_NUMBER} > {_NUMBER} - {_NUMBER}",
        rf"context limit: {_NUMBER} \+ {_NUMBER} >",
    )
)
_LEAST, _MOST = 1_000, 20_000_000
_MARGIN = 16
_LEAST_ROOM = 256
"""Tokens of an answer below which a conversation has to be shortened."""


def find_window(said: str) -> int:
    """Return the window that a refusal names, in tokens; 0 if it names none."""
    found = _find(_WINDOWS, said.lower())
    return found if _LEAST <= found <= _MOST else 0


def find_room(said: str) -> int:
    """Return the tokens that a refusal leaves for an answer; 0 if the input itself is too long."""
    window, taken = find_window(said), _find(_INPUTS, said.lower())
    room = window - taken - _MARGIN if window and taken else 0
    return room if room >= _LEAST_ROOM else 0


def _find(patterns: tuple[re.Pattern[str], ...], said: str) -> int:
    """Return the last number of the first pattern that matches; 0 if none does."""
    for pattern in patterns:
        if found := pattern.search(said):
            numbers = [int(number.replace(",", "")) for number in found.groups()]
            return numbers[0] if pattern is _INPUTS[-1] else numbers[-1]
    return 0
