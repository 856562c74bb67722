"""Load a model provider that comes with Talaria by its name."""

import importlib
from typing import cast

from agent_core.models.contract import Model
from agent_core.models.profiles import Profiles
from agent_core.models.router import PROVIDERS


def load_provider(name: str, settings: object, profiles: Profiles | None = None) -> Model:
    """Load a provider, and import its SDK. The settings are the provider's own.

    It notes in `profiles` what it learns of models. Raises `ValueError` for an unknown name, and
    `ModuleNotFoundError` without the SDK.
    """
    if name not in PROVIDERS:
        raise ValueError(f'There is no model provider "{name}"; there are {", ".join(PROVIDERS)}.')
    module = importlib.import_module(f"agent_core.models.{name}")
    return cast(Model, module.create(settings, profiles))
