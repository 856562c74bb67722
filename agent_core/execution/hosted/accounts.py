"""Settings of accounts with sandbox providers, and their backends.

Each SDK is a separate extra, and is imported at first use.
"""

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from types import ModuleType

from agent_core.errors import BackendUnavailable, name_installation
from agent_core.execution.hosted.backend import PATIENCE, HostedBackend, Provider
from agent_core.execution.sandbox import SandboxLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class DaytonaSettings:
    """The key of an account, and its sandboxes.

    `gateway` distinguishes this gateway's sandboxes from others. `snapshot` is the source of new
    sandboxes, and `target` the region; "" for Daytona's default, as for `api_url`. See
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ModalSettings:
    """The token of an account, and its sandboxes.

    `gateway` distinguishes this gateway's sandboxes from others. `image` is the registry image of
    new sandboxes, and `region` where they run; "" for Modal's default. See `HostedBackend` for the
    seconds.
    """

    token_id: str
    token_secret: str = field(repr=False)
    gateway: str
    image: str = ""
    region: str = ""
    has_network: bool = False
    idle_seconds: float = 300.0
    patience_seconds: int = PATIENCE


def make_daytona(limits: SandboxLimits, settings: DaytonaSettings) -> HostedBackend:
    """Make the backend whose sandboxes Daytona hosts."""
    return _make("daytona", limits, settings, lambda module: module.DaytonaProvider(settings))


def make_modal(limits: SandboxLimits, settings: ModalSettings) -> HostedBackend:
    """Make the backend whose sandboxes Modal hosts."""
    return _make("modal", limits, settings, lambda module: module.ModalProvider(settings))


def _make(
    name: str,
    limits: SandboxLimits,
    settings: DaytonaSettings | ModalSettings,
    make: Callable[[ModuleType], Provider],
) -> HostedBackend:
    return HostedBackend(
        name,
        limits,
        partial(_load, name, make),
        idle_seconds=settings.idle_seconds,
        patience=settings.patience_seconds,
        has_network=settings.has_network,
    )


def hash_name(text: str) -> str:
    """Return a hash of a name, from which the provider learns nothing."""
    return hashlib.sha256(text.encode()).hexdigest()[:24]


async def _load(name: str, make: Callable[[ModuleType], Provider]) -> Provider:
    try:
        # On a thread: importing an SDK takes seconds, and must not block other tasks.
        module = await asyncio.to_thread(import_module, f"agent_core.execution.hosted.{name}")
    except ModuleNotFoundError as error:
        raise BackendUnavailable(
            f"the backend {name} needs a package that is not installed ({error.name});"
            f" run {name_installation(name)}"
        ) from error
    return make(module)
