"""The commands: each typed as text, and all in Telegram's menu."""

import asyncio

from gateway.texts import general
from tests.emulators.streaming import Json
from tests.emulators.telegram_cast import ANNA, BEN, SUPERGROUP
from tests.journeys.stage import Stage, call, calls, heard, results

MENU = [
    "help",
    "new",
    "stop",
    "here",
    "steer",
    "btw",
    "queue",
    "retry",
    "sessions",
    "resume",
    "title",
    "branch",
    "status",
    "compact",
    "context",
    "reminders",
    "sethome",
    "memory",
    "share",
    "why",
    "undo",
    "learned",
    "learn",
    "profile",
    "curator",
    "block",
    "tools",
    "skills",
    "agents",
    "team",
    "model",
    "approvals",
    "connections",
    "settings",
    "verbose",
    "room",
    "link",
    "accounts",
    "unlink",
    "whoami",
    "console",
    "usage",
    "export",
    "forget",
    "erase",
]


async def test_the_telegram_menu_lists_the_commands_for_everybody(stage: Stage) -> None:
    async with stage.open() as harness:
        await harness.until(lambda: stage.telegram.menu(""))
        assert [entry["command"] for entry in stage.telegram.menu("")] == MENU
        assert all(len(entry["description"]) > 10 for entry in stage.telegram.menu(""))


async def test_help_lists_allowed_commands_and_start_greets(stage: Stage) -> None:
    async with stage.open(allow=f"telegram:{BEN}") as harness:
        await harness.ask(ANNA, f"/claim {harness.gateway.claim_code}")
        for_owner, for_member = (
            await harness.ask(ANNA, "/help all"),
            await harness.ask(BEN, "/help all"),
        )
        assert all(f"/{name}: " in for_member for name in MENU)
        assert "/approve" in for_owner
        assert "/approve" not in for_member
        assert "Hi Ben!" in await harness.ask(BEN, "/start")
        assert "Just write to me" in await harness.ask(BEN, "/HELP")
        assert "I don't know the command poem" in await harness.ask(BEN, "/poem of love")
        assert stage.turns == []


async def test_stop_ends_the_answer_and_reports_what_was_done(stage: Stage) -> None:
    never = asyncio.Event()

    async def hold(body: Json) -> None:
        if results(body):
            await never.wait()

    stage.model.before = hold
    stage.plan(calls(call("recall", query="boat")))
    async with stage.open() as harness:
        await stage.telegram.says(ANNA, "search for the boat")
        await harness.until(lambda: len(stage.turns) == 2)
        await harness.ask(ANNA, "/stop")
        (shown,) = stage.telegram.texts(ANNA)  # on a busy machine an edit of the status line
        assert shown == general.describe_stop("", ["recall"])
        assert "Nothing is running here" in await harness.ask(ANNA, "/stop")
        stage.model.before = None
        assert await harness.ask(ANNA, "go on") == "echo: go on"
        assert "boat" in heard(stage.turns[-1])[0]


async def test_stop_keeps_what_was_shown_of_the_answer(stage: Stage) -> None:
    tale = " ".join(f"Sentence {number}." for number in range(100))
    stage.model.pace, stage.model.deltas = 0.05, 100
    async with stage.open(TALARIA_TELEGRAM__EDIT_INTERVAL="0.1") as harness:
        stage.plan(tale)
        await stage.telegram.says(ANNA, "tell me a tale")
        await harness.sees(ANNA, "Sentence 0.")
        await stage.telegram.says(ANNA, "/stop")
        await harness.sees(ANNA, "(Stopped.)")
        await harness.at_rest()
        (message,) = stage.telegram.messages(ANNA)
        shown, _, note = message.text.rpartition("\n\n")
        assert tale.startswith(shown)
        assert note == "(Stopped.)"
        stage.model.pace = 0.0
        await harness.ask(ANNA, "/status")
        assert stage.model.disconnects == 1, "the model is not left writing for nobody"


