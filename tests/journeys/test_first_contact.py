"""First contact: one greeting that says what the bot can do."""

import re
from pathlib import Path

import pytest

from gateway.interfaces.contexts import open_context
from gateway.operations import people
from gateway.operations.people_types import Approve, CancelCode, Nothing
from tests.emulators.telegram_cast import ANNA, BEN, SUPERGROUP
from tests.integration.accounts import code_in
from tests.integration.clock import Clock
from tests.journeys.rooms import make_room
from tests.journeys.stage import Stage, call, calls, facts
from tools.conversation_picture import read_words, tell
from tools.first_hour import PAGE, PLATFORMS, count_to_useful, describe, picture_of, play

EVERYWHERE = ("telegram", "discord", "slack")
AGAIN = "make the page and its pictures again: make first-hour"


@pytest.mark.parametrize("platform", EVERYWHERE)
async def test_the_owner_is_greeted_once_by_name_with_examples_and_a_time_zone(
    deployment: Stage, platform: str
) -> None:
    anna = deployment.account(platform, ANNA)
    async with deployment.open(allow="", TALARIA_PEOPLE__TIME_ZONE="Europe/Vienna") as harness:
        await harness.hears(anna, f"/claim {harness.gateway.claim_code}")
        (greeting,) = anna.seen()
        print(greeting)
        assert ("Person11" if platform == "discord" else "Anna") in greeting.text
        assert "you're now the owner" in greeting.text
        assert "feed the dog" in greeting.text
        assert "Owner" not in await harness.hears(anna, "/whoami")
        # The owner has set it up, so nobody asks again, and Slack's "Berlin" does not count.
        assert "for you (Vienna time)" in greeting.text
        await harness.press(anna, "Quiet from 22:00 to 07:00")
        assert "quiet hours are 22:00-07:00" in anna.seen()[0].text
        await harness.press(anna, "Deutsch")
        assert "Erinnere mich" in anna.seen()[0].text
        deployment.plan("Gern.")
        assert await harness.hears(anna, "Danke!") == "Gern."
        assert "Not known of them" not in facts(deployment.turns[-1])
        assert "They want answers in: de" in facts(deployment.turns[-1])
        again = await harness.hears(anna, "/start")
        assert "Besitzer" not in again, "that is said only once"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("Vienna", "(Vienna time)"),
        ("I live in New York", "(New York time)"),
        ("UTC+2", "(UTC+2 time)"),
        ("10pm-7am", "Which time zone"),
        ("Vienna, 22-7", "(Vienna time). Your quiet hours are 22:00-07:00"),
        ("Ich wohne in Wien, sprich Deutsch", "(Zeit von Wien), und ich antworte auf Deutsch."),
    ],
)
async def test_plain_text_after_the_greeting_is_understood(
    stage: Stage, words: str, said: str
) -> None:
    async with stage.open() as harness:
        greeting = await harness.ask(ANNA, "/start")
        assert "Which time zone" in greeting
        assert said in await harness.ask(ANNA, words)
        assert stage.turns == []
        stage.plan("Which city shall I look up?", "It rains in Paris.")
        await harness.ask(ANNA, "How is the weather?")
        assert await harness.ask(ANNA, "Paris") == "It rains in Paris."


async def test_the_greeting_is_answered_after_another_message_too(stage: Stage) -> None:
    """The first message gets the greeting and an answer; only then is the greeting answered."""
    settings = {"TALARIA_MODEL__PROVIDER": "scripted", "TALARIA_MODEL__NAME": "stand-in"}
    async with stage.open(
        TALARIA_PEOPLE__TIME_ZONE="Europe/Berlin", TALARIA_ACCESS__GREET="true", **settings
    ) as harness:
        await harness.ask(ANNA, "hello")
        greeting = stage.telegram.messages(ANNA)[-2].text
        assert "for me in Berlin, and I answer in the language you write in." in greeting
        assert greeting.endswith("your city, your language, or quiet hours like “22-7”.")
        assert "(Vienna time). Your quiet hours are 22:00-07:00" in await harness.ask(
            ANNA, "Vienna, quiet 22-7"
        )
        assert "(Lisbon time). Your quiet hours are 22:00-07:00" in await harness.ask(
            ANNA, "no, Lisbon"
        )
        assert await harness.ask(ANNA, "German please") == "⚙ Sprache: Deutsch"


