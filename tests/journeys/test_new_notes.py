"""A note made by hand is known in the open conversation at once, in a direct chat or a group."""

import pytest

from tests.emulators.telegram_cast import ANNA, BEN, SUPERGROUP
from tests.journeys.stage import Stage, call, calls, facts, system_of

STAND_IN = {"TALARIA_MODEL__PROVIDER": "scripted", "TALARIA_MODEL__NAME": "stand-in"}
NOTE = "The boat is called Lina"


def add_by_hand(deployment: Stage, kind: str, *notes: str) -> None:
    """Append to the only memory of this kind, "people" or "rooms"."""
    (folder,) = (deployment.home / "memories" / kind).iterdir()
    with (folder / "MEMORY.md").open("a") as file:
        file.writelines(f"- {one}\n" for one in notes)


@pytest.mark.parametrize("place", ["group", "direct"])
async def test_a_note_from_elsewhere_is_recited_in_the_open_conversation(
    deployment: Stage, place: str
) -> None:
    anna, ben = (deployment.account("telegram", number) for number in (ANNA, BEN))
    room, who = (str(SUPERGROUP), ben) if place == "group" else (None, anna)
    async with deployment.open(**STAND_IN) as harness:
        for one in (anna, ben):
            await harness.hears(one, "/start")
        await harness.hears(who, "hello", room=room)
        await harness.hears(anna, "remember that dinner is at 7", room=room)
        assert "dinner" in await harness.hears(who, "what do you remember?", room=room)
        add_by_hand(deployment, "rooms" if room else "people", NOTE)
        for _ in range(2):
            told = await harness.hears(who, "what do you remember?", room=room)
            assert told.count(NOTE) == 1
            assert "dinner" in told


@pytest.mark.parametrize("place", ["group", "direct"])
async def test_the_model_is_told_once_what_is_new_and_many_notes_make_a_new_prompt(
    deployment: Stage, place: str
) -> None:
    anna = deployment.account("telegram", ANNA)
    room = str(SUPERGROUP) if place == "group" else None
    async with deployment.open() as harness:
        await harness.hears(anna, "/start")

        async def ask() -> None:
            deployment.plan("Hi.")
            await harness.hears(anna, "hi", room=room)

        deployment.plan(
            calls(call("memory", action="add", target="memory", text="Likes tea")), "Ok"
        )
        await harness.hears(anna, "remember that I like tea", room=room)
        system = system_of(deployment.turns[-1])
        add_by_hand(deployment, "rooms" if room else "people", NOTE)
        for is_told in (True, False):
            await ask()
            told = facts(deployment.turns[-1])
            assert (f'New in memory: ["{NOTE}"]' in told) == is_told
            assert "Likes tea" not in told
            assert system_of(deployment.turns[-1]) == system
        many = [f"Boat {number} is called {'Lina ' * 12}".strip() for number in range(24)]
        add_by_hand(deployment, "rooms" if room else "people", *many)
        await ask()
        assert "New in" not in facts(deployment.turns[-1])
        assert all(one in system_of(deployment.turns[-1]) for one in (*many, NOTE, "Likes tea"))
