"""What was undone or forgotten is not recited any more, in a direct chat and in a group."""

import pytest

from tests.emulators.telegram_cast import ANNA, SUPERGROUP
from tests.journeys.stage import Stage, call, calls, facts

STAND_IN = {"TALARIA_MODEL__PROVIDER": "scripted", "TALARIA_MODEL__NAME": "stand-in"}
LINE = "Deleted for good from your memory: 1."


@pytest.mark.parametrize("place", ["group", "direct"])
async def test_undone_and_forgotten_notes_are_not_recited(deployment: Stage, place: str) -> None:
    anna = deployment.account("telegram", ANNA)
    room = str(SUPERGROUP) if place == "group" else None
    async with deployment.open(**STAND_IN) as harness:
        await harness.hears(anna, "/start")
        for note in ("the cake is chocolate", "dinner is at 7", "we meet at the lake"):
            await harness.hears(anna, f"remember that {note}", room=room)
        await harness.hears(anna, "/undo", room=room)
        told = await harness.hears(anna, "what do you remember?", room=room)
        assert "chocolate" in told
        assert "dinner" in told
        assert "lake" not in told
        await harness.hears(anna, "/forget cake", room=room)
        await harness.press(anna, "Delete" if room else "Notes only", room)
        await harness.until(lambda: "Deleted" in anna.seen(room)[-1].text)
        told = await harness.hears(anna, "what do you remember?", room=room)
        assert "chocolate" not in told
        assert "lake" not in told
        assert "dinner" in told
        await harness.hears(anna, "remember that we sing", room=room)
        told = await harness.hears(anna, "what do you remember?", room=room)
        assert "sing" in told
        assert "chocolate" not in told


@pytest.mark.parametrize("place", ["group", "direct"])
async def test_the_model_is_told_once_what_is_gone(deployment: Stage, place: str) -> None:
    anna = deployment.account("telegram", ANNA)
    room = str(SUPERGROUP) if place == "group" else None
    async with deployment.open() as harness:
        await harness.hears(anna, "/start")
        for note in ("Cake is chocolate", "Dinner is at 7"):
            deployment.plan(calls(call("memory", action="add", target="memory", text=note)), "Ok.")
            await harness.hears(anna, f"remember: {note}", room=room)
        await harness.hears(anna, "/undo", room=room)
        deployment.plan("Hi.")
        await harness.hears(anna, "hi", room=room)
        assert 'Gone from memory: ["Dinner is at 7"]' in facts(deployment.turns[-1])
        await harness.hears(anna, "/forget cake", room=room)
        await harness.press(anna, "Delete" if room else "Notes only", room)
        await harness.until(lambda: "Deleted" in anna.seen(room)[-1].text)
        for is_told in (True, False):
            deployment.plan("Hi.")
            await harness.hears(anna, "hi again", room=room)
            assert (LINE in facts(deployment.turns[-1])) == is_told
            assert "Cake" not in facts(deployment.turns[-1])
