"""Slack only: one command, streams, agent threads and Stop, the home tab, the shortcut."""

import asyncio
import socket
from contextlib import closing

import pytest

from adapters.messages import OutboundFile
from agent_core.shown_settings import VERBOSITIES
from gateway.texts import general, jobs
from tests.agent_core.skills.skill_folders import write_skill
from tests.emulators import slack_faults
from tests.emulators.slack_shapes import Json
from tests.emulators.streaming import text_answer
from tests.emulators.telegram_cast import ANNA, BEN
from tests.integration.accounts import code_in
from tests.journeys.accounts import SlackAccount, texts
from tests.journeys.model_answers import QUESTION
from tests.journeys.oven import Oven
from tests.journeys.rooms import make_room
from tests.journeys.stage import (
    PATIENCE,
    Harness,
    Stage,
    call,
    calls,
    facts,
    heard,
    results,
    slack_of,
)

TALE = " ".join(f"word{number}" + "." * (number % 5 == 4) for number in range(40))


def called(deployment: Stage, method: str) -> list[Json]:
    """Return the parameters of all calls of a method so far."""
    return [parameters for name, parameters in deployment.slack.calls if name == method]


@pytest.fixture
def agent(deployment: Stage) -> Stage:
    """The stage with an app declared to be an agent."""
    deployment.slack.is_agent = True
    return deployment


async def answers_command(
    harness: Harness, account: SlackAccount, text: str, room: str | None = None
) -> str:
    """Type `/talaria ...`; return the new messages there, or to this person alone."""

    def shown() -> list[str]:
        whispers = [one.shown for one in account.api.ephemerals(account.number)]
        return [*texts(account, room), *whispers]

    before = len(shown())
    await harness.takes(account.commands(text, room=room))
    return "\n".join(shown()[before:])


async def test_slacks_one_command_takes_all_commands_and_questions(
    deployment: Stage,
) -> None:
    anna, room = slack_of(deployment), make_room(deployment, "slack")
    async with deployment.open() as harness:
        assert "Model: " in await answers_command(harness, anna, "status")
        assert "Model: " in await answers_command(harness, anna, "Status")
        assert await answers_command(harness, anna, "Status of it?") == "echo: Status of it?"
        assert "Sprache: Deutsch" in await answers_command(harness, anna, "settings language de")
        assert "Ich beantworte Fragen" in await answers_command(harness, anna, "")
        assert await answers_command(harness, anna, "who are you?") == "echo: who are you?"
        assert "/talaria room person" in await answers_command(harness, anna, "room", room.id)
        assert (
            "Alle führen hier ihre eigene Unterhaltung mit mir (/talaria room person)."
            in deployment.slack.ephemerals(ANNA)[-1].shown
        )
        assert await answers_command(harness, anna, "wer bin ich?", room.id) == "echo: wer bin ich?"
        assert deployment.slack.texts(room.id) == []


async def test_owners_and_others_come_in_by_the_command(deployment: Stage) -> None:
    anna, ben = slack_of(deployment), slack_of(deployment, BEN)
    async with deployment.open(allow="") as harness:
        claim = f"claim {harness.gateway.claim_code}"  # right after the start
        assert "now the owner" in await answers_command(harness, anna, claim)
        reported = await harness.hears(ben, "hello")
        code = code_in(reported)
        assert f"`/approve {code}`\nIf you already" in reported, "an owner may read it elsewhere"
        assert "send me `/link` there instead" in reported, "elsewhere, it has no /talaria"
        (raw,) = deployment.slack.texts(deployment.slack.dm(BEN))
        assert f"On Slack, these commands are `/talaria approve {code}` and `/talaria link`." in raw
        elsewhere = await harness.hears(deployment.account("telegram", BEN), "hello")
        assert f"/approve {code_in(elsewhere)}" in elsewhere
        assert f"On Slack, these commands are /talaria approve {code_in(elsewhere)}" in elsewhere
        await harness.takes(anna.commands(f"approve {code}"))
        assert await harness.hears(ben, "hello") == "echo: hello"


async def test_a_skill_is_a_command_as_the_list_names_it(deployment: Stage) -> None:
    write_skill(deployment.home / "skills", "csv-report")
    anna = slack_of(deployment)
    async with deployment.open() as harness:
        await harness.takes(anna.commands("skills"))
        (listed,) = deployment.slack.texts(deployment.slack.dm(ANNA))
        assert "/talaria csv-report – " in listed
        answer = await answers_command(harness, anna, "csv-report of May")
        assert "with the skill csv-report; read it first with `skill_view`: of May" in answer


