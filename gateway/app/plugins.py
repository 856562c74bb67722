"""Loads platforms, model providers and external memories by name."""

import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from types import ModuleType
from typing import cast

from adapters.contract import ChatAdapter
from adapters.ids import list_platforms
from agent_core.memory.contract import MemoryProvider
from agent_core.models.contract import Model
from agent_core.models.loading import load_provider
from agent_core.models.profiles import Profiles
from agent_core.models.router import PROVIDERS

_MEMORIES = "agent_core.memory.external"


class UnknownPlug(Exception):
    """No plug-in has that name. The message is a sentence that lists the known names."""


def load_adapter(name: str, settings: object) -> ChatAdapter:
    """Load the adapter of a platform, and import its SDK. The settings are the platform's own."""
    module = importlib.import_module(f"adapters.{name}.adapter")
    return cast(ChatAdapter, module.create(settings))


def load_model(name: str, settings: object, profiles: Profiles | None = None) -> Model:
    """Load a model provider, and import its SDK. The settings are the provider's own.

    It notes in `profiles` what it learns of models. Raises `UnknownPlug`.
    """
    try:
        return load_provider(name, settings, profiles)
    except ValueError as error:
        if name in PROVIDERS:
            raise
        raise UnknownPlug(str(error)) from error


def load_memory(name: str, options: Mapping[str, str]) -> MemoryProvider:
    """Load an external memory, and import its SDK.

    Raises `UnknownPlug`, `ModuleNotFoundError` without its SDK, and `ValueError` with a sentence on
    an invalid option.
    """
    module = _load(_MEMORIES, name, _list(_MEMORIES), "external memory")
    return cast(MemoryProvider, module.create(options))


def list_built_in(kind: str) -> list[str]:
    """List Talaria's own plug-ins of a kind; empty if the kind has no folder."""
    if kind == "platforms":
        return list(list_platforms())
    if kind == "models":
        return list(PROVIDERS)
    return _list(_MEMORIES) if kind == "memories" else []


def _list(package: str) -> list[str]:
    """List the packages in a package without importing them."""
    spec = find_spec(package)
    places = spec.submodule_search_locations if spec else None
    return sorted(found.name for found in pkgutil.iter_modules(places) if found.ispkg)


def _load(package: str, name: str, known: Sequence[str], kind: str) -> ModuleType:
    if name not in known:
        raise UnknownPlug(f'There is no {kind} "{name}"; there are {", ".join(known)}.')
    return importlib.import_module(f"{package}.{name}")
