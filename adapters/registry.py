"""Finds what platforms declare, by listing the folders.

A new folder with a module `declaration` is all that a new platform needs.
"""

import importlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapters.declaration import Platform

if TYPE_CHECKING:
    from adapters.toolkit.table import Table


@cache
def list_declared() -> Mapping[str, Platform]:
    """Return the declared platforms by name, the usual ones first.

    Their SDKs and settings are not imported.
    """
    found = sorted(Path(__file__).parent.glob("*/declaration.py"))
    modules = (importlib.import_module(f"adapters.{one.parent.name}.declaration") for one in found)
    declared: list[Platform] = [module.PLATFORM for module in modules]
    return {one.name: one for one in sorted(declared, key=lambda one: not one.is_usual)}


def list_tables() -> "Mapping[str, type[Table]]":
    """Return the class of each platform's table in `config.toml`."""
    return {
        name: importlib.import_module(f"adapters.{name}.settings").TABLE for name in list_declared()
    }


def make_settings(name: str, table: object, given: Mapping[str, str | None]) -> Any:
    """Make an adapter's settings from its table and its variables, by name.

    Raises `ValueError` with a sentence for the person.
    """
    options = {one.option: given.get(one.name) for one in list_declared()[name].variables}
    module = importlib.import_module(f"adapters.{name}.settings")
    return module.make_settings(
        table, **{option: value for option, value in options.items() if value}
    )