async def test_a_setting_said_before_a_city_is_known_gets_its_receipt_and_an_undo(
    stage: Stage,
) -> None:
    anna = stage.account("telegram", ANNA)
    async with stage.open() as harness:
        await harness.ask(ANNA, "/start")
        told = await harness.ask(ANNA, "please don't disturb me between 22 and 7")
        assert told.startswith("⚙ Quiet hours: 22:00-07:00\n\nWhich time zone are you in?")
        await harness.press(anna, "Undo")
        assert "Quiet hours: 22:00" not in await harness.ask(ANNA, "/settings")
        told = await harness.ask(ANNA, "Vienna, German")
        assert told.startswith("⚙ Zeitzone: Wien\n⚙ Sprache: Deutsch\n\nBei dir ist es")


async def test_wishes_count_in_the_first_hour_and_what_is_told_does_not(stage: Stage) -> None:
    settings = {"TALARIA_MODEL__PROVIDER": "scripted", "TALARIA_MODEL__NAME": "stand-in"}
    async with stage.open(**settings) as harness:
        await harness.ask(ANNA, "/start vienna")
        for words in ("I have Friday off", "it's quiet at night", "I won't write on Sundays"):
            assert "⚙" not in await harness.ask(ANNA, words), words
        assert await harness.ask(ANNA, "weekends off") == "⚙ Days off: Sat, Sun"
        told = await harness.ask(ANNA, "only answers please")
        assert told == "⚙ What you see of my work: Answers only"
        told = await harness.ask(ANNA, "show me every step")
        assert "⚙ What you see of my work: Every step" in told
        told = await harness.ask(ANNA, "Lisbon, Sundays off")
        assert "(Lisbon time)" in told
        assert "wrong?" not in told
        assert told.startswith("⚙ Time zone: Lisbon\n⚙ Days off: Sun\n")
        assert "Days off as before: Sat, Sun" in await harness.ask(ANNA, "/undo")


@pytest.mark.parametrize("comes_first", [True, False])
@pytest.mark.parametrize(
    ("words", "city", "name"),
    [
        ("hi! I live in Lisbon, call me Nan", "Lisbon", "Wants to be called Nan"),
        ("Lisbon, and call me Nan", "Lisbon", "Wants to be called Nan"),
        ("ich wohne in Graz, nenn mich Nan", "Wien", "Möchte Nan genannt werden"),
    ],
)
async def test_a_city_and_a_name_are_both_kept(
    stage: Stage, words: str, city: str, name: str, *, comes_first: bool
) -> None:
    settings = {"TALARIA_MODEL__PROVIDER": "scripted", "TALARIA_MODEL__NAME": "stand-in"}
    async with stage.open(TALARIA_ACCESS__GREET="true", **settings) as harness:
        if not comes_first:
            assert "Which time zone" in await harness.ask(ANNA, "hello")
        said = await harness.ask(ANNA, words)
        assert name in said
        if comes_first:
            assert "Which time zone" not in said
        assert name in await harness.ask(ANNA, "/memory")
        assert city in await harness.ask(ANNA, "/settings")


async def test_a_time_that_answers_the_stand_in_sets_no_quiet_hours(stage: Stage) -> None:
    settings = {"TALARIA_MODEL__PROVIDER": "scripted", "TALARIA_MODEL__NAME": "stand-in"}
    async with stage.open(**settings) as harness:
        await harness.ask(ANNA, "/start vienna")
        assert "When should I" in await harness.ask(ANNA, "remind me to call Bob")
        assert "Quiet hours" not in await harness.ask(ANNA, "9-10")
        assert "Quiet hours: 09:00" not in await harness.ask(ANNA, "/settings")
        assert "⚙ Quiet hours: 21:00-06:00" in await harness.ask(ANNA, "quiet from 9pm to 6am")


async def test_a_reply_that_answers_no_question_of_a_model_is_read_by_code(stage: Stage) -> None:
    async with stage.open() as harness:
        stage.plan("Hi! How can I help?", "Paris it is.")
        await harness.ask(ANNA, "hello")
        assert "(Vienna time). Your quiet hours are 22:00-07:00" in await harness.ask(
            ANNA, "Vienna, quiet 22-7"
        )
        assert await harness.ask(ANNA, "Paris") == "Paris it is."


async def test_a_newcomers_app_provides_the_language_and_no_time_zone(stage: Stage) -> None:
    """German is spoken in New York, too: the home's zone counts until they name their own."""
    stage.telegram.user(BEN, "Ben", language="de")
    async with stage.open(TALARIA_PEOPLE__TIME_ZONE="America/New_York") as harness:
        greeting = await harness.ask(BEN, "/start")
        assert greeting.startswith("Hallo Ben")
        assert "Bei mir in New York ist es" in greeting
        assert stage.telegram.messages(BEN)[-1].labels[:2] == ["New York", "Berlin"]
        assert "(Zeit von Berlin)" in await harness.ask(BEN, "Berlin")


