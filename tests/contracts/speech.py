"""What the tests of the suite say and read, in few words; and what they skip."""

import contextlib
from typing import Any, TypeVar, cast

import pytest

from adapters.abilities import CanFind
from adapters.errors import Unsure
from adapters.ids import PlatformMessageId
from adapters.messages import ButtonPress, InboundMessage, OutboundMessage, RawEvent
from tests.contracts.rig import Rig, Trait

T = TypeVar("T")


def able(rig: Rig, ability: type[T]) -> T:
    """The adapter, as one that has the ability; skips the test on platforms that lack it."""
    if ability not in rig.abilities:
        pytest.skip("the platform has no such ability")
    return cast(Any, rig.adapter)


def need(rig: Rig, trait: Trait) -> None:
    """Skip the test on platforms that lack the trait."""
    if trait not in rig.traits:
        pytest.skip("the platform has nothing of that kind")


def message(rig: Rig, text: str, key: str = "key 1", **fields: Any) -> OutboundMessage:
    """A message owed to the person alone, unless the fields name another address."""
    return OutboundMessage(**{"address": rig.address, "text": text, "key": key} | fields)


def read(rig: Rig, event: RawEvent) -> InboundMessage:
    """The message in an event."""
    found = rig.adapter.receive(event)
    assert isinstance(found, InboundMessage)
    return found


def read_press(rig: Rig, event: RawEvent) -> ButtonPress:
    """The press in an event."""
    found = rig.adapter.receive(event)
    assert isinstance(found, ButtonPress)
    return found


async def deliver(
    rig: Rig, queued: OutboundMessage, known: list[PlatformMessageId]
) -> PlatformMessageId:
    """Send as the hall does: when unsure, look first, and send again only what is not there."""
    for _ in range(5):
        try:
            return await rig.adapter.send(queued)
        except Unsure:
            with contextlib.suppress(Unsure):
                found = await able(rig, CanFind).find(queued, known)
                if found is not None:
                    return found
    raise AssertionError("it never got through")
