"""The factory of Anthropic's provider, which needs no SDK."""

from collections.abc import Mapping
from typing import cast

from agent_core.models.anthropic.settings import read_settings
from agent_core.models.anthropic.translate import PROVIDER
from agent_core.models.contract import Model
from agent_core.models.late import LateModel


def create(options: Mapping[str, str]) -> LateModel:
    """Create the provider; its SDK is imported with the first call.

    Raises `ValueError` with a sentence for invalid options; see `read_settings`.
    """
    settings = read_settings(options)
    return LateModel(
        PROVIDER, f"{__package__}.client", lambda client: cast(Model, client.connect(settings))
    )
