"""Settings of the accounts with providers of sandboxes, and their backends.

An SDK is an extra of its own, and is imported at the first use.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import cast

from agent_core.errors import BackendUnavailable
from agent_core.execution.hosted.backend import PATIENCE, HostedBackend, Provider
from agent_core.execution.sandbox import SandboxLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class DaytonaSettings:
    """The key of an account, and its sandboxes.

    `gateway` tells this gateway's sandboxes from those of others. `snapshot` is what new sandboxes
    are made from, and `target` the region; "" for Daytona's own choice, also of `api_url`. See
    `HostedBackend` for the seconds.
    """

    api_key: str = field(repr=False)
    gateway: str
    api_url: str = ""
    target: str = ""
    snapshot: str = ""
    has_network: bool = False
    idle_seconds: float = 300.0
    patience_seconds: int = PATIENCE


def make_daytona(limits: SandboxLimits, settings: DaytonaSettings) -> HostedBackend:
    """Make the backend whose sandboxes Daytona hosts."""
    load = partial(_load, "daytona", lambda module: module.DaytonaProvider(settings))
    return HostedBackend(
        "daytona",
        limits,
        load,
        idle_seconds=settings.idle_seconds,
        patience=settings.patience_seconds,
        has_network=settings.has_network,
    )


async def _load(name: str, make: Callable[..., object]) -> Provider:
    try:
        # In a thread: importing an SDK takes seconds, which nobody else has to wait for.
        module = await asyncio.to_thread(import_module, f"agent_core.execution.hosted.{name}")
    except ModuleNotFoundError as error:
        raise BackendUnavailable(
            f"the backend {name} needs a package that is not installed ({error.name});"
            f" install it with `pip install 'talaria[{name}]'`"
        ) from error
    return cast(Provider, make(module))
