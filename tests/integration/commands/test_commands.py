"""Slash commands: parsed, listed and run, also repeatedly and during a turn."""

import re
from pathlib import Path

import pytest

from adapters.errors import ChatGone
from agent_core.ids import PersonId
from agent_core.state.conversations import turns
from agent_core.state.engine.database import Connection
from agent_core.state.people import people
from agent_core.state.people.people import Person
from gateway.commands.catalog import (
    COMMANDS,
    HIDDEN,
    PLAIN_NAMES,
    bind,
    make_menu,
    suggest_command,
)
from gateway.commands.registry import Call, Reply
from gateway.commands.rooms import PrivateAnswers
from gateway.inbound.events import parse_command
from gateway.texts import blocks as block_texts
from gateway.texts import general, rooms
from gateway.texts import people as people_texts
from gateway.texts.undo import OTHER_WAYS
from tests.fakes.model import FakeModel, Gate, ask, call, say
from tests.integration.harness import Harness, running
from tests.integration.shared_harness import shared_harness

PERSON = Person(id=PersonId(1), slug="ana", name="Ana", role="member", time_zone=None)


def heard(model: FakeModel) -> list[str]:
    return [m.text for m in model.requests[-1].messages if m.role == "user"]


async def states(harness: Harness, table: str) -> list[str]:
    def look(connection: Connection) -> list[str]:
        return [row[0] for row in connection.execute(f"SELECT state FROM {table} ORDER BY id")]

    return await harness.read(look)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("/help", ("help", "")),
        ("  /HELP  ", ("help", "")),
        ("/queue two words", ("queue", "two words")),
        ("/queue\ntwo\nlines", ("queue", "two\nlines")),
        ("/new@talaria_bot", ("new", "")),
        ("/approve@bot ABCD-EFGH", ("approve", "ABCD-EFGH")),
        ("/no_such", ("no_such", "")),
        ("help", None),
        ("/", None),
        ("/ help", None),
        ("//help", None),
        ("/etc/passwd is a file", None),
        ("/1", None),
        ("/" + "x" * 65, None),
        ("not /help", None),
    ],
)
def test_what_is_a_command(text: str, read: tuple[str, str] | None) -> None:
    assert parse_command(text) == read


def test_names_are_unique_and_fit_every_menu() -> None:
    names = [command.name for command in (*COMMANDS, *HIDDEN)]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch("[a-z0-9_]{1,32}", name) for name in names)
    assert all(0 < len(command.summary) <= 50 for command in COMMANDS)


async def answer_nothing(_: Call) -> Reply:
    return Reply()


def test_each_command_of_the_catalog_has_a_handler() -> None:
    handlers = {spec.name: answer_nothing for spec in (*COMMANDS, *HIDDEN)}
    wrap = PrivateAnswers({}).wrap
    bound = bind(handlers, wrap)
    assert [command.spec for command in bound] == [*COMMANDS, *HIDDEN]
    for command in bound:
        is_wrapped = command.run is not handlers[command.spec.name]
        is_guarded = command.spec.is_private or command.spec.is_direct_only
        assert is_wrapped == (is_guarded or command.spec.name in OTHER_WAYS)
    with pytest.raises(ValueError, match="no_such"):
        bind({**handlers, "no_such": answer_nothing}, wrap)
    with pytest.raises(ValueError, match="stop"):
        bind({name: run for name, run in handlers.items() if name != "stop"}, wrap)


def test_the_menu_shows_commands_for_everybody() -> None:
    is_listed = {entry.name: entry.is_listed for entry in make_menu()}
    assert is_listed["help"]
    assert not any(is_listed[name] for name in ("approve", "claim", "start"))


async def test_help_shows_owners_their_commands(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel()) as harness:
        await harness.chat.says("/help all")
        shown = await harness.chat.sees_text("/whoami")
        assert "/approve" not in shown.text
        await harness.chat.says(f"/claim {harness.gateway.claim_code}")
        await harness.chat.sees_text("you're now the owner")
        await harness.chat.says("/help all")
        await harness.chat.sees_text("/approve")


async def test_help_is_short_and_names_the_rest(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel()) as harness:
        await harness.chat.says("/help")
        shown = await harness.chat.sees_text("/help all")
        assert "/new: " in shown.text
        assert "/unlink" not in shown.text
        assert len(shown.text.splitlines()) < 30
        assert shown.text.count("**") == 2 * 6
        await harness.chat.says("/help all", chat="-5", direct=False, addressed=True)
        shown = await harness.chat.sees_text("/room: ")
        for refused in ("/link", "/accounts", "/export", "/console", "/settings", "/status"):
            assert f"{refused}: " not in shown.text