async def test_a_queued_message_waits_for_its_own_turn(stage: Stage) -> None:
    async with stage.open() as harness:
        release = stage.hold()
        await stage.telegram.says(ANNA, "first")
        await harness.until(lambda: len(stage.turns) == 1)
        await stage.telegram.says(ANNA, "/queue second")
        await harness.sees(ANNA, "I'll start on that when")
        await stage.telegram.says(ANNA, "/queue")
        await harness.sees(ANNA, "1 message is waiting")
        await stage.telegram.says(ANNA, "/status")
        await harness.sees(ANNA, "Waiting messages: 1")
        release.set()
        await harness.at_rest()
        assert stage.telegram.texts(ANNA)[-2:] == ["echo: first", "echo: second"]
        assert [heard(body)[-1] for body in stage.turns] == ["first", "second"]
        assert "No message is waiting" in await harness.ask(ANNA, "/queue")


async def test_new_starts_a_session_and_keeps_memory(stage: Stage) -> None:
    async with stage.open() as harness:
        await harness.ask(ANNA, "my boat is called Pelikan")
        assert "I've started a new conversation" in await harness.ask(ANNA, "/new")
        stage.plan(calls(call("recall", query="boat")), "Pelikan.")
        assert await harness.ask(ANNA, "my boat?") == "Pelikan."
        assert heard(stage.turns[1]) == ["my boat?"]
        assert "Pelikan" in str(stage.turns[-1]["messages"][-1])


async def test_new_while_an_answer_is_written_ends_it(stage: Stage) -> None:
    async with stage.open() as harness:
        release = stage.hold()
        await stage.telegram.says(ANNA, "a long job")
        await harness.until(lambda: len(stage.turns) == 1)
        reported = await harness.ask(ANNA, "/new")
        assert "I've started a new conversation" in reported
        release.set()
        await harness.ask(ANNA, "hello")
        assert heard(stage.turns[-1]) == ["hello"]


async def test_status_whoami_and_retry_reply(stage: Stage) -> None:
    async with stage.open() as harness:
        assert "There's nothing to retry" in await harness.ask(ANNA, "/retry")
        await harness.ask(ANNA, "hello")
        status = await harness.ask(ANNA, "/status")
        assert "Messages: 2 · I have nothing to do" in status
        assert "Model: anthropic: claude-sonnet-5-5" in status
        reported = await harness.ask(ANNA, "/whoami")
        assert reported == "You are Anna (member).\nAccounts: “Anna” on Telegram\nTime zone: UTC"
        assert await harness.ask(ANNA, "/retry") == "echo: hello"
        assert [heard(body)[-1] for body in stage.turns] == ["hello", "hello"]


async def test_retry_while_an_answer_is_written_says_so(stage: Stage) -> None:
    async with stage.open() as harness:
        release = stage.hold()
        await stage.telegram.says(ANNA, "first")
        await harness.until(lambda: len(stage.turns) == 1)
        await stage.telegram.says(ANNA, "/retry")
        await harness.sees(ANNA, "I'm still working on it")
        release.set()
        await harness.at_rest()
        assert stage.telegram.texts(ANNA)[-1] == "echo: first"


async def test_commands_in_a_room_are_about_the_room(stage: Stage) -> None:
    async with stage.open() as harness:
        await harness.ask(ANNA, "private words")
        await harness.ask(ANNA, "@talaria_bot hello", chat=SUPERGROUP)
        told = await harness.ask(ANNA, "/status@talaria_bot", chat=SUPERGROUP)
        assert "answered in our direct chat" in told
        assert "Messages: 2 " in stage.telegram.texts(ANNA)[-1]
        await harness.ask(ANNA, "/new@talaria_bot", chat=SUPERGROUP)
        await harness.ask(ANNA, "@talaria_bot again", chat=SUPERGROUP)
        assert heard(stage.turns[-1]) == ["again"]
        await harness.ask(ANNA, "still here")
        assert heard(stage.turns[-1]) == ["private words", "still here"]
