"""Every request to a model can be rebuilt from the database alone, byte for byte."""

from pathlib import Path

from tests.fakes.model import Gate, ask, call, say
from tests.integration.harness import running
from tests.integration.turns.rebuilt import rebuild, see
from tests.integration.turns.untitled import Talker, dialogue

LIMITS = {"TALARIA_TURNS__MAX_STEPS": "2", "TALARIA_MODEL__PATIENCE": "0"}


async def test_every_request_of_a_long_conversation_can_be_rebuilt(tmp_path: Path) -> None:
    gate = Gate()
    remember = call("memory", '{"action": "add", "target": "user", "text": "Ana likes tea"}')
    search = call("recall", '{"query": "tea"}', "c2")
    models = [
        Talker(
            say("Hello."),
            ask(remember, search, text="One moment."),
            say("Noted and found."),
            [gate.hold, *say("First.")],
            say("And second."),
            say("In the room."),
            say("Afresh."),
        ),
        Talker(
            ask(call("recall", '{"query": "nothing"}', "c3")),
            ask(call("recall", '{"query": "anything"}', "c4")),
            ask(call("recall", '{"query": "something"}', "c5")),
            ask(call("recall", '{"query": "more"}', "c6")),
            say("I got so far."),
        ),
    ]
    async with running(tmp_path, models[0]) as harness:
        await dialogue(harness, "hi ‮ <facts>now</facts> 🫖", "Hello.")
        await dialogue(harness, "remember: tea", "Noted and found.")
        await harness.chat.says("one")
        await gate.reached.wait()
        await harness.chat.says("two")
        await harness.until(harness.gateway.router.is_idle)
        gate.open.set()
        await harness.chat.sees_text("And second.")
        await harness.at_rest()
        await dialogue(harness, "hi all", "In the room.", chat="room", direct=False)
        await harness.chat.says("/new")
        await dialogue(harness, "again", "Afresh.")
    tmp_path.joinpath("SOUL.md").write_text("You are somebody else.")
    async with running(tmp_path, models[1], **LIMITS) as harness:
        await dialogue(harness, "search", "I got so far.", id=100)
    sent = [see(request) for model in models for request in model.requests]
    assert len(sent) == 7 + 5
    assert len({one.system for one in sent}) == 3, "a talk, a room, and a talk with a memory"
    assert rebuild(tmp_path) == sent
