"""Imports of libraries without their optional parts."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import cast


@contextmanager
def leaving_out(*names: str) -> Iterator[None]:
    """Make the import of modules fail in this block, as if they were not installed.

    Modules that are loaded already stay loaded. Other threads must not import the modules
    meanwhile.
    """
    hidden = [name for name in names if name not in sys.modules]
    for name in hidden:
        sys.modules[name] = cast(ModuleType, None)  # Python's documented way to make an import fail
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]
