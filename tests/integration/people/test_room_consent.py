"""A direct conversation continues in a room after a yes, until anyone else appears there."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from adapters.contract import Health
from adapters.errors import Unreachable, Unsure
from adapters.ids import Address, PlatformMessageId
from adapters.messages import OutboundMessage
from agent_core.chats import Chat
from agent_core.ids import PersonId
from agent_core.models.contract import ModelAnswer, ModelRequest, TextDelta
from agent_core.schedule import job_editor
from agent_core.schedule.job_editor import JobOwner, JobRequest, JobRules
from agent_core.schedule.triggers import read_cron
from agent_core.state.conversations import turns
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import jobs
from agent_core.state.jobs.jobs import Target
from agent_core.state.people import delivery_targets, people, presence, rooms
from agent_core.state.people.rooms import Room
from agent_core.state.queues import deferred_messages, outbox
from agent_core.state.queues.deferred_messages import NewDeferredMessage
from gateway.texts import approvals
from gateway.texts import rooms as room_texts
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, ask, call, say
from tests.integration.processes import talaria
from tests.integration.shared_harness import Searcher, SharedHarness, shared_harness
from tests.patience import PATIENCE

QUESTION = room_texts.FULL_QUESTION()
YES = room_texts.FULL_YES()
CUT_OFF = {"TALARIA_TURNS__DRAIN_SECONDS": "0"}


async def prepare(here: SharedHarness) -> None:
    """Make Ann an owner with a private conversation and memory."""
    await here.says("ann", "hello")
    await here.make_owner("ann")
    here.remember("ann", "Keeps a falcon")
    await here.says("ann", "/new")
    await here.says("ann", "my canary sings")


async def agree(here: SharedHarness, who: str = "ann", room: str = "den") -> None:
    """Ask in a room, and answer yes."""
    await here.says(who, "hello room", room=room)
    await here.harness.chat.sees_text(QUESTION)
    await here.harness.chat.press(YES, user=who, direct=False)
    await here.harness.chat.sees_text(room_texts.FULL_OPENED())
    await here.harness.at_rest()


async def is_private(here: SharedHarness, room: str = "den") -> bool:
    """Return whether the room's prompt has Ann's private memory and messages."""
    request = (await here.asks("ann", "what is new?", room=room))[0]
    seen = request.system + str(request.messages)
    assert ("falcon" in seen) == ("my canary sings" in seen)
    return "falcon" in seen


async def find_room(here: SharedHarness, chat_id: str = "den") -> Room:
    room = await here.harness.read(lambda c: rooms.find(c, platform="fake", chat_id=chat_id))
    assert room
    return room


def count_questions(here: SharedHarness) -> int:
    return sum(one.texts[0] == QUESTION for one in here.harness.chat.shown)


def alone() -> FakeChat:
    return FakeChat(people=1)


async def test_a_member_count_alone_opens_nothing_and_asks_once(tmp_path: Path) -> None:
    async with shared_harness(tmp_path, chat=alone()) as here:
        await prepare(here)
        assert not await is_private(here)
        assert not await is_private(here)
        assert count_questions(here) == 1
        shown = await here.harness.chat.sees_text(QUESTION)
        assert (shown.chat_id, [button.label for button in shown.keyboard]) == (
            "den",
            [YES, room_texts.FULL_NO()],
        )


async def test_a_yes_continues_the_direct_conversation_and_a_no_does_not(tmp_path: Path) -> None:
    async with shared_harness(tmp_path, chat=alone()) as here:
        await prepare(here)
        await agree(here)
        assert await is_private(here)
        await here.says("ann", "hello", room="attic")
        await here.harness.chat.press(room_texts.FULL_NO(), user="ann", direct=False)
        await here.harness.chat.sees_text(room_texts.FULL_DECLINED())
        assert not await is_private(here, "attic")
        assert count_questions(here) == 2


@pytest.mark.parametrize("words", ["Yes, continue here", "1", "open", "yes"])
async def test_text_is_no_yes(tmp_path: Path, words: str) -> None:
    async with shared_harness(tmp_path, chat=alone()) as here:
        await prepare(here)
        await here.says("ann", "hello", room="den")
        await here.says("ann", words, room="den")
        assert not await is_private(here)


async def test_a_member_is_asked_only_in_a_room_that_they_created(tmp_path: Path) -> None:
    chat = alone()
    async with shared_harness(tmp_path, chat=chat) as here:
        await here.says("bob", "hello", room="den")
        assert count_questions(here) == 0
        objection = room_texts.ONLY_OWNER_OR_CREATOR()
        assert await here.says("bob", "/room full", room="den") == objection
        chat.creator = "bob"
        await agree(here, "bob", "attic")
        room = await find_room(here, "attic")
        assert room.mode == "full"


async def test_only_the_person_who_was_asked_may_answer(tmp_path: Path) -> None:
    async with shared_harness(tmp_path, chat=alone()) as here:
        await prepare(here)
        await here.says("ann", "hello", room="den")
        await here.harness.chat.press(YES, user="bob", name="bob", direct=False)
        await here.harness.at_rest()
        assert (await find_room(here)).mode == "person"
        assert room_texts.FULL_IMPOSSIBLE() in (await here.harness.chat.sees_text(QUESTION)).text
        assert not await is_private(here)


Deed = Callable[[SharedHarness], Awaitable[object]]


async def write_aside(here: SharedHarness) -> None:
    await here.harness.chat.says("hi", user="eve", chat="den", direct=False, addressed=False)


async def write_to_bot(here: SharedHarness) -> None:
    await here.harness.chat.says("hi", user="bob", chat="den", direct=False)


async def join_or_react(here: SharedHarness) -> None:
    await here.harness.chat.appears("eve", chat="den")


async def press(here: SharedHarness) -> None:
    await here.harness.chat.press_key("q1:open:00000000", "1", user="eve", chat="den", direct=False)


async def count_two(here: SharedHarness) -> None:
    here.harness.chat.people = 2
    await here.says("ann", "still there?", room="den")
    here.harness.chat.people = 1


async def answer_an_older_message(here: SharedHarness) -> None:
    """Reply to what somebody wrote before the bot was there."""
    quote = {"author": "Eve", "text": "hi", "is_ours": False, "author_id": "eve"}
    await here.harness.chat.says(
        "what is that?", user="ann", name="ann", chat="den", direct=False, quote=quote
    )


@pytest.mark.parametrize(
    "deed",
    [write_aside, write_to_bot, join_or_react, press, count_two, answer_an_older_message],
)
async def test_any_sign_of_another_person_ends_it_for_good(tmp_path: Path, deed: Deed) -> None:
    chat = alone()
    async with shared_harness(tmp_path, chat=chat) as here:
        await prepare(here)
        await agree(here)
        assert await is_private(here)
        await deed(here)
        await here.harness.at_rest()
        assert not await is_private(here)
        assert (await find_room(here)).mode == "person"
        await here.harness.chat.sees_text(room_texts.FULL_ENDED())
        said = await here.says("ann", "/room full", room="den")
        assert said == room_texts.FULL_IMPOSSIBLE()
    async with shared_harness(tmp_path, chat=chat) as here:
        assert not await is_private(here)
        said = await here.says("ann", "/room full", room="den")
        assert said == room_texts.FULL_IMPOSSIBLE()


@pytest.mark.parametrize(
    "deed", [write_aside, write_to_bot, join_or_react, count_two, answer_an_older_message]
)
async def test_an_earlier_person_prevents_the_question(tmp_path: Path, deed: Deed) -> None:
    async with shared_harness(tmp_path, chat=alone()) as here:
        await prepare(here)
        if deed is count_two:
            here.harness.chat.people = 2
            await here.says("ann", "hello", room="den")
            here.harness.chat.people = 1
        else:
            await deed(here)
            await here.harness.at_rest()
        assert not await is_private(here)
        assert count_questions(here) == 0
        said = await here.says("ann", "/room full", room="den")
        assert said == room_texts.FULL_IMPOSSIBLE()


async def test_a_yes_after_another_person_came_opens_nothing(tmp_path: Path) -> None:
    async with shared_harness(tmp_path, chat=alone()) as here:
        await prepare(here)
        await here.says("ann", "hello", room="den")
        shown = await here.harness.chat.sees_text(QUESTION)
        key = shown.keyboard[0].key
        await join_or_react(here)
        await here.harness.chat.press_key(key, shown.id, user="ann", chat="den", direct=False)
        await here.harness.at_rest()
        assert not await is_private(here)


@pytest.mark.parametrize("people", [None, 0])
async def test_an_unknown_member_count_ends_it_until_the_next_yes(
    tmp_path: Path, people: int | None
) -> None:
    async with shared_harness(tmp_path, chat=alone()) as here:
        await prepare(here)
        await agree(here)
        here.harness.chat.people = people
        assert not await is_private(here)
        await here.harness.chat.sees_text(room_texts.FULL_UNSURE())
        assert await here.says("ann", "/room full", room="den") == room_texts.FULL_UNKNOWN()
        here.harness.chat.people = 1
        assert not await is_private(here)
        await here.says("ann", "/room full", room="den")
        await here.harness.chat.press(YES, user="ann", direct=False)
        await here.harness.at_rest()
        assert await is_private(here)


async def test_a_count_that_fails_ends_it(tmp_path: Path) -> None:
    async with shared_harness(tmp_path, chat=alone()) as here:
        await prepare(here)
        await agree(here)
        here.harness.chat.plan(Unreachable("down"))
        assert not await is_private(here)
        assert (await find_room(here)).mode == "person"


async def test_private_messages_stay_out_of_later_prompts_of_the_room(tmp_path: Path) -> None:
    model = Searcher("parrot")
    async with shared_harness(tmp_path, model, chat=alone()) as here:
        await prepare(here)
        await agree(here)
        await here.says("ann", "the parrot is in the den", room="den")
        await join_or_react(here)
        await here.harness.at_rest()
        count = len(model.requests)
        for who in ("ann", "bob"):
            await here.says(who, "where is it?", room="den")
        await here.harness.chat.says(
            "and this?",
            user="ann",
            name="ann",
            chat="den",
            direct=False,
            quote={"author": "Talaria", "text": "the parrot's aviary", "is_ours": True},
        )
        await here.harness.chat.until(lambda: len(model.requests) >= count + 6)
        await here.harness.at_rest()
        asked = [str(request.messages) + request.system for request in model.requests[count:]]
        assert [one for one in asked if "parrot is" in one or "aviary" in one] == []


async def wait_for(here: SharedHarness, is_so: Callable[[Connection], bool]) -> None:
    """Return once something is in the database."""
    async with asyncio.timeout(PATIENCE):
        while not await here.harness.read(is_so):
            await asyncio.sleep(0.002)


async def wait_until_moved(here: SharedHarness) -> None:
    """Return once the running turn is answered in Ann's direct chat."""
    await wait_for(
        here, lambda c: any("ann" in turn.place.chat.address for turn in turns.list_running(c))
    )


