"""/settings and /verbose: shown, set, rejected with a sentence; and questions asked once."""

from pathlib import Path

from agent_core.shown_settings import VERBOSITIES
from agent_core.state.engine.database import Connection
from agent_core.state.people import people
from agent_core.state.people.people import Person
from gateway.texts import general
from tests.fakes.chat import FakeChat, Shown
from tests.fakes.model import FakeModel, ask, call, say
from tests.integration.accounts import ChatAccount, count
from tests.integration.harness import Harness, running
from tests.tables import await_each


async def person(harness: Harness) -> Person:
    found = await harness.read(lambda c: people.find_by_account(c, platform="fake", user_id="1"))
    assert found
    return found


def facts(model: FakeModel, request: int = -1) -> str:
    return str(model.requests[request].messages)


async def says(harness: Harness, text: str) -> str:
    return await ChatAccount(harness, "1", "Ana").says(text)


async def test_settings_shows_set_values_and_defaults(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(), TALARIA_PEOPLE__TIME_ZONE="Europe/Paris") as harness:
        shown = await says(harness, "/settings")
        assert "Time zone: Paris (default; you haven't set yours)" in shown
        assert "Quiet hours: none" in shown
        assert "Days off: none" in shown
        assert harness.chat.shown[-1].labels == [
            *(text() for text in VERBOSITIES.values()),
            general.QUIET_NIGHT(),
            general.WEEKENDS_OFF(),
            "English",
            "Deutsch",
            "Time zone: London",
            "Time zone: New York",
            "Time zone: Los Angeles",
        ]


async def test_each_setting_can_be_set_and_is_shown(tmp_path: Path) -> None:
    rows = [
        ("time_zone europe/vienna", "Time zone: Vienna"),
        ("time_zone utc+2", "Time zone: UTC+2"),
        ("Language fr", "Language: fr"),
        ("quiet_hours 22:00-07:30", "Quiet hours: 22:00-07:30"),
        ("quiet_hours night", "Quiet hours: 22:00-07:00"),
        ("days_off sat,sun", "Days off: Sat, Sun"),
        ("Days_Off weekend", "Days off: Sat, Sun"),
        ("verbosity quiet", "What you see of my work: Answers only"),
    ]
    async with running(tmp_path, FakeModel()) as harness:

        async def check(row: tuple[str, str]) -> None:
            said, line = row
            await says(harness, f"/settings {said.split()[0]} off")
            assert line not in await says(harness, "/settings")
            shown = await says(harness, f"/settings {said}")
            assert shown.startswith(general.SETTING_SAVED())
            assert line in shown
            assert line in await says(harness, "/settings")

        await await_each(rows, check)


async def test_a_language_without_a_catalogue_is_said_in_the_persons_own(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel()) as harness:
        await says(harness, "/settings Sprache Deutsch")
        shown = await says(harness, "/settings Sprache fr")
        assert "Ich antworte dir in dieser Sprache (fr)." in shown
        assert "gibt es nur auf English und Deutsch." in shown
        assert "Sprache: fr" in shown
        assert "Leselimit 50000" in shown, "the card stays German"
        assert "noch nicht" not in await says(harness, "/settings language en")


async def test_the_german_names_of_the_card_set_what_they_name(tmp_path: Path) -> None:
    rows = (
        ("Zeitzone Wien", "Zeitzone: Wien"),
        ("Ruhezeiten 22:00-07:30", "22:00-07:30"),
        ("freie Tage Samstag, Sonntag", "Sa, So"),
    )
    async with running(tmp_path, FakeModel()) as harness:
        await says(harness, "/settings Sprache Deutsch")

        async def check(row: tuple[str, str]) -> None:
            shown = await says(harness, f"/settings {row[0]}")
            assert f"/settings {row[0].split()[0]}" in shown
            assert row[1] in shown

        await await_each(rows, check)
        assert "/settings Zeitzone …" in await says(harness, "/settings Zeitzone")


async def test_a_sentence_sets_all_that_it_names_and_undo_takes_all_back(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel()) as harness:
        shown = await says(harness, "/settings I live in Vienna, speak German, quiet 22-7")
        assert "Zeitzone: Wien" in shown
        assert "Ruhezeiten: 22:00-07:00" in shown
        await says(harness, "/undo")
        shown = await says(harness, "/settings")
        assert "Quiet hours: none" in shown
        assert "Time zone: UTC (default" in shown


async def test_a_reset_setting_uses_the_gateways_default(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(), TALARIA_PEOPLE__TIME_ZONE="Europe/Paris") as harness:
        for said in ("time_zone Asia/Tokyo", "language ja", "quiet_hours night", "days_off fri"):
            await says(harness, f"/settings {said}")
        for name in ("time_zone", "language", "quiet_hours", "days_off"):
            shown = await says(harness, f"/settings {name} off")
        assert "Time zone: Paris (default; you haven't set yours)" in shown
        assert "Language: the one you write in" in shown
        assert "Quiet hours: none" in shown
        assert "Days off: none" in shown


