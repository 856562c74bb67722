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

    A sandbox of an `image` can have a size: processors, graphics cards and bytes of memory; 0 for
    Daytona's default.
    """

    api_key: str = field(repr=False)
    gateway: str
    api_url: str = ""
    target: str = ""
    snapshot: str = ""
    image: str = ""
    cpus: int = 0
    gpus: int = 0
    memory: int = 0
    has_network: bool = False
    idle_seconds: float = 300.0
    patience_seconds: int = PATIENCE


@dataclass(frozen=True, slots=True, kw_only=True)
class ModalSettings:
    """The token of an account, and its sandboxes.

    `gateway` distinguishes this gateway's sandboxes from others. `image` is the registry image of
    new sandboxes, and `region` where they run; "" for Modal's default. See `HostedBackend` for the
    seconds.

    `cpus` and bytes of `memory` are kept free for a sandbox; 0 for Modal's default. `gpu` is its
    graphics card in Modal's words, and `secrets` are names of the account's, whose variables
    commands get.
    """

    token_id: str
    token_secret: str = field(repr=False)
    gateway: str
    image: str = ""
    cpus: float = 0.0
    gpu: str = ""
    memory: int = 0
    secrets: tuple[str, ...] = ()
    region: str = ""
    has_network: bool = False
    idle_seconds: float = 300.0
    patience_seconds: int = PATIENCE


def make_daytona(
    limits: SandboxLimits, settings: DaytonaSettings, name: str = "daytona"
) -> HostedBackend:
    """Make the backend whose sandboxes Daytona hosts; `name` is its own in the configuration."""
    return _make(name, "daytona", limits, settings, lambda module: module.DaytonaProvider(settings))


def make_modal(
    limits: SandboxLimits, settings: ModalSettings, name: str = "modal"
) -> HostedBackend:
    """Make the backend whose sandboxes Modal hosts; `name` is its own in the configuration."""
    return _make(name, "modal", limits, settings, lambda module: module.ModalProvider(settings))


def _make(
    name: str,
    kind: str,
    limits: SandboxLimits,
    settings: DaytonaSettings | ModalSettings,
    make: Callable[[ModuleType], Provider],
) -> HostedBackend:
    return HostedBackend(
        name,
        limits,
        partial(_load, kind, make),
        idle_seconds=settings.idle_seconds,
        patience=settings.patience_seconds,
        has_network=settings.has_network,
    )


def hash_name(text: str) -> str:
    """Return a hash of a name, from which the provider learns nothing."""
    return hashlib.sha256(text.encode()).hexdigest()[:24]


async def _load(kind: str, make: Callable[[ModuleType], Provider]) -> Provider:
    try:
        # On a thread: importing an SDK takes seconds, and must not block other tasks.
        module = await asyncio.to_thread(import_module, f"agent_core.execution.hosted.{kind}")
    except ModuleNotFoundError as error:
        raise BackendUnavailable(
            f"the backend {kind} needs a package that is not installed ({error.name});"
            f" run {name_installation(kind)}"
        ) from error
    return make(module)