async def test_the_language_that_a_newcomer_writes_wins_over_their_apps(stage: Stage) -> None:
    stage.telegram.user(BEN, "Ben", language="de")
    stage.telegram.user(ANNA, "Anna", language="en")
    async with stage.open() as harness:
        assert (await harness.ask(BEN, "/start")).startswith("Hallo Ben")
        await harness.ask(BEN, "what can you do for me?")
        assert "There's no reminder 7" in await harness.ask(BEN, "/reminders pause 7")
        await harness.ask(ANNA, "Kannst du mich morgen an den Müll erinnern?")
        assert "keine Erinnerung 7" in await harness.ask(ANNA, "/reminders pause 7")


async def test_the_words_of_the_first_hour_change_no_language_that_was_chosen(
    stage: Stage,
) -> None:
    anna = stage.account("telegram", ANNA)
    async with stage.open() as harness:
        await harness.hears(anna, "/start")
        assert "English" in await harness.hears(anna, "/settings language en")
        stage.plan("Das merke ich mir.")
        await harness.hears(anna, "merk dir bitte, dass ich gerne Käse mag")
        assert "Language: English" in await harness.hears(anna, "/settings")


async def test_a_pasted_text_changes_no_language_after_the_first_hour(stage: Stage) -> None:
    stage.telegram.user(ANNA, "Anna", language="en")
    stage.now = clock = Clock(2026, 11, 20, 12, 0)
    async with stage.open() as harness:
        await harness.ask(ANNA, "hello")
        clock.move(harness, hours=2)
        await harness.ask(ANNA, "Kannst du mich morgen an den Müll erinnern?")
        assert "There's no reminder 7" in await harness.ask(ANNA, "/reminders pause 7")


async def test_words_that_were_only_passed_on_set_no_language(stage: Stage) -> None:
    german = "Kannst du mich morgen an den Müll erinnern?"
    passed = (
        f"> {german}",
        f"```\n{german}\n```",
        f"what does „{german}“ mean?",
        f"From: Ben\nSubject: Müll\n\n{german}\n\nDanke und bis morgen,\nBen",
        f"Hallo Anna,\n\n{german} Es ist nicht so wichtig.\n\nUnd noch etwas: Was machst du heute?",
    )
    async with stage.open() as harness:
        await harness.ask(ANNA, "hello there")
        for text in passed:
            await harness.ask(ANNA, text)
            assert "There's no reminder 7" in await harness.ask(ANNA, "/reminders pause 7"), text
        origin = {"type": "hidden_user", "sender_user_name": "Ben", "date": 1}
        await harness.ask(ANNA, german, forward_origin=origin)
        assert "There's no reminder 7" in await harness.ask(ANNA, "/reminders pause 7")
        await harness.ask(ANNA, german)
        assert "keine Erinnerung 7" in await harness.ask(ANNA, "/reminders pause 7")


async def test_an_approved_person_is_greeted_in_their_apps_language(stage: Stage) -> None:
    stage.telegram.user(BEN, "Ben", language="de")
    async with stage.open(allow="") as harness:
        await harness.ask(ANNA, f"/claim {harness.gateway.claim_code}")
        code = code_in(await harness.ask(BEN, "Hallo"))
        await harness.ask(ANNA, f"/approve {code}")
        greeting = stage.telegram.messages(BEN)[-1]
        assert greeting.text.startswith("Hallo Ben!")
        assert "In welcher Zeitzone" in greeting.text


@pytest.mark.parametrize("platform", EVERYWHERE)
async def test_an_owner_hears_once_who_waits_and_lets_them_in_by_a_button(
    deployment: Stage, platform: str
) -> None:
    anna, ben = deployment.account(platform, ANNA), deployment.account(platform, BEN)
    async with deployment.open(allow="") as harness:
        await harness.hears(anna, f"/claim {harness.gateway.claim_code}")
        await harness.takes(ben.says("hello?"))
        await harness.takes(ben.says("anybody?"))
        await harness.at_rest()
        told = [one for one in anna.seen() if "waits to be let in" in one.text]
        assert len(told) == 1
        await harness.press(anna, "Let them in")
        await harness.at_rest()
        assert "can now talk" in anna.seen()[-1].text
        assert ben.seen()[-1].text.startswith("Hi ")
        assert await harness.hears(ben, "hello again") == "echo: hello again"


