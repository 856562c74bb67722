"""Kinds of everyday things: whoever asks about animals also means cats and dogs. Pure.

A line of `kinds.txt` has names of a kind, in English or German, and words for its members.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

from agent_core.state.tokenizer import cut, normalize, stem


def list_members(word: str) -> frozenset[str]:
    """Return the members of the kind that a normalized word names, as `tokenizer.cut` gives them.

    Another word may have the stem of a name, as "anime" has that of "animal".
    """
    kinds = _read_kinds().get(stem(word), ())
    return frozenset[str]().union(
        *(
            members
            for name, members in kinds
            if len(word) >= len(name) and word.startswith(name[:-1])
        )
    )


@cache
def _read_kinds() -> Mapping[str, Sequence[tuple[str, frozenset[str]]]]:
    """Return the names of kinds and their members, by the stems of the names."""
    found: defaultdict[str, list[tuple[str, frozenset[str]]]] = defaultdict(list)
    table = files("agent_core.memory.recall").joinpath("kinds.txt").read_text(encoding="utf-8")
    for line in table.splitlines():
        names, _, members = line.partition(":")
        for name in normalize(names).split():
            found[stem(name)].append((name, frozenset(cut(members)) - {stem(name)}))
    return found