class Thinker(FakeModel):
    """Answers at once, but thinks about the falcon until released."""

    def __init__(self) -> None:
        super().__init__()
        self.go = asyncio.Event()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        is_hard = "falcon?" in request.messages[-1].text
        self.plays = [[self.go.wait, *say("The falcon is ill.")] if is_hard else say("Hello.")]
        async for piece in super().stream(request):
            yield piece


async def test_a_running_turn_moves_to_the_direct_chat_when_another_person_comes(
    tmp_path: Path,
) -> None:
    model, chat = Thinker(), alone()
    async with shared_harness(tmp_path, model, chat=chat) as here:
        await prepare(here)
        await agree(here)
        await chat.says("how is the falcon?", user="ann", name="ann", chat="den", direct=False)
        await here.harness.until(lambda: model.streaming == 1)
        await join_or_react(here)
        await chat.sees_text(room_texts.FULL_ENDED())
        await wait_until_moved(here)
        model.go.set()
        shown = await chat.sees_text("The falcon is ill.")
        assert shown.chat_id == "ann"
        assert not any("falcon" in one.text for one in chat.shown if one.chat_id == "den")


async def test_a_running_turn_also_moves_if_a_command_has_ended_the_mode_before(
    tmp_path: Path,
) -> None:
    model, chat = Thinker(), alone()
    async with shared_harness(tmp_path, model, chat=chat) as here:
        await prepare(here)
        await agree(here)
        await chat.says("how is the falcon?", user="ann", name="ann", chat="den", direct=False)
        await here.harness.until(lambda: model.streaming == 1)
        await chat.says("/room person", user="ann", name="ann", chat="den", direct=False)
        await chat.sees_text(room_texts.MODES["person"]())
        await join_or_react(here)
        await wait_until_moved(here)
        model.go.set()
        assert (await chat.sees_text("The falcon is ill.")).chat_id == "ann"