async def test_a_reply_that_only_confirms_is_ephemeral_in_the_direct_chat_too(
    deployment: Stage,
) -> None:
    anna = slack_of(deployment)

    def whispered() -> list[str]:
        return [one.shown for one in deployment.slack.ephemerals(ANNA)]

    async with deployment.open() as harness:
        async with asyncio.timeout(PATIENCE):  # the menu is unknown until then
            while not whispered():
                await answers_command(harness, anna, "steer")
        before = texts(anna)
        released = deployment.hold()
        await harness.notes(anna.says("what is old?"))
        await harness.until(lambda: "what is old?" in str(deployment.turns[-1:]))
        await harness.notes(anna.commands("queue what is new?"))
        await harness.until(lambda: whispered()[1:] == [general.QUEUED()])
        released.set()
        answers = ["echo: what is old?", "echo: what is new?"]
        await harness.until(lambda: texts(anna) == [*before, *answers])
        await harness.takes(anna.commands("retry"))
        assert whispered()[2:] == [general.COMMAND_TAKEN()]
        assert texts(anna) == [*before, *answers, "echo: what is new?"]


async def test_a_command_in_a_channel_without_the_bot_is_answered_privately(
    deployment: Stage,
) -> None:
    anna = slack_of(deployment)
    elsewhere = deployment.slack.channel("elsewhere", members=(ANNA, BEN))
    deployment.slack.removes_bot(elsewhere)
    async with deployment.open() as harness:
        assert "Model: " in await answers_command(harness, anna, "status", elsewhere)
        assert texts(anna, elsewhere) == []


async def test_an_answer_in_a_thread_streams_completely(deployment: Stage) -> None:
    room = make_room(deployment, "slack")
    async with deployment.open() as harness:
        deployment.model.pace, deployment.model.deltas = 0.04, 40
        deployment.plan(TALE)
        root = await room.anna.says("tell me a tale", room=room.id)
        await harness.until(lambda: any(m.is_streaming for m in deployment.slack.messages(room.id)))
        await harness.at_rest()
        (answer,) = room.anna.seen(room.id)
        assert answer.thread == root
        assert answer.text == TALE
        assert len(answer.history) > 2
        (started,) = called(deployment, "chat.startStream")
        assert started["recipient_user_id"] == room.anna.user_id
        assert not any(m.is_streaming for m in deployment.slack.messages(room.id))


async def test_without_streams_the_message_is_edited(
    deployment: Stage,
) -> None:
    deployment.slack.can_stream = False
    room = make_room(deployment, "slack")
    async with deployment.open() as harness:
        deployment.model.pace, deployment.model.deltas = 0.04, 40
        deployment.plan(TALE)
        await harness.takes(room.anna.says("tell me a tale", room=room.id))
        await harness.until(lambda: texts(room.anna, room.id) == [TALE])
        assert called(deployment, "chat.update")


async def test_steps_are_shown_as_tasks_of_the_answer(deployment: Stage) -> None:
    room, oven = make_room(deployment, "slack"), Oven()
    async with deployment.open(tools=(oven,)) as harness:
        await harness.hears(room.anna, "/verbose on")
        deployment.plan(calls(call("bake")), "Bread.")
        await harness.notes(room.anna.says("bake bread", room=room.id))
        await harness.until(lambda: any(m.tasks for m in deployment.slack.messages(room.id)))
        oven.done.set()
        await harness.at_rest()
        (answer,) = [m for m in deployment.slack.messages(room.id) if m.bot]
        assert answer.shown == "Bread."
        assert [task["status"] for task in answer.tasks] == ["complete"]


async def test_each_message_to_an_agent_is_a_thread_with_a_status(
    agent: Stage,
) -> None:
    anna = slack_of(agent)
    async with agent.open() as harness:
        released = agent.hold()
        first = await anna.says("hello")
        await harness.until(lambda: agent.slack.status(agent.slack.dm(ANNA), first) == "processing")
        released.set()
        await harness.until(lambda: texts(anna) == ["echo: hello"])
        await harness.until(lambda: agent.slack.status(agent.slack.dm(ANNA), first) == "active")
        assert anna.seen()[0].thread == first
        await harness.hears(anna, "another thing")
        assert heard(agent.turns[-1]) == ["hello", "another thing"]
        assert anna.seen()[1].thread != first


