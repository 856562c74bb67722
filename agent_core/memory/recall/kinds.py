"""Kinds of everyday things: whoever asks about animals also means cats and dogs. Pure.

A line of `kinds.txt` has names of a kind, in English or German, and words for its members.
"""

from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from agent_core.state.tokenizer import cut


def list_members(word: str) -> frozenset[str]:
    """Return the members of the kind that a word names, both as `tokenizer.cut` gives them."""
    return _read_kinds().get(word, frozenset())


@cache
def _read_kinds() -> Mapping[str, frozenset[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    table = files("agent_core.memory.recall").joinpath("kinds.txt").read_text(encoding="utf-8")
    for line in table.splitlines():
        names, _, members = line.partition(":")
        for name in cut(names):
            found[name].update(cut(members))
    return {name: frozenset(members - {name}) for name, members in found.items()}
