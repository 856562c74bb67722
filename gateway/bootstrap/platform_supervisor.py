"""Keeps each platform running by itself: one that stops takes no other with it."""

import asyncio
import logging
import time
from collections.abc import Mapping

from adapters.abilities import CanShowMenu, MenuEntry
from adapters.contract import ChatAdapter, Health, Inlet
from adapters.errors import AdapterError, AdapterStopped

_log = logging.getLogger(__name__)

_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 60.0
_MENU_POLL = 0.5


class Platforms:
    """The platforms that are on, and how each fares."""

    def __init__(self, adapters: Mapping[str, ChatAdapter]) -> None:
        self.adapters = adapters
        self._stopped: dict[str, str] = {}

    def health(self) -> dict[str, Health]:
        """How each platform fares; one that only a person can mend says what is wrong."""
        return {
            name: Health(state="stopped", detail=self._stopped[name])
            if name in self._stopped
            else adapter.health()
            for name, adapter in self.adapters.items()
        }

    def stopped(self) -> Mapping[str, str]:
        """The platforms that only a person can mend, each with the sentence that says how."""
        return self._stopped

    async def keep(self, name: str, inlet: Inlet) -> None:
        """Run one platform until cancelled, or until only a person can mend it."""
        pause = _FIRST_PAUSE
        while True:
            started = time.monotonic()
            try:
                await self.adapters[name].run(inlet)
            except AdapterStopped as error:
                if not _ran_well(started):
                    _log.error("%s stops: %s", name, error)
                    self._stopped[name] = str(error)
                    return
                # A refusal out of the blue may be the platform's own mishap: it is asked again.
                _log.warning("%s is tried once more: %s", name, error)
            except AdapterError as error:
                _log.warning("%s is started anew: %s", name, error)
            except Exception:  # the bulkhead: a fault in one platform takes no other with it
                _log.exception("%s broke unexpectedly and is started anew", name)
            if _ran_well(started):
                pause = _FIRST_PAUSE  # it ran well for a while: this is no series of failures
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)

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
        except Exception:  # the bulkhead: a menu is not worth a house
            _log.exception("%s broke while it published the menu of commands", name)


def _ran_well(started: float) -> bool:
    """True if a platform had worked for a while; `started` is monotonic seconds."""
    return time.monotonic() - started > _LONGEST_PAUSE