async def test_an_agent_is_suspended_while_its_question_is_open(agent: Stage) -> None:
    anna, place = slack_of(agent), agent.slack.dm(ANNA)
    async with agent.open() as harness:
        agent.plan(calls(QUESTION), "Blue it is.")
        root = await anna.says("paint my room")
        await harness.asks(anna, "Blue")
        await harness.until(lambda: agent.slack.status(place, root) == "suspended")
        await harness.takes(anna.says("blue", thread=root))
        assert results(agent.turns[-1]) == ["They chose: Blue"]
        await harness.until(lambda: agent.slack.status(place, root) == "active")


async def test_slacks_own_stop_ends_the_answer(agent: Stage) -> None:
    anna, place = slack_of(agent), agent.slack.dm(ANNA)
    async with agent.open() as harness:
        agent.model.pace, agent.model.deltas = 0.04, 100
        agent.plan(text_answer(TALE * 3))
        root = await anna.says("tell me a tale")
        await harness.until(lambda: any("word3" in text for text in texts(anna)))
        await harness.takes(agent.slack.stops_session(ANNA, place, root))
        (answer,) = anna.seen()
        assert answer.text.endswith("(Stopped.)")
        assert "word3" in answer.text
        await harness.until(lambda: agent.slack.status(place, root) == "active")
        agent.model.pace = 0.0
        assert await harness.hears(anna, "go on", thread=root) == "echo: go on"


async def test_the_home_tab_shows_the_status_and_its_buttons_work(deployment: Stage) -> None:
    anna = slack_of(deployment)

    def home() -> str:
        return str(deployment.slack.home(ANNA))

    def button(label: str) -> str:
        view = deployment.slack.home(ANNA)
        assert view
        return next(
            str(element["action_id"])
            for block in view["blocks"]
            if block["type"] == "actions"
            for element in block["elements"]
            if element["text"]["text"] == label
        )

    async with deployment.open() as harness:
        await harness.takes(deployment.slack.opens_home(ANNA))
        assert "Model: " in home()
        assert jobs.NO_DIGESTS() in home()
        assert "Quiet hours: none" in home()
        await harness.takes(deployment.slack.presses_home(ANNA, button(general.QUIET_NIGHT())))
        assert "Quiet hours: 22:00-07:00" in home()
        await harness.takes(deployment.slack.presses_home(ANNA, button(VERBOSITIES["verbose"]())))
        assert "What you see of my work: Every step" in home()
        assert texts(anna) == []
        assert "22:00-07:00" in await harness.hears(anna, "/settings")
        await harness.takes(deployment.slack.opens_home(ANNA))
        assert "Model: " in home()


async def test_the_shortcut_asks_about_a_message_in_its_channel(
    deployment: Stage,
) -> None:
    room = make_room(deployment, "slack")
    async with deployment.open() as harness:
        said = await room.ben.says("The plum tree blossoms.", room=room.id, mentions=False)
        deployment.plan("That spring is near.")
        await deployment.slack.shortcut(ANNA, room.id, said)
        await harness.until(lambda: room.anna.seen(room.id))
        await harness.at_rest()
        (answer,) = room.anna.seen(room.id)
        assert (answer.text, answer.thread) == ("That spring is near.", said)
        assert "The plum tree blossoms." in facts(deployment.turns[-1])


async def test_a_channel_thread_continues_without_mentions(deployment: Stage) -> None:
    room = make_room(deployment, "slack")
    async with deployment.open() as harness:
        root = await room.anna.says("which roses?", room=room.id)
        await harness.until(lambda: texts(room.anna, room.id) == ["echo: which roses?"])
        await harness.takes(room.anna.says("red?", room=room.id, thread=root, mentions=False))
        assert heard(deployment.turns[-1]) == ["which roses?", "red?"]
        assert {one.thread for one in room.anna.seen(room.id)} == {root}


async def test_an_archived_channel_and_missed_messages_are_handled(deployment: Stage) -> None:
    anna, room = slack_of(deployment), make_room(deployment, "slack")
    async with deployment.open() as harness:
        await harness.hears(anna, "one")
        released = deployment.hold()
        await harness.notes(room.anna.says("a long one", room=room.id))
        await harness.until(lambda: len(deployment.turns) == 2)
        deployment.slack.archives(room.id)
        released.set()
        await harness.at_rest()
        assert await harness.count("unreachable_chats", "platform = 'slack'") == 1
    deployment.slack.holds_seconds = 0
    await anna.says("two")
    async with deployment.open() as harness:
        await harness.until(lambda: texts(anna) == ["echo: one", "echo: two"])
        await deployment.slack.redeliver(with_new_event_id=True)
        await harness.hears(anna, "three")
        assert texts(anna) == ["echo: one", "echo: two", "echo: three"]