@pytest.mark.parametrize("is_owner", [False, True])
async def test_every_command_that_a_groups_help_lists_works_there(
    tmp_path: Path, *, is_owner: bool
) -> None:
    refusals = (
        rooms.ONLY_IN_DIRECT(),
        rooms.ANSWERED_IN_DIRECT(),
        block_texts.ONLY_IN_DIRECT(),
        people_texts.ACCOUNTS_IN_GROUP(),
        people_texts.LINK_IN_GROUP(),
        general.OWNER_ONLY(),
    )
    model = FakeModel(*[say("Done.")] * 20)
    async with shared_harness(tmp_path, model) as here:
        await here.says("ann", "hello")
        if is_owner:
            await here.make_owner("ann")
        await here.says("ann", "/help all", room="den")
        listed = "\n".join(one.text for one in here.harness.chat.shown if one.chat_id == "den")
        names = re.findall(r"/(\w+): ", listed)
        assert {"new", "stop", "room", "memory", "reminders"} <= set(names)
        assert ("approve" in names) == is_owner
        for name in names:
            assert await here.says("ann", f"/{name}", room="den") not in refusals, name


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        *(("hlep", "help"), ("halp", "help"), ("neww", "new"), ("stpo", "stop"), ("mem", "memory")),
        *(("memroy", "memory"), ("udno", "undo"), ("setings", "settings"), ("lnk", "link")),
        *(("sessoins", "sessions"), ("cancel", "stop"), ("voice", "settings")),
        *(("vergis", "vergiss"), ("gedächtniss", "gedächtnis"), ("gedachtnis", "gedächtnis")),
        *(
            ("ruhezeitn", "ruhezeiten"),
            ("einstelungen", "einstellungen"),
            ("rückgänig", "rückgängig"),
        ),
        *(("consol", "console"), ("whoiam", "whoami"), ("qeue", "queue"), ("exprot", "export")),
        *((word, None) for word in ("blah", "foo", "weather", "hello", "google", "back", "ban")),
        *((word, None) for word in ("calendar", "image", "version", "login", "time", "no", "a")),
    ],
)
def test_a_slip_names_its_command_and_another_word_none(typed: str, meant: str | None) -> None:
    said = suggest_command(typed, "", PERSON).text
    assert said == (
        general.NEAREST_COMMAND(name=typed, nearest=meant)
        if meant
        else general.UNKNOWN_COMMAND(name=typed)
    )


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        *(("/HILFE", "/help"), ("/Einstellungen", "/settings"), ("/konten", "/accounts")),
        *(("/Gedächtnis", "/memory"), ("/gedaechtnis", "/memory"), ("/vergiss", "/forget")),
        *(("/vergiss Boiler", "/forget Boiler"), ("/ruhezeiten", "/settings")),
        *(("/ruhezeiten 22-7", "/settings quiet_hours 22-7"), ("/Löschen", "/forget")),
        *(
            ("/quiet_hours aus", "/settings quiet_hours off"),
            ("/zeitzone Wien", "/timezone Vienna"),
        ),
        *(("/sprache Deutsch", "/language German"), ("/rückgängig", "/undo")),
    ],
)
async def test_a_plain_name_of_a_command_runs_it(tmp_path: Path, typed: str, meant: str) -> None:
    async with running(tmp_path, FakeModel()) as harness:
        answers = []
        for words in (meant, typed):
            seen = len(harness.chat.shown)
            await harness.chat.says(words)
            await harness.chat.until(lambda seen=seen: len(harness.chat.shown) > seen)
            await harness.at_rest()
            answers.append(harness.chat.shown[-1].text)
        assert answers[0] == answers[1]


