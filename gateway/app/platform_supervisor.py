"""Keep platforms running, and know which of them work."""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from adapters.abilities import CanShowMenu, MenuEntry
from adapters.contract import ChatAdapter, Health, Inlet
from adapters.errors import AdapterError, AdapterStopped

_log = logging.getLogger(__name__)

_MENU_POLL = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartPolicy:
    """Pauses before a platform is restarted, in seconds."""

    first_pause: float = 1.0
    longest_pause: float = 60.0
    good_run: float = 60.0
    """A run of this length counts as good: a failure after it begins a new series."""


@dataclass(slots=True)
class Platforms:
    """The enabled platforms and their health."""

    adapters: Mapping[str, ChatAdapter]
    policy: RestartPolicy = field(default_factory=RestartPolicy)
    clock: Callable[[], float] = time.monotonic
    _stopped: dict[str, str] = field(default_factory=dict, init=False)

    def health(self) -> dict[str, Health]:
        """Return each platform's health; for a stopped one, with what a person has to do."""
        return {
            name: Health(state="stopped", detail=self._stopped[name])
            if name in self._stopped
            else adapter.health()
            for name, adapter in self.adapters.items()
        }

    def stopped(self) -> Mapping[str, str]:
        """Return the platforms that a person has to repair, each with an instruction."""
        return self._stopped

    async def keep(self, name: str, inlet: Inlet) -> None:
        """Run one platform until cancelled, or until a person has to repair it."""
        pause = self.policy.first_pause
        while True:
            started = self.clock()
            reason: AdapterError | None = None
            try:
                await self.adapters[name].run(inlet)
            except AdapterError as error:
                reason = error
            except Exception:  # the bulkhead: an error in one platform harms no other
                _log.exception("%s failed unexpectedly and is restarted", name)
            was_good = self.clock() - started > self.policy.good_run
            if isinstance(reason, AdapterStopped) and not was_good:
                _log.error("%s stops: %s", name, reason)
                self._stopped[name] = str(reason)
                return
            if reason:  # after a good run, a refusal may be an outage of the platform
                _log.warning("%s is restarted: %s", name, reason)
            if was_good:
                pause = self.policy.first_pause
            await asyncio.sleep(pause)
            pause = min(pause * 2, self.policy.longest_pause)

    async def show_menu(self, name: str, entries: list[MenuEntry]) -> None:
        """Publish the menu of commands once the platform is connected."""
        adapter = self.adapters[name]
        if not isinstance(adapter, CanShowMenu):
            return
        while adapter.health().state != "connected":  # noqa: ASYNC110 - the contract has no signal
            await asyncio.sleep(_MENU_POLL)
        try:
            await adapter.show_menu(entries)
        except AdapterError as error:
            _log.warning("%s does not show the menu of commands: %s", name, error)
        except Exception:  # the bulkhead: a missing menu must not stop the gateway
            _log.exception("%s failed while it published the menu of commands", name)