async def test_another_account_of_the_person_counts_as_another_person(tmp_path: Path) -> None:
    async with shared_harness(tmp_path, chat=alone()) as here:
        await prepare(here)
        await here.harness.chat.appears("ann", chat="den")
        await here.harness.chat.appears("ann2", chat="den")
        await here.harness.at_rest()
        seen = await here.harness.read(lambda c: presence.find(c, platform="fake", chat_id="den"))
        assert seen
        assert seen.user_id == "ann"
        assert seen.others_at is not None


@dataclass
class Flaky(FakeChat):
    """A platform on which nothing can be sent to some chats for now."""

    down: set[str] = field(default_factory=set)
    unsure: set[str] = field(default_factory=set)

    async def send(self, message: OutboundMessage) -> PlatformMessageId:
        if message.address.chat_id in self.unsure and message.file:
            raise Unsure("no answer came")
        if message.address.chat_id in self.down:
            raise Unreachable("down")
        return await super().send(message)


def show_den(chat: FakeChat) -> str:
    return str([one.texts for one in chat.shown if one.chat_id == "den"])


async def test_an_answer_on_its_way_goes_to_the_direct_chat_when_another_person_comes(
    tmp_path: Path,
) -> None:
    model, chat = FakeModel(), Flaky(people=1)
    model.plays = [say("Hello."), say("Hello."), say("Hello."), say("The falcon is ill.")]
    async with shared_harness(tmp_path, model, chat=chat) as here:
        await prepare(here)
        await agree(here)
        chat.down.add("den")
        await chat.says("how is the falcon?", user="ann", name="ann", chat="den", direct=False)
        await wait_for(here, lambda c: any("falcon" in row.body for row in outbox.list_open(c)))
        await here.harness.chat.appears("eve", chat="den")
        assert (await chat.sees_text("The falcon is ill.")).chat_id == "ann"
        chat.down.clear()
        here.harness.gateway.dispatcher.wake(Chat(platform="fake", address='["den",null,false]'))
        await chat.sees_text(room_texts.FULL_ENDED())
        await here.harness.at_rest()
        assert "falcon" not in show_den(chat)


