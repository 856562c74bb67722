"""A running adapter on an emulated signal-cli."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from adapters.ids import Address
from adapters.messages import InboundMessage, OutboundMessage
from adapters.signal.adapter import SignalAdapter
from adapters.signal.places import group_address, person_address
from adapters.signal.settings import SignalSettings
from tests.adapters.rig import started
from tests.emulators.signal import SignalEmulator
from tests.emulators.signal_world import ACCOUNT, Group, Person
from tests.fakes.inlet import FakeInlet

ANNA = "+4915111111111"


def settings_for(daemon: SignalEmulator, **changes: Any) -> SignalSettings:
    """Settings with short pauses."""
    known = SignalSettings(
        account=ACCOUNT,
        rpc_url=daemon.url,
        answer_timeout=2.0,
        longest_pause=0.02,
        receipt_wait=0.3,
        receipt_grace=0.02,
    )
    return known.model_copy(update=changes)


@dataclass(frozen=True)
class Rig:
    """A connected adapter, its signal-cli, and what it received."""

    daemon: SignalEmulator
    adapter: SignalAdapter
    inlet: FakeInlet

    @property
    def anna(self) -> Person:
        return self.daemon.world.person(ANNA, "Anna")

    async def hears(self, count: int = 1) -> InboundMessage:
        """Return the newest message once there are so many events."""
        found = self.adapter.receive((await self.inlet.receives(count))[-1])
        assert isinstance(found, InboundMessage)
        return found

    def say(self, text: str, *, to: Group | None = None, **fields: Any) -> OutboundMessage:
        """A message for Anna, or for a group."""
        address: Address = group_address(to.id) if to else person_address(self.anna.uuid)
        return OutboundMessage(address=address, text=text, **{"key": "key", **fields})


@asynccontextmanager
async def running(
    daemon: SignalEmulator, inlet: FakeInlet | None = None, **changes: Any
) -> AsyncIterator[Rig]:
    rig = Rig(daemon, SignalAdapter(settings_for(daemon, **changes)), inlet or FakeInlet())
    async with started(rig.adapter, rig.inlet):
        yield rig
