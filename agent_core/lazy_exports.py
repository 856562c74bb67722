"""Public interfaces that import a module only when one of its names is needed.

A command must answer at once, and can't wait until every module behind an interface is imported.
The lazy imports of Python 3.15 (PEP 810) do the same; use them once no older version is supported.
"""

import ast
import gc
import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType


def export_lazily(package: str, file: str) -> Callable[[str], object]:
    """Return the `__getattr__` of a package that exports what `if TYPE_CHECKING` imports.

    `package` and `file` are the package's `__name__` and `__file__`. The imports are read from the
    source once, so that checkers, readers and Python share one list.
    """
    read = cache(lambda: _read_origins(Path(file).read_text("utf-8")))

    def find(name: str) -> object:
        module, own_name = ("", "") if name.startswith("__") else read().get(name, ("", ""))
        if not module:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name)
        value = getattr(_import_uncollected(module), own_name)
        setattr(sys.modules[package], name, value)
        return value

    return find


def _import_uncollected(module: str) -> ModuleType:
    """Import a module with garbage collection off.

    None of the objects that an import makes is garbage, and collecting takes an eighth of its time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return import_module(module)
    finally:
        if was_enabled:
            gc.enable()


def _read_origins(source: str) -> Mapping[str, tuple[str, str]]:
    """Map each exported name to its module and to its name there."""
    [block] = [node for node in ast.parse(source).body if isinstance(node, ast.If)]
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    return {
        alias.asname or alias.name: (node.module or "", alias.name)
        for node in imports
        for alias in node.names
    }