async def test_a_proposal_on_its_way_is_shown_in_the_direct_chat_and_accepted_there(
    tmp_path: Path,
) -> None:
    model, chat = FakeModel(), Flaky(people=1)
    change = {"action": "add", "target": "memory", "text": "The falcon is ill"}
    model.plays = [say("Hello."), say("Hello."), say("Hello.")]
    model.plays += [ask(call("memory", json.dumps(change))), say("Read.")]
    async with shared_harness(tmp_path, model, chat=chat) as here:
        await prepare(here)
        await agree(here)
        chat.down.add("den")
        fields = {"user": "ann", "name": "ann", "chat": "den", "direct": False}
        await chat.says("note that the falcon is ill", forwarded="Eve", **fields)
        await wait_for(here, lambda c: any(row.question_id for row in outbox.list_open(c)))
        await here.harness.chat.appears("eve", chat="den")
        shown = await chat.sees_text("so I ask before I change anything")
        assert shown.chat_id == "ann"
        await chat.press(approvals.ACCEPT(), user="ann", name="ann")
        await chat.sees_text(approvals.ACCEPTED())
        assert "falcon" not in show_den(chat)


async def test_a_file_on_its_way_goes_to_the_direct_chat_when_another_person_comes(
    tmp_path: Path,
) -> None:
    model, chat = FakeModel(), Flaky(people=1)
    gift = ask(call("send_file", '{"name": "falcon.txt", "text": "The falcon is ill."}'))
    model.plays = [say("Hello."), say("Hello."), say("Hello."), gift, say("Here.")]
    async with shared_harness(tmp_path, model, chat=chat) as here:
        await prepare(here)
        await agree(here)
        chat.unsure.add("den")
        await chat.says("write it down", user="ann", name="ann", chat="den", direct=False)
        await wait_for(
            here, lambda c: any(one.file and one.state == "unsure" for one in outbox.list_open(c))
        )
        await here.harness.chat.appears("eve", chat="den")
        await chat.until(lambda: any(one.file and one.chat_id == "ann" for one in chat.shown))
        chat.unsure.clear()
        await chat.sees_text(room_texts.FULL_ENDED())
        await here.harness.at_rest()
        assert [one.chat_id for one in chat.shown if one.file] == ["ann"]


