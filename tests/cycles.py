"""Objects that only the collector could take apart."""

import gc
import types
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

_OURS = ("adapters", "agent_core", "gateway")


@contextmanager
def noting_cycles(found: Counter[str]) -> Iterator[None]:
    """Hold the collector off in this block, and count by type what it finds at the end."""
    gc.collect()
    gc.disable()
    try:
        yield
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        gc.set_debug(0)
        found.update(_name(one) for one in gc.garbage)
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


def _name(thing: object) -> str:
    if isinstance(thing, types.FunctionType):
        return f"{thing.__module__}.{thing.__qualname__}"
    return f"{type(thing).__module__}.{type(thing).__qualname__}"


def ours(found: Counter[str]) -> dict[str, int]:
    return {name: count for name, count in found.items() if name.startswith(_OURS)}