async def test_invalid_values_are_rejected(tmp_path: Path) -> None:
    rows = [
        ("time_zone Mars/Base", '"Mars/Base" isn\'t a time zone. Write a city'),
        ("language klingon!", 'I don\'t know the language "klingon!".'),
        ("quiet_hours 25:00-07:00", '"25:00-07:00" isn\'t a range of hours.'),
        ("quiet_hours 22:00-22:00", "Quiet hours can't start and end at the same time."),
        ("verbosity loud", 'How much do you want to see? Choose "quiet" (answers only), "normal"'),
        ("days_off someday", '"someday" isn\'t a list of days.'),
        (
            "days_off",
            "Write the new value after the name, or “off” to clear the setting: /settings",
        ),
        ("volume 11", 'There\'s no setting "volume".'),
        (
            "language",
            "Write the new value after the name, or “off” to clear the setting: /settings",
        ),
        (
            "time_zone",
            "Write the new value after the name, or “off” to clear the setting: /settings",
        ),
    ]
    async with running(tmp_path, FakeModel()) as harness:
        await says(harness, "/settings language fr")
        before = await person(harness)

        async def check(row: tuple[str, str]) -> None:
            assert (await says(harness, f"/settings {row[0]}")).startswith(row[1])
            assert await person(harness) == before

        await await_each(rows, check)


async def test_buttons_change_the_message_that_has_them(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel()) as harness:
        await says(harness, "/settings")
        (message,) = harness.chat.shown
        ana = ChatAccount(harness, "1", "Ana")
        await ana.presses(general.QUIET_NIGHT())
        assert "Quiet hours: 22:00-07:00" in message.text
        assert general.QUIET_OFF() in message.labels
        await ana.presses(VERBOSITIES["verbose"]())
        await ana.presses(general.QUIET_OFF())
        assert harness.chat.shown == [message]
        assert "What you see of my work: Every step" in message.text
        styles = [button.style for button in message.keyboard]
        assert styles == ["plain", "plain", "good", *["plain"] * 7]
        found = await person(harness)
        assert (found.quiet_from, found.verbosity) == (None, "verbose")


async def test_a_press_changes_its_own_setting_and_no_other(tmp_path: Path) -> None:
    """Even if the message is older than another change."""
    async with running(tmp_path, FakeModel()) as harness:
        await says(harness, "/settings")
        old: Shown = harness.chat.shown[0]

        def change(connection: Connection) -> None:
            connection.execute("UPDATE people SET language = 'de', time_zone = 'Asia/Tokyo'")

        await harness.gateway.database.write("elsewhere", change)
        await harness.chat.press_key(old.keyboard[2].key, old.id)
        await harness.at_rest()
        found = await person(harness)
        assert (found.language, found.time_zone) == ("de", "Asia/Tokyo")
        assert found.verbosity == "verbose"
        assert "Sprache: Deutsch" in old.text


async def test_verbose_is_turned_on_and_off(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel()) as harness:
        for said, wanted in (
            ("/verbose", "verbose"),
            ("/verbose", "normal"),
            ("/verbose ON", "verbose"),
            ("/verbose on", "verbose"),
            ("/verbose off", "normal"),
        ):
            await says(harness, said)
            assert (await person(harness)).verbosity == wanted
        assert await says(harness, "/verbose perhaps") == general.VERBOSE_USAGE()


async def test_a_setting_made_by_the_model_applies_to_the_next_message(tmp_path: Path) -> None:
    model = FakeModel(ask(call("settings", '{"language": "de"}')), say("Gut."), say("Ja."))
    async with running(tmp_path, model) as harness:
        await says(harness, "speak German with me")
        await says(harness, "truly?")
        assert (await person(harness)).language == "de"
        assert "Sprache: Deutsch" in await says(harness, "/settings")


async def test_missing_settings_are_asked_for_once(tmp_path: Path) -> None:
    chat = FakeChat()
    model = FakeModel(say("One."), say("Two."))
    async with running(tmp_path, model, chat=chat) as harness:
        await says(harness, "hello")
        await says(harness, "hello again")
        assert "quiet hours" in facts(model, 0)
        assert facts(model, 1).count("quiet hours") == 1, "in the first message still"
    chat.inlet = None
    model = FakeModel(say("Three."))
    async with running(tmp_path, model, chat=chat) as harness:
        await says(harness, "and again")
        assert facts(model).count("quiet hours") == 1
        assert await count(harness, "people", "asked_at IS NOT NULL") == 1


async def test_nothing_is_asked_for_in_a_room(tmp_path: Path) -> None:
    model = FakeModel(say("One."), say("Two."))
    async with running(tmp_path, model) as harness:
        await harness.chat.says("hello", chat="room", direct=False)
        await harness.chat.sees_text("One.")
        await harness.at_rest()
        assert "quiet hours" not in facts(model)
        await says(harness, "hello")
        assert "quiet hours" in facts(model), "but at the first chance in private"


async def test_complete_settings_need_no_question(tmp_path: Path) -> None:
    model = FakeModel(say("One."))
    async with running(tmp_path, model) as harness:
        for said in ("time_zone UTC", "language fr", "quiet_hours night"):
            await says(harness, f"/settings {said}")
        await says(harness, "hello")
        assert "never asked" not in facts(model)


async def test_answers_are_silent_in_quiet_hours_only(tmp_path: Path) -> None:
    model = FakeModel(say("Shh."), say("Morning."))
    async with running(tmp_path, model) as harness:
        await says(harness, "/settings quiet_hours 00:00-23:59")
        await says(harness, "hello")
        assert harness.chat.shown[-1].is_silent
        await says(harness, "/settings quiet_hours off")
        await says(harness, "hello")
        assert not harness.chat.shown[-1].is_silent


async def test_a_person_reads_the_language_they_set(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel()) as harness:
        assert "Sprache: Deutsch" in await says(harness, "/settings language de")
        assert await says(harness, "/queue") == (
            "Keine Nachricht wartet. Schreib eine Nachricht hinter /queue. Ich fange damit an, wenn"
            " die aktuelle Antwort fertig ist."
        )
        assert "Language: the one you write in" in await says(harness, "/settings language auto")