async def test_a_message_that_left_an_unreachable_room_is_not_sent_again_when_the_mode_ends(
    tmp_path: Path,
) -> None:
    chat = alone()
    async with shared_harness(tmp_path, chat=chat) as here:
        await prepare(here)
        await agree(here)
        chat.gone.add("den")

        def tell(connection: Connection) -> outbox.OutboxRow:
            account = people.find_account(connection, platform="fake", user_id="ann")
            assert account
            told = outbox.NewOutboxMessage(
                chat=Chat(platform="fake", address='["den",null,false]'),
                body="Feed the falcon",
                person_id=account.person_id,
            )
            return outbox.enqueue(connection, told, now=0)

        gateway = here.harness.gateway
        gateway.dispatcher.enqueue([await gateway.database.write("tell", tell)])
        assert (await chat.sees_text("Feed the falcon")).chat_id == "ann"
        chat.gone.clear()
        await here.says("ann", "/room person", room="den")
        await here.harness.at_rest()
        assert [one.chat_id for one in chat.shown if "Feed the falcon" in one.text] == ["ann"]


async def test_a_turn_of_an_earlier_process_leaves_a_room_that_others_joined_meanwhile(
    tmp_path: Path,
) -> None:
    model, chat = Thinker(), alone()
    async with shared_harness(tmp_path, model, chat=chat, **CUT_OFF) as here:
        await prepare(here)
        await agree(here)
        await chat.says("how is the falcon?", user="ann", name="ann", chat="den", direct=False)
        await wait_for(here, lambda c: bool(turns.list_running(c)))
    chat.people = 2
    model.go.set()
    async with shared_harness(tmp_path, model, chat=chat) as here:
        assert (await chat.sees_text("The falcon is ill.")).chat_id == "ann"
        await chat.sees_text(room_texts.FULL_ENDED())
        await here.harness.at_rest()
        assert "falcon" not in show_den(chat)


class Late(FakeChat):
    """A platform that counts nobody until it is connected."""

    async def count_people(self, address: Address) -> int | None:
        if self.state.state != "connected":
            raise Unreachable("not connected yet")
        return await super().count_people(address)


async def test_a_turn_of_an_earlier_process_goes_on_in_a_room_once_its_platform_is_connected(
    tmp_path: Path,
) -> None:
    model, chat = Thinker(), Late(people=1)
    async with shared_harness(tmp_path, model, chat=chat, **CUT_OFF) as here:
        await prepare(here)
        await agree(here)
        await chat.says("how is the falcon?", user="ann", name="ann", chat="den", direct=False)
        await wait_for(here, lambda c: bool(turns.list_running(c)))
    chat.state, looks = Health(state="starting"), chat.health_reads
    model.go.set()
    async with shared_harness(tmp_path, model, chat=chat) as here:
        await here.harness.until(lambda: chat.health_reads > looks + 5)
        chat.state = Health(state="connected")
        assert (await chat.sees_text("The falcon is ill.")).chat_id == "den"


@pytest.mark.parametrize("writes_directly", [True, False])
async def test_an_answer_never_enters_a_room_whose_mode_has_just_ended(
    tmp_path: Path, writes_directly: bool
) -> None:
    model, chat = Thinker(), alone()
    chat.creator = "bob"
    async with shared_harness(tmp_path, model, chat=chat) as here:
        if writes_directly:
            await here.says("bob", "hello")
        await agree(here, "bob")
        await chat.says("how is the falcon?", user="bob", name="bob", chat="den", direct=False)
        await here.harness.until(lambda: model.streaming == 1)

        def end(connection: Connection) -> None:
            """End the mode as another transaction would, right before that of the answer."""
            room = rooms.find(connection, platform="fake", chat_id="den")
            assert room
            rooms.set_mode(connection, room_id=room.id, mode="person", by=None, now=0)

        await here.harness.gateway.database.write("rooms.end", end)
        model.go.set()
        expected = "The falcon is ill." if writes_directly else room_texts.ONLY_IN_DIRECT()
        shown = await chat.sees_text(expected)
        await here.harness.at_rest()
        assert shown.chat_id == ("bob" if writes_directly else "den")
        assert "falcon" not in show_den(chat)


