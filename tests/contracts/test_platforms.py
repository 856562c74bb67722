"""Every platform's folder has a rig, and every rig has exactly the abilities that it names."""

from pathlib import Path

import pytest

from adapters.errors import Unreachable
from adapters.ids import list_platforms
from tests.contracts.rig import ABILITIES, Rig, running
from tests.contracts.rigs import RIGS
from tests.contracts.speech import message
from tests.fakes.inlet import FakeInlet


def test_every_platform_keeps_the_contract() -> None:
    assert set(list_platforms()) <= set(RIGS)


async def test_an_adapter_is_named_after_its_folder(
    resting: Rig, request: pytest.FixtureRequest
) -> None:
    name = request.node.callspec.params["resting"]
    assert resting.adapter.name == (name if name in list_platforms() else "fake")


async def test_no_ability_was_lost_and_none_came_unasked(resting: Rig) -> None:
    found = {ability for ability in ABILITIES if isinstance(resting.adapter, ability)}
    assert found == resting.abilities


async def test_places_and_pace_are_told(resting: Rig) -> None:
    assert resting.address.is_direct
    assert "rooms" not in resting.traits or resting.room is not None
    assert resting.room is None or not resting.room.is_direct
    pace = resting.adapter.pace
    assert min(pace.chat_interval, pace.edit_interval, pace.per_second) >= 0


@pytest.mark.parametrize("name", sorted(set(RIGS) & set(list_platforms())))
async def test_a_cancelled_adapter_says_that_it_is_gone(
    name: str, tmp_path: Path, inlet: FakeInlet
) -> None:
    async with RIGS[name](tmp_path) as rig:
        async with running(rig, inlet):
            assert rig.adapter.health().state == "connected"
        assert rig.adapter.health().state != "connected"
        with pytest.raises(Unreachable):
            await rig.adapter.send(message(rig, "late"))