async def test_an_old_button_says_that_the_person_is_in_already(stage: Stage) -> None:
    anna = stage.account("telegram", ANNA)
    async with stage.open(allow="") as harness:
        await harness.ask(ANNA, f"/claim {harness.gateway.claim_code}")
        await harness.ask(BEN, "hello?")
        await harness.at_rest()
        context = open_context(harness.gateway)
        (waiting,) = (await people.list_entrances(context, Nothing())).waiting
        await people.approve(context, Approve(number=waiting.number))
        await harness.press(anna, "Let them in")
        await harness.at_rest()
        assert anna.seen()[-1].text == "“Ben” can talk to me already."


async def test_whoever_waits_is_listed_once_and_refused_with_all_their_codes(
    stage: Stage,
) -> None:
    stage.now = clock = Clock(2026, 11, 20, 12, 0)
    async with stage.open(allow="") as harness:
        await harness.ask(ANNA, f"/claim {harness.gateway.claim_code}")
        given = []
        for text in ("hello?", "anybody?"):
            given.append(code_in(await harness.ask(BEN, text)))
            clock.move(harness, hours=2)
        context = open_context(harness.gateway)
        (waiting,) = (await people.list_entrances(context, Nothing())).waiting
        await people.cancel(context, CancelCode(number=waiting.number))
        assert not (await people.list_entrances(context, Nothing())).waiting
        for code in given:
            assert "isn't waiting any more" in await harness.ask(ANNA, f"/approve {code}")


async def test_an_approved_person_is_greeted_by_name(stage: Stage) -> None:
    async with stage.open(allow="") as harness:
        await harness.ask(ANNA, f"/claim {harness.gateway.claim_code}")
        code = code_in(await harness.ask(BEN, "hello"))
        await harness.ask(ANNA, f"/approve {code}")
        greeting = stage.telegram.messages(BEN)[-1]
        assert greeting.text.startswith("Hi Ben!")
        assert "London" in greeting.labels


@pytest.mark.parametrize("platform", EVERYWHERE)
async def test_a_person_on_the_allowlist_is_greeted_once_before_their_first_answer(
    deployment: Stage, platform: str
) -> None:
    anna = deployment.account(platform, ANNA)
    room = str(SUPERGROUP) if platform == "telegram" else make_room(deployment, platform).id
    async with deployment.open(TALARIA_ACCESS__GREET="true") as harness:
        assert await harness.hears(anna, "hello", room=room) == "echo: hello"
        await harness.hears(anna, "What is a llama?")
        greeting, answer = anna.seen()
        print(greeting)
        assert greeting.text.startswith("Hi ")
        assert "feed the dog" in greeting.text
        assert answer.text == "echo: What is a llama?"
        assert (greeting.rings, answer.rings) == (
            platform == "slack",
            True,
        )  # which always notifies
        assert "Not known of them" not in facts(deployment.turns[-1])
        assert "a greeting that asks for" in facts(deployment.turns[-1])
        if platform != "slack":  # it knows where people live
            await harness.press(anna, "London")
        assert "for you (" in anna.seen()[0].text
        assert await harness.hears(anna, "And an alpaca?") == "echo: And an alpaca?"
        assert len(anna.seen()) == 3


async def test_the_profile_provides_the_time_zone_if_the_first_message_is_a_command(
    deployment: Stage,
) -> None:
    anna = deployment.account("slack", ANNA)
    async with deployment.open() as harness:
        await harness.hears(anna, "/status")
        assert await harness.count("people", "time_zone = 'Europe/Berlin'") == 1


@pytest.mark.parametrize("platform", EVERYWHERE)
async def test_the_owner_links_a_platform_from_the_console(
    deployment: Stage, platform: str
) -> None:
    anna = deployment.account(platform, ANNA)
    async with deployment.open(allow="") as harness, harness.terminal() as terminal:
        assert f"Link {platform.capitalize()}" in await terminal.ask("/start")
        offered = await terminal.ask(f"/link {platform}")
        code = code_in(offered)
        if platform == "telegram":
            found = re.search(r"https://t\.me/talaria_bot\?start=(\S+)", offered)
            assert found
            await harness.hears(anna, f"/start {found[1]}")  # what Telegram sends for the link
        else:
            assert f"link {code}`" in offered
            bot, slack = deployment.discord.user_id, deployment.slack.world.app
            address = {
                "discord": f"https://discord.com/users/{bot} ",
                "slack": f"https://slack.com/app_redirect?app={slack.app_id}&team={slack.team_id} ",
            }[platform]
            assert address in offered
            await harness.hears(anna, f"/link {code}")
        assert "Is that account yours?" in [*terminal.shown.values()][-1]
        assert terminal.link
        await harness.takes(terminal.link.say("1"))
        assert "you are now one person" in anna.seen()[-1].text
        name = "Person11" if platform == "discord" else "anna" if platform == "slack" else "Anna"
        assert f"You are {name} (owner)" in await terminal.ask("/whoami")
        assert "Link " + platform.capitalize() not in await terminal.ask("/start")


