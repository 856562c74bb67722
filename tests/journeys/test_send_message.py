"""Messages to other chats: to the person's own at once, to a group after a yes, each once."""

import pytest

from tests.agent_core.execution.backends import needs_bubblewrap
from tests.emulators.streaming import Reply
from tests.emulators.telegram_cast import ANNA, SUPERGROUP
from tests.journeys.stage import Stage, call, calls, results

pytestmark = [pytest.mark.process]


TEXT = "The cake is ready."


def send(to: str, **more: str) -> Reply:
    return calls(call("send_message", to=to, text=TEXT, **more))


async def test_a_message_to_the_person_s_own_chat_goes_out_at_once(stage: Stage) -> None:
    async with stage.open() as harness:
        stage.plan(send("me"), "Sent.")
        said = await harness.messages_to(ANNA, "send me a line")
    assert sorted(m.text for m in said) == ["Sent.\n\n✉ Sent to me", "The cake is ready."]
    assert results(stage.turns[-1]) == ["Sent to me."]


async def test_a_message_to_a_group_says_who_asked_and_waits_for_a_yes(stage: Stage) -> None:
    async with stage.open() as harness:
        await harness.ask(ANNA, "@talaria_bot hello", chat=SUPERGROUP)
        before = len(stage.telegram.messages(SUPERGROUP))
        stage.plan(send("#kitchen"), "Sent.")
        await harness.notes(stage.telegram.says(ANNA, "tell the kitchen that the cake is ready"))
        await harness.sees(ANNA, "#kitchen")
        assert len(stage.telegram.messages(SUPERGROUP)) == before
        await harness.press(stage.account("telegram", ANNA), "Once")
        await harness.sees(ANNA, "Sent.")
    (said,) = stage.telegram.messages(SUPERGROUP)[before:]
    assert said.text == "Anna asked me to post this:\n\nThe cake is ready."


@needs_bubblewrap
async def test_a_file_of_the_workspace_goes_to_another_chat_once(stage: Stage) -> None:
    async with stage.open(TALARIA_TOOLS__BACKEND="local") as harness:
        await harness.ask(ANNA, "@talaria_bot hello", chat=SUPERGROUP)
        before = len(stage.telegram.messages(SUPERGROUP))
        stage.plan(
            calls(call("write_file", path="out/recipe.md", content="# Cake\n")),
            send("me", path="out/recipe.md"),
            send("#kitchen", path="out/recipe.md"),
            send("me", path="../../state.db"),
            "Sent.",
        )
        await harness.notes(stage.telegram.says(ANNA, "send me and the kitchen the recipe"))
        await harness.sees(ANNA, "out/recipe.md")
        await harness.sees(ANNA, TEXT)
        assert len(stage.telegram.messages(SUPERGROUP)) == before, "others get nothing unasked"
        await harness.press(stage.account("telegram", ANNA), "Once")
        await harness.sees(ANNA, "Sent.")
        await harness.at_rest()
    anna = stage.account("telegram", ANNA)
    for seen in (anna.seen(), anna.seen(str(SUPERGROUP))):
        assert [one.file for one in seen if one.file] == [("recipe.md", b"# Cake\n")]
    assert results(stage.turns[-2]) == ["Sent to #Kitchen."]
    assert "/state.db is closed, and nobody can allow it" in results(stage.turns[-1])[0]
