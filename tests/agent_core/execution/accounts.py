"""Accounts with emulated providers of sandboxes, all with the same face."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import pytest

from agent_core.execution.hosted.accounts import (
    DaytonaSettings,
    ModalSettings,
    make_daytona,
    make_modal,
)
from agent_core.execution.hosted.backend import HostedBackend
from agent_core.execution.sandbox import SandboxLimits
from tests.emulators.daytona import KEY, DaytonaEmulator
from tests.emulators.modal import TOKEN, ModalEmulator

LIMITS = SandboxLimits(
    memory=300_000_000, processes=40, file=20_000_000, workspace=50_000_000, cpu_seconds=3
)


class Account(Protocol):
    """An account with a provider, and what really happens there."""

    rejected: dict[str, str]
    """The settings of a wrong key."""
    advice: str
    """What is said about it."""
    is_down: bool

    def make(self, limits: SandboxLimits = LIMITS, **changes: Any) -> HostedBackend:
        """Make the backend, with other settings."""

    def list_workspaces(self) -> list[Path]:
        """Return the workspaces of all sandboxes that were made, in order."""

    def list_awake(self) -> list[str]:
        """Return the sandboxes that cost something now."""

    def has_network(self) -> bool:
        """Return whether the sandbox that was made last has one."""

    def list_known(self) -> str:
        """Return everything that the provider knows without a look into a sandbox."""

    async def halt(self) -> None:
        """End every sandbox, as the provider does with an idle one."""

    async def lose(self) -> None:
        """Break what runs there, for good."""


class DaytonaAccount:
    rejected = {"api_key": "other"}
    advice = "check DAYTONA_API_KEY"

    def __init__(self, emulator: DaytonaEmulator) -> None:
        self.emulator = emulator
        self._settings = DaytonaSettings(api_key=KEY, api_url=emulator.url, gateway="one")

    @property
    def is_down(self) -> bool:
        return self.emulator.is_down

    @is_down.setter
    def is_down(self, value: bool) -> None:
        self.emulator.is_down = value

    def make(self, limits: SandboxLimits = LIMITS, **changes: Any) -> HostedBackend:
        return make_daytona(limits, replace(self._settings, **changes))

    def list_workspaces(self) -> list[Path]:
        return [each.folder / "workspace" for each in self.emulator.sandboxes.values()]

    def list_awake(self) -> list[str]:
        found = self.emulator.sandboxes.values()
        return [each.id for each in found if each.told["state"] == "started"]

    def has_network(self) -> bool:
        return not list(self.emulator.sandboxes.values())[-1].told["networkBlockAll"]

    def list_known(self) -> str:
        found = self.emulator.sandboxes.values()
        return repr([(each.told, [command.text for command in each.commands]) for each in found])

    async def halt(self) -> None:
        for each in self.emulator.sandboxes.values():
            await self.emulator.halt(each)

    async def lose(self) -> None:
        await self.emulator.cut()


class ModalAccount:
    rejected = {"token_secret": "other"}
    advice = "check MODAL_TOKEN_ID and MODAL_TOKEN_SECRET"

    def __init__(self, emulator: ModalEmulator) -> None:
        self.emulator = emulator
        self._settings = ModalSettings(token_id=TOKEN[0], token_secret=TOKEN[1], gateway="one")

    @property
    def is_down(self) -> bool:
        return self.emulator.is_down

    @is_down.setter
    def is_down(self, value: bool) -> None:
        self.emulator.is_down = value

    def make(self, limits: SandboxLimits = LIMITS, **changes: Any) -> HostedBackend:
        return make_modal(limits, replace(self._settings, **changes))

    def list_workspaces(self) -> list[Path]:
        return [each.workspace for each in self.emulator.sandboxes.values()]

    def list_awake(self) -> list[str]:
        return [each.id for each in self.emulator.list_running()]

    def has_network(self) -> bool:
        return list(self.emulator.sandboxes.values())[-1].has_network

    def list_known(self) -> str:
        found = self.emulator.sandboxes.values()
        return repr(
            [
                (each.definition, each.tags, [command.words for command in each.commands.values()])
                for each in found
            ]
        )

    async def halt(self) -> None:
        for each in self.emulator.list_running():
            await self.emulator.halt(each)

    async def lose(self) -> None:
        for each in self.emulator.list_running():
            await self.emulator.lose(each)


PROVIDERS = ("daytona", "modal")


@asynccontextmanager
async def open_account(name: str, folder: Path) -> AsyncIterator[DaytonaAccount | ModalAccount]:
    """Run the emulator of a provider."""
    if name == "daytona":
        async with DaytonaEmulator(folder) as daytona:
            yield DaytonaAccount(daytona)
        return
    async with ModalEmulator(folder) as modal:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("MODAL_SERVER_URL", modal.url)  # where its SDK looks
            yield ModalAccount(modal)