async def test_names_and_values_of_settings_are_read_in_both_languages(tmp_path: Path) -> None:
    rows = (
        ("/einstellungen sprache englisch", "/settings language English"),
        ("/einstellungen Sprache: Deutsch", "/settings language German"),
        ("/settings language to English", "/settings language English"),
        ("/settings quiet hours to 23-6", "/settings quiet_hours 23-6"),
        ("/einstellungen Ruhezeiten auf 23 bis 6 Uhr", "/settings quiet_hours 23-6"),
        ("/einstellungen ruhezeiten aus", "/settings quiet_hours off"),
        ("/settings time zone Vienna", "/settings time_zone Vienna"),
        ("/einstellungen Zeitzone ist Wien", "/settings time_zone Vienna"),
        ("/einstellungen freie Tage Samstag und Sonntag", "/settings days_off sat,sun"),
        ("/einstellungen freie tage keine", "/settings days_off off"),
        ("/einstellungen ausführlichkeit ausführlich", "/settings verbosity verbose"),
        ("/einstellungen Leselimit aus", "/settings reading_limit off"),
        ("/löschen Boiler", "/forget Boiler"),
        ("/löschen alles", "/erase me"),
        ("/delete my data", "/erase me"),
        ("/erase mich", "/erase me"),
    )
    async with running(tmp_path, FakeModel()) as harness:

        async def answer(words: str) -> str:
            seen = len(harness.chat.shown)
            await harness.chat.says(words)
            await harness.chat.until(lambda: len(harness.chat.shown) > seen)
            await harness.at_rest()
            return harness.chat.shown[-1].text

        for typed, meant in rows:
            assert await answer(typed) == await answer(meant), typed


async def test_help_names_the_commands_in_german_too(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel()) as harness:
        await harness.chat.says("/settings language German")
        await harness.chat.says("/hilfe")
        shown = await harness.chat.sees_text("/settings, /einstellungen: ")
        assert "/reminders, /erinnerungen: " in shown.text
        await harness.chat.says("/hilfe alle")
        await harness.chat.sees_text("/forget, /vergiss: ")


def test_every_command_has_a_german_name() -> None:
    """A few are the same word in both languages."""
    names = {line.partition(":")[0] for line in PLAIN_NAMES.strip().splitlines()}
    assert {spec.name for spec in COMMANDS} - names == {"team", "mcp"}


async def test_an_approved_person_is_answered_at_once(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(say("Hello Ben.")), TALARIA_ACCESS__ALLOW="") as harness:
        ben = {"user": "2", "chat": "2", "name": "Ben"}
        await harness.chat.says(f"/claim {harness.gateway.claim_code}")
        await harness.chat.sees_text("you're now the owner")
        await harness.chat.says("hello?", **ben)
        asked = await harness.chat.sees_text("Ask my owner")
        assert asked.chat_id == "2"
        found = re.search(r"/approve [\w-]+", asked.text)
        assert found
        await harness.chat.says(found[0])
        assert (await harness.chat.sees_text("“Ben” can now talk")).chat_id == "1"
        assert (await harness.chat.sees_text("Hi Ben!")).chat_id == "2"
        await harness.chat.says("hello!", **ben)
        assert (await harness.chat.sees_text("Hello Ben.")).chat_id == "2"
        await harness.chat.says(found[0])
        await harness.chat.sees_text(general.LET_IN_ALREADY(name="“Ben”"))
        await harness.at_rest()
        assert len(await harness.read(people.list_all)) == 2


@pytest.mark.parametrize("command", ["approve", "claim"])
async def test_a_missing_code_is_asked_for(tmp_path: Path, command: str) -> None:
    async with running(tmp_path, FakeModel()) as harness:
        await harness.chat.says(f"/claim {harness.gateway.claim_code}")
        await harness.chat.says(f"/{command}")
        await harness.chat.sees_text(f"for example: /{command} ABCD-EFGH")


async def test_whoami_tells_name_accounts_and_zone(tmp_path: Path) -> None:
    zone = {"TALARIA_PEOPLE__TIME_ZONE": "Europe/Madrid"}
    async with running(tmp_path, FakeModel(), **zone) as harness:
        await harness.chat.says("/whoami", user="42", name="Ana")
        shown = await harness.chat.sees_text("You are Ana (member)")
        assert "Accounts: “Ana” on fake" in shown.text
        assert "Time zone: Madrid" in shown.text


async def test_two_retries_at_once_try_once(tmp_path: Path) -> None:
    gate = Gate()
    model = FakeModel(say("One."), [gate.hold, *say("Two.")])
    async with running(tmp_path, model) as harness:
        await harness.chat.says("do it")
        await harness.chat.sees_text("One.")
        await harness.at_rest()
        await harness.chat.says("/retry")
        await harness.chat.says("/retry")
        await harness.chat.sees_text(general.RETRY_RUNNING())
        gate.open.set()
        await harness.chat.sees_text("Two.")
        await harness.at_rest()
        assert heard(model) == ["do it", "do it"]
        assert await states(harness, "inbox") == ["done"] * 3