async def test_the_stand_in_keeps_the_reminders_that_it_offers(stage: Stage) -> None:
    settings = {"TALARIA_MODEL__PROVIDER": "scripted", "TALARIA_MODEL__NAME": "stand-in"}
    async with stage.open(**settings) as harness:
        await harness.ask(ANNA, "/start vienna")
        assert "9:00" in await harness.ask(ANNA, "Remind me tomorrow at 9 to feed the dog")
        anna = stage.account("telegram", ANNA)
        told = await harness.hears(anna, "every weekday at 8 check the mail")
        assert told.startswith("I'll remind you.\n\n⏰ Monday to Friday, 8:00: check the mail.")
        jobs = await harness.ask(ANNA, "/jobs")
        assert "feed the dog" in jobs
        assert "check the mail" in jobs


async def test_the_stand_in_answers_in_the_persons_language(stage: Stage) -> None:
    stage.telegram.user(BEN, "Ben", language="de")
    settings = {"TALARIA_MODEL__PROVIDER": "scripted", "TALARIA_MODEL__NAME": "stand-in"}
    async with stage.open(**settings) as harness:
        shown = await harness.ask(BEN, "Wie wird das Wetter?")
        assert shown.startswith("Ich bin nur Talarias Platzhalter")
        assert "Du hast geschrieben: „Wie wird das Wetter?“." in shown
        assert "erinnere mich morgen um 9" in shown
        told = await harness.ask(BEN, "Merk dir, dass ich Tee mag")
        assert told == "Das merke ich mir.\n\n📝 Gemerkt: ich mag Tee"
        shown = await harness.ask(BEN, "Und morgen?")
        assert shown.startswith("Ich kann bisher nur einfache Dinge")
        told = await harness.ask(BEN, "/digest meine Woche")
        assert told.startswith("/digest braucht ein Sprachmodell; ein Besitzer verbindet es")
        assert "I am only" in await harness.ask(ANNA, "What is the weather?")
        told = await harness.ask(ANNA, "Erinnere mich morgen um 9 den Hund zu füttern")
        assert told.startswith("Ich erinnere dich.\n\n⏰ "), (
            "the receipt is in one language with it"
        )
        assert "9:00" in told
        assert "tomorrow" not in told


@pytest.mark.parametrize("platform", PLATFORMS)
async def test_the_first_useful_answer_takes_at_most_three_messages(
    tmp_path: Path, platform: str
) -> None:
    hour = await play(platform, tmp_path / "home")
    assert count_to_useful(hour) <= 3
    page = PAGE.read_text("utf-8")
    assert [line for line in describe([hour]).splitlines() if line not in page] == [], AGAIN
    assert read_words(picture_of(platform)) == tell(hour.lines()), AGAIN


async def test_a_new_city_asks_whether_to_move_jobs(stage: Stage) -> None:
    daily = call("schedule", action="create", kind="message", text="Stretch", cron="0 8 * * *")
    anna = stage.account("telegram", ANNA)
    async with stage.open() as harness:
        await harness.ask(ANNA, "/start vienna")
        stage.plan(calls(daily), "Every day at 8.")
        await harness.hears(anna, "remind me every day at 8 to stretch")
        shown = await harness.ask(ANNA, "/start tokyo")
        assert "Tokyo time" in shown
        assert "the time zone Vienna" in shown


async def test_help_says_what_the_bot_is_for(stage: Stage) -> None:
    async with stage.open() as harness:
        shown = await harness.ask(ANNA, "/help")
        assert shown.startswith("I answer questions, keep things in mind and remind you on time.")
        assert "feed the dog" in shown


async def test_a_move_that_asks_about_reminders_can_be_undone_with_a_button(stage: Stage) -> None:
    anna = stage.account("telegram", ANNA)
    async with stage.open() as harness:
        await harness.hears(anna, "/settings time_zone Berlin")
        stage.plan(calls(call("remind", text="Call Ben.", when="tomorrow 15:00")), "Set.")
        await harness.hears(anna, "remind me tomorrow at 15:00 to call Ben")
        for words in ("/settings time_zone Lisbon", "/start Lisbon"):
            assert "Lisbon" in await harness.hears(anna, words)
            assert anna.seen()[-1].labels[0] == "Undo"
            assert len(anna.seen()[-1].labels) > 1
            await harness.press(anna, "Undo")
            assert "Time zone: Berlin" in await harness.hears(anna, "/settings")
