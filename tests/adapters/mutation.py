"""Mutated events: one field of an event replaced, removed or repeated, drawn from a seed."""

import copy
from dataclasses import fields, is_dataclass
from random import Random
from typing import Any

_VALUES: tuple[Any, ...] = (
    *(None, True, 5, -1, 2**70, -(2**70), 1.5, "", "x", "0", "9" * 40, "\ud800", "U\udfff1"),
    *("\x00", "<@U0>", "2026-13-45", [], {}, [[]], [None], ["\ud800"], {"id": {}}, "y" * 3000),
)


def mutate(event: Any, random: Random) -> Any:
    """Return a copy of an event with one to three mutations."""
    mutated = copy.deepcopy(event)
    for _ in range(random.randint(1, 3)):
        places = [*_places(mutated)]
        if not places:
            break
        holder, key = random.choice(places)
        if random.random() < 0.2:
            del holder[key]
        else:
            holder[key] = copy.deepcopy(random.choice(_VALUES))
    return mutated


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Return every (container, key) of a JSON value."""
    keys = (
        list(value)
        if isinstance(value, dict)
        else range(len(value))
        if isinstance(value, list)
        else ()
    )
    return [place for key in keys for place in ((value, key), *_places(value[key]))]


def check_storable(value: Any) -> None:
    """Raise `ValueError` if a parsed event holds a text or number that SQLite does not take."""
    if is_dataclass(value):
        for field in fields(value):
            check_storable(getattr(value, field.name))
    elif isinstance(value, tuple):
        for item in value:
            check_storable(item)
    elif isinstance(value, str):
        value.encode()
    elif isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise ValueError(f"{value} does not fit into a column")
