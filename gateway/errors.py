"""Errors of the command line. The text of each is a sentence for the user."""

import difflib
from collections.abc import Iterable

_LIKENESS = 0.6
"""Least similarity of a mistyped name, from 0 to 1; the default of difflib."""


class StartError(Exception):
    """The gateway can't start or can't be reached. The text says why and what to do."""


class SettingsError(StartError):
    """A setting can't be used. The text says which one, why, and what is allowed."""


class Broken(Exception):
    """A running gateway has to stop. A restart may help; the text says why it stopped."""


class Declined(Exception):
    """An operation is refused. The text says why."""


class Mistaken(Declined):
    """An operation was called with invalid arguments. The text says which."""


def find_nearest(name: str, known: Iterable[str], *, likeness: float = _LIKENESS) -> str | None:
    """Return the known name that is most similar to a mistyped one; None if none is similar."""
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=likeness)
    return near[0] if near else None


def suggest(name: str, known: Iterable[str]) -> str:
    """End a sentence about an unknown name: with the nearest known name, or with all of them."""
    names = list(known)
    near = find_nearest(name, names)
    if not names:
        return "there is none yet."
    return f"did you mean {near}?" if near else f"known are {', '.join(sorted(names))}."