@pytest.mark.parametrize("holds", [0, 60])
async def test_messages_sent_during_downtime_are_read_in_order_across_threads(
    agent: Stage, holds: int
) -> None:
    """Each direct message to an agent is its own thread, and every third is slow to read."""
    anna = slack_of(agent)
    notes = OutboundFile(name="notes.txt", media_type="text/plain", data=b"nothing much\n" * 2000)
    async with agent.open() as harness:
        await harness.hears(anna, "hello")
    agent.slack.holds_seconds = holds
    wanted = [f"number {number}" for number in range(15)]
    for number, text in enumerate(wanted):
        await anna.says(text, files=() if number % 3 else (notes,))
    agent.model.requests.clear()
    async with agent.open() as harness:
        await harness.until(lambda: any("number 14" in one for one in texts(anna)))
        await harness.at_rest()
    # The files make the conversation long, so the last request may have a summary of the oldest.
    said = dict.fromkeys(text for turn in agent.turns for text in heard(turn))
    assert [text for text in said if text.startswith("number")] == wanted


async def test_slack_can_reach_the_gateway_over_http(deployment: Stage) -> None:
    anna, room = slack_of(deployment), make_room(deployment, "slack")
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    async with deployment.open(
        TALARIA_SLACK__MODE="http",
        TALARIA_SLACK__HTTP_PORT=str(port),
        SLACK_SIGNING_SECRET=deployment.slack.signing_secret,
    ) as harness:
        await deployment.slack.post_event(f"http://127.0.0.1:{port}/slack/events")
        assert await harness.hears(anna, "hello") == "echo: hello"
        assert "Model: " in await answers_command(harness, anna, "status")
        deployment.plan(calls(QUESTION), "Blue it is.")
        await harness.notes(room.anna.says("paint my room", room=room.id))
        await harness.asks(room.anna, "Blue", room.id)
        await harness.press(room.anna, "Blue", room.id)
        assert texts(room.anna, room.id)[-1] == "Blue it is."
        await deployment.slack.post_event(None)


async def test_a_stream_started_without_a_response_is_found_after_a_restart(
    deployment: Stage,
) -> None:
    room, oven = make_room(deployment, "slack"), Oven()
    deployment.slack.fail("chat.startStream", kind=slack_faults.SLOW, seconds=10)
    async with deployment.open(TALARIA_TURNS__DRAIN_SECONDS="0", tools=(oven,)) as harness:
        baking = "Let me bake. " + "The dough has to rest before it goes into the oven. " * 2
        deployment.plan(calls({"type": "text", "text": baking}, call("bake")))
        await harness.notes(room.anna.says("bake bread", room=room.id))
        await harness.until(lambda: texts(room.anna, room.id) == [baking.strip()])
    oven.done.set()
    deployment.plan("Here is your bread.")
    async with deployment.open(tools=(oven,)) as harness:
        await harness.until(lambda: "Here is your bread." in texts(room.anna, room.id))
        await harness.at_rest()
        assert texts(room.anna, room.id) == ["Here is your bread."]


@pytest.mark.parametrize("is_restarted", [False, True])
async def test_an_edit_that_slack_applies_late_does_not_replace_the_whole_answer(
    deployment: Stage, is_restarted: bool
) -> None:
    """The gateway, or its connection, ends while an edit of a live message is in flight."""
    anna, slack = slack_of(deployment), deployment.slack
    deployment.model.pace, deployment.model.deltas = 0.03, 40
    deployment.plan(TALE, TALE)
    slack.fail("chat.update", kind=slack_faults.LATE, seconds=0.4)
    async with deployment.open(TALARIA_TURNS__DRAIN_SECONDS="0") as harness:
        await harness.notes(anna.says("tell me a tale"))
        await harness.until(lambda: slack.late)
        if not is_restarted:
            await harness.until(lambda: not slack.late)
            await harness.until(lambda: texts(anna) == [TALE])
    deployment.model.pace = 0
    async with deployment.open() as harness:
        await harness.until(lambda: not slack.late)
        await harness.until(lambda: texts(anna) == [TALE])
