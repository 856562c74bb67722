"""Kinds of everyday things: a search for animals also finds cats and dogs. Pure.

A line of `kinds.txt` has the names of a kind, in English or German, and the words for its members.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

from agent_core.state.tokenizer import cut, normalize, stem


def list_members(word: str) -> frozenset[str]:
    """Return the members of the kind that a normalized word names, in the form of `tokenizer.cut`.

    The word is also compared with the name itself, because others may have the same stem, as
    "anime" and "animal" do.
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
    """Map the stems of kinds' names to these names and the kinds' members."""
    found: defaultdict[str, list[tuple[str, frozenset[str]]]] = defaultdict(list)
    table = files("agent_core.memory.recall").joinpath("kinds.txt").read_text(encoding="utf-8")
    for line in table.splitlines():
        names, _, members = line.partition(":")
        for name in normalize(names).split():
            found[stem(name)].append((name, frozenset(cut(members)) - {stem(name)}))
    return found
