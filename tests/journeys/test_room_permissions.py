"""Permissions in a room: who may steer, stop and answer, and what an old button can do."""

from collections.abc import Mapping
from dataclasses import dataclass

from agent_core.tools.contract import Declaration, Effect, ToolContext, ToolResult
from agent_core.transcript import ToolSpec
from gateway.texts import general
from gateway.texts.approvals import NO, ONCE
from tests.journeys.accounts import asked, texts
from tests.journeys.identities import own
from tests.journeys.model_answers import OVERLOADED
from tests.journeys.platforms import both
from tests.journeys.rooms import CLEO, Room, make_room
from tests.journeys.stage import Harness, Stage, call, calls, heard, results

QUESTION = call("ask", question="Which colour?", options=["Red", "Blue"])
AGAIN = call("ask", question="Which room?", options=["Red", "Blue"])


@dataclass
class Shredder:
    """A tool that needs approval."""

    runs: int = 0
    spec = ToolSpec(
        name="shred",
        description="Shred the letters.",
        schema='{"type":"object","properties":{},"additionalProperties":false}',
    )
    effect: Effect = "unsafe"
    declaration = Declaration()

    def describe(self, arguments: Mapping[str, object]) -> str:
        """Describe the call."""
        return "Shred the letters?"

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Run."""
        self.runs += 1
        return ToolResult(text="Shredded.")


def under(room: Room, root: str) -> str | None:
    """Return the thread for answers: Slack rooms answer in threads."""
    return root if room.anna.platform == "slack" else None


async def share(harness: Harness, room: Room) -> None:
    """Let Cleo own the gateway and share one conversation in the room."""
    harness.stage.telegram.user(CLEO, "Cleo")
    await own(harness, room.cleo)
    await harness.hears(room.cleo, "/room room", room=room.id)


@both
async def test_only_the_asker_steers_a_turn_and_others_do_not_block(
    deployment: Stage, platform: str
) -> None:
    room = make_room(deployment, platform)
    async with deployment.open() as harness:
        await share(harness, room)
        released = deployment.hold()
        deployment.plan("Tea, then.", "Tea with milk.", "Coffee for Ben.")
        root = await room.anna.says("make tea", room=room.id)
        await harness.until(lambda: len(deployment.turns) == 1)
        await harness.notes(room.ben.says("coffee for me", room=room.id, thread=under(room, root)))
        await harness.notes(room.anna.says("with milk", room=room.id, thread=under(room, root)))
        await harness.until(harness.gateway.router.is_idle)
        released.set()
        await harness.at_rest()
        first, steered, other = [heard(body) for body in deployment.turns]
        assert first == ["make tea"]
        assert steered == ["make tea", "with milk"]
        assert other == ["make tea", "with milk", "coffee for me"]
        assert texts(room.anna, room.id)[-1] == "Coffee for Ben."


@both
async def test_only_the_asker_and_owners_stop_a_turn(deployment: Stage, platform: str) -> None:
    room = make_room(deployment, platform)
    async with deployment.open() as harness:
        await share(harness, room)
        for number, stopper in enumerate((room.anna, room.cleo), start=1):
            released = deployment.hold()
            root = await room.anna.says("a long one", room=room.id)
            await harness.until(lambda n=number: len(deployment.turns) == n)  # type: ignore[misc]
            await harness.notes(room.ben.says("/stop", room=room.id, thread=under(room, root)))
            await harness.until(lambda: texts(room.ben, room.id)[-1] == general.STOP_NOT_YOURS())
            await harness.takes(stopper.says("/stop", room=room.id, thread=under(room, root)))
            assert texts(room.anna, room.id)[-1] == "(Stopped.)"
            released.set()


@both
async def test_only_the_person_asked_and_owners_answer_a_question(
    deployment: Stage, platform: str
) -> None:
    room = make_room(deployment, platform)
    async with deployment.open() as harness:
        await share(harness, room)
        for answerer in (room.anna, room.cleo):
            deployment.plan(calls(QUESTION), "So be it.")
            await harness.notes(room.anna.says("paint my room", room=room.id))
            await harness.asks(room.anna, "Blue", room.id)
            await harness.notes(room.ben.holds("Red", room.id)())
            await harness.until(
                lambda: texts(room.ben, room.id)[-1] == general.QUESTION_NOT_YOURS()
            )
            assert "Blue" in asked(room.anna, room.id).labels
            await harness.press(answerer, "Blue", room.id)
            assert results(deployment.turns[-1]) == ["They chose: Blue"]


@both
async def test_a_stale_button_answers_no_new_question_after_a_restart(
    deployment: Stage, platform: str
) -> None:
    room = make_room(deployment, platform)
    async with deployment.open() as harness:
        deployment.plan(calls(QUESTION), "So be it.")
        await harness.notes(room.anna.says("paint my room", room=room.id))
        await harness.asks(room.anna, "Blue", room.id)
        old = room.anna.holds("Red", room.id)
        await harness.press(room.anna, "Blue", room.id)
    async with deployment.open() as harness:
        deployment.plan(calls(AGAIN), "So be it, too.")
        await harness.notes(room.anna.says("and the other", room=room.id))
        await harness.until(lambda: any("Which room?" in one for one in texts(room.anna, room.id)))
        await harness.asks(room.anna, "Blue", room.id)
        turns = len(deployment.turns)
        await harness.notes(old())
        await harness.until(harness.gateway.router.is_idle)
        assert "Blue" in asked(room.anna, room.id).labels
        assert len(deployment.turns) == turns
        await harness.press(room.anna, "Blue", room.id)
        assert results(deployment.turns[-1]) == ["They chose: Blue"]


@both
async def test_only_the_asker_approves_a_tool_call(deployment: Stage, platform: str) -> None:
    room, shredder = make_room(deployment, platform), Shredder()
    async with deployment.open(tools=(shredder,)) as harness:
        await share(harness, room)
        deployment.plan(calls(call("shred")), "Left alone.", calls(call("shred")), "Shredded.")
        await harness.notes(room.anna.says("tidy up", room=room.id))
        await harness.asks(room.anna, ONCE(), room.id)
        assert "Shred the letters" in asked(room.anna, room.id).text
        await harness.notes(room.ben.holds(ONCE(), room.id)())
        await harness.until(lambda: texts(room.ben, room.id)[-1] == general.QUESTION_NOT_YOURS())
        old = room.anna.holds(ONCE(), room.id)
        await harness.press(room.anna, NO(), room.id)
        assert "The person said no." in results(deployment.turns[-1])[0]
        await harness.takes(old())
        assert shredder.runs == 0

        await harness.notes(room.anna.says("now do", room=room.id))
        await harness.asks(room.anna, ONCE(), room.id)
        await harness.notes(old())
        await harness.until(harness.gateway.router.is_idle)
        assert shredder.runs == 0
        await harness.press(room.anna, ONCE(), room.id)
        assert shredder.runs == 1
        assert texts(room.anna, room.id)[-1] == "Shredded."


@both
async def test_only_the_asker_can_retry_a_failed_turn(deployment: Stage, platform: str) -> None:
    room = make_room(deployment, platform)
    async with deployment.open(TALARIA_MODEL__PATIENCE="0") as harness:
        await share(harness, room)
        deployment.plan(OVERLOADED)
        root = await room.anna.says("make tea", room=room.id)
        await harness.until(lambda: "/retry" in "".join(texts(room.anna, room.id)))
        await harness.at_rest()
        thread = under(room, root)
        reported = await harness.hears(room.ben, "/retry", room=room.id, thread=thread)
        assert reported == general.RETRY_NOTHING()
        reported = await harness.hears(room.anna, "/retry", room=room.id, thread=thread)
        assert reported == "echo: make tea"
