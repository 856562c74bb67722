"""Command lines of the programs that Talaria ships and runs in processes of their own."""

import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[3]
_BEGIN = (
    "import runpy, sys, types; root, name = sys.argv[1:3]; sys.path.insert(0, root);"
    " parts = name.split('.');"
    " parents = ['.'.join(parts[:length]) for length in range(1, len(parts))];"
    " sys.modules.update({parent: types.ModuleType(parent) for parent in parents});"
    " [setattr(sys.modules[parent], '__path__', [root + '/' + parent.replace('.', '/')])"
    " for parent in parents];"
    " sys.argv[1:3] = []; runpy.run_module(name, run_name='__main__')"
)
"""Runs a module without the `__init__` of its packages, which would load all of Talaria."""


def make_command(module: str, *arguments: str, has_packages: bool = True) -> tuple[str, ...]:
    """Return the command line that runs a module of Talaria with these arguments.

    Without `has_packages`, only Talaria's own modules and the standard library can be imported, but
    the program starts sooner.
    """
    flags = ("-I",) if has_packages else ("-I", "-S")
    return (sys.executable, *flags, "-c", _BEGIN, str(_ROOT), module, *arguments)