async def test_retry_sends_undelivered_messages_again(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(say("One."))) as harness:
        harness.chat.plan(ChatGone("blocked"))
        await harness.chat.says("do it")
        await harness.at_rest()
        assert harness.chat.shown == []
        await harness.chat.says("/status")
        await harness.chat.sees_text("1 message wasn't delivered")
        await harness.chat.says("/retry")
        await harness.chat.sees_text("One.")
        await harness.chat.says("/status")
        await harness.at_rest()
        assert len(harness.model.requests) == 1
        assert "delivered" not in harness.chat.shown[-1].text


async def test_retry_in_an_empty_conversation_says_so(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel()) as harness:
        await harness.chat.says("/retry")
        await harness.chat.sees_text(general.RETRY_NOTHING())


async def test_retry_never_reaches_into_somebody_elses_conversation(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(say("One."))) as harness:
        await harness.chat.says("mine", user="1", chat="room", direct=False)
        await harness.chat.sees(1)
        await harness.at_rest()
        await harness.chat.says("/retry", user="2", chat="room", direct=False)
        await harness.chat.sees_text(general.RETRY_NOTHING())


async def test_new_ends_a_running_turn_and_starts_a_session(
    tmp_path: Path,
) -> None:
    gate = Gate()
    model = FakeModel(ask(call("recall", '{"query": "tea"}')), [gate.hold], say("Afresh."))
    async with running(tmp_path, model) as harness:
        await harness.chat.says("tea?")
        await gate.reached.wait()
        await harness.chat.says("/new")
        await harness.chat.says("and now?")
        await harness.chat.sees_text("Afresh.")
        await harness.at_rest()
        assert heard(model) == ["and now?"]
        assert await states(harness, "turns") == ["stopped", "answered"]
        reported = [shown.text for shown in harness.chat.shown]
        assert sorted(text.split(".")[0] for text in reported) == [
            "(Stopped",
            "Afresh",
            "I've started a new conversation",
        ]


async def test_messages_queued_before_new_are_answered_in_the_new_session(tmp_path: Path) -> None:
    gate = Gate()
    model = FakeModel([gate.hold], say("Afresh."))
    async with running(tmp_path, model) as harness:
        await harness.chat.says("first")
        await gate.reached.wait()
        await harness.chat.says("second")
        await harness.until(harness.gateway.router.is_idle)
        await harness.chat.says("/new")
        await harness.chat.sees_text("Afresh.")
        await harness.at_rest()
        assert heard(model) == ["second"]
        assert await states(harness, "inbox") == ["done"] * 3


async def test_queue_without_text_counts_queued_messages(tmp_path: Path) -> None:
    gate = Gate()
    model = FakeModel([gate.hold, *say("One.")], say("Two."))
    async with running(tmp_path, model) as harness:
        await harness.chat.says("/queue")
        await harness.chat.sees_text("No message is waiting.")
        await harness.chat.says("first")
        await gate.reached.wait()
        await harness.chat.says("/queue second")
        await harness.chat.says("/queue")
        await harness.chat.sees_text("1 message is waiting.")
        await harness.chat.says("/status")
        await harness.chat.sees_text("Waiting messages: 1")
        gate.open.set()
        await harness.chat.sees_text("Two.")


async def test_queued_messages_are_turns_in_order_and_the_last_takes_what_follows(
    tmp_path: Path,
) -> None:
    gate = Gate()
    model = FakeModel([gate.hold, *say("One.")], say("Two."), say("Three and four."))
    async with running(tmp_path, model) as harness:
        await harness.chat.says("1")
        await gate.reached.wait()
        for number in ("/queue 2", "/queue 3", "4"):
            await harness.chat.says(number)
        await harness.until(harness.gateway.router.is_idle)
        gate.open.set()
        await harness.chat.sees_text("Three and four.")
        await harness.at_rest()
        assert heard(model) == ["1", "2", "3", "4"]
        latest = await harness.read(lambda c: turns.list_recent(c, limit=9))
        assert len(latest) == 3


async def test_stop_ends_the_running_turn_but_not_queued_ones(tmp_path: Path) -> None:
    gate = Gate()
    model = FakeModel([gate.hold], say("Two."))
    async with running(tmp_path, model) as harness:
        await harness.chat.says("1")
        await gate.reached.wait()
        await harness.chat.says("/queue 2")
        await harness.chat.says("/stop")
        await harness.chat.sees_text("Two.")
        await harness.at_rest()
        assert await states(harness, "turns") == ["stopped", "answered"]