THERE = Target.of(Chat(platform="fake", address='["den",null,false]'))


def give_job(connection: Connection) -> None:
    """Store a job of Ann as the tool does in a direct conversation that continues in the room."""
    account = people.find_account(connection, platform="fake", user_id="ann")
    assert account
    whose, rules = JobOwner(person_id=account.person_id, room_id=None, actor="test"), JobRules()
    wish = JobRequest(
        kind="message",
        title="Falcon",
        body="Feed the falcon",
        timing=read_cron("0 9 * * *"),
        targets=(THERE,),
    )
    job = job_editor.draft_job(wish, whose, zone="UTC", rules=rules, now=0)
    job_editor.create_job(connection, job, rules=rules, now=0)
    delivery_targets.set_home(
        connection,
        person_id=account.person_id,
        chat=THERE.place,
    )


def find_targets(connection: Connection) -> tuple[Sequence[Target], object]:
    """Return the targets of Ann's only job, and her home chat."""
    account = people.find_account(connection, platform="fake", user_id="ann")
    assert account
    (job,) = jobs.list_of_person(connection, person_id=account.person_id)
    return job.targets, delivery_targets.find(connection, person_id=account.person_id).chat


@pytest.mark.parametrize("is_ended_by_command", [True, False])
async def test_a_persons_own_jobs_leave_the_room_with_the_conversation(
    tmp_path: Path, is_ended_by_command: bool
) -> None:
    async with shared_harness(tmp_path, chat=alone()) as here:
        await prepare(here)
        await agree(here)
        await here.harness.gateway.database.write("job", give_job)
        if is_ended_by_command:
            await here.says("ann", "/room person", room="den")
        else:
            await join_or_react(here)
        await here.harness.at_rest()
        assert await here.harness.read(find_targets) == ((Target(kind="home"),), None)


async def test_after_a_restore_nothing_private_goes_to_the_room_any_more(tmp_path: Path) -> None:
    home, chat = tmp_path / "home", alone()

    def owe(connection: Connection) -> None:
        """Store an answer that the process could not send before its end."""
        account = people.find_account(connection, platform="fake", user_id="ann")
        assert account
        told = outbox.NewOutboxMessage(
            chat=THERE.place,
            body="The falcon is ill.",
            person_id=account.person_id,
        )
        outbox.enqueue(connection, told, now=0)

    async with shared_harness(home, chat=chat) as here:
        await prepare(here)
        await agree(here)
        await here.harness.gateway.database.write("job", give_job)
        await here.harness.gateway.database.write("owe", owe)
    target = tmp_path / "backup"
    for words in (("backup", str(target)), ("restore", str(target))):
        done = talaria(home, *words)
        assert done.code == 0, done.err
    async with shared_harness(home, chat=chat) as here:
        assert (await chat.sees_text(room_texts.FULL_UNSURE())).chat_id == "den"
        assert (await chat.sees_text("The falcon is ill.")).chat_id == "ann"
        assert await here.harness.read(find_targets) == ((Target(kind="home"),), None)
        assert not await is_private(here)


async def test_a_deferred_message_leaves_the_room_for_a_direct_chat_of_long_ago(
    tmp_path: Path,
) -> None:
    def find_person(connection: Connection) -> PersonId:
        account = people.find_account(connection, platform="fake", user_id="ann")
        assert account
        return account.person_id

    def defer(connection: Connection) -> None:
        reminder = NewDeferredMessage(
            person_id=find_person(connection),
            chat=Chat(platform="fake", address='["den",null,false]'),
            title="Falcon",
            body="Feed the falcon",
            release_at=2**42,
        )
        deferred_messages.defer(connection, reminder, now=0)

    async with shared_harness(tmp_path, chat=alone()) as here:
        await prepare(here)
        await agree(here)
        for number in range(50):
            await here.says("ann", f"again {number}", room="den")
        await here.harness.gateway.database.write("defer", defer)
        await here.says("ann", "/room person", room="den")
        (kept,) = await here.harness.read(
            lambda c: deferred_messages.list_of_person(c, person_id=find_person(c))
        )
        assert kept.chat == Chat(platform="fake", address='["ann",null,true]')
