"""Buttons on each platform: after a restart, words instead of a press, settings, quiet hours."""

import pytest

from gateway.texts import general
from tests.emulators.telegram_cast import ANNA
from tests.journeys.accounts import asked, texts
from tests.journeys.stage import Stage, call, calls, facts, results

QUESTION = call("ask", question="Which colour?", options=["Red", "Blue"])

everywhere = pytest.mark.parametrize("platform", ["telegram", "discord", "slack"])


@everywhere
async def test_a_button_pressed_after_a_restart_answers_the_question_that_was_asked_before(
    town: Stage, platform: str
) -> None:
    anna = town.account(platform, ANNA)
    async with town.open() as house:
        town.plan(calls(QUESTION))
        await house.notes(anna.says("paint my room"))
        await house.asks(anna, "Blue")
    async with town.open() as house:
        town.plan("Blue it is.")
        assert sum("Which colour?" in text for text in texts(anna)) == 1
        await house.press(anna, "Blue")
        assert results(town.turns[-1]) == ["They chose: Blue"]
        assert texts(anna)[-1] == "Blue it is."
        assert "→ Blue" in texts(anna)[-2]
        assert not any(one.labels for one in anna.seen())


async def test_a_button_of_telegram_that_was_pressed_while_nobody_listened_counts(
    town: Stage,
) -> None:
    anna = town.account("telegram", ANNA)
    async with town.open() as house:
        town.plan(calls(QUESTION))
        await house.notes(anna.says("paint my room"))
        await house.asks(anna, "Blue")
    await anna.holds("Blue")()
    async with town.open() as house:
        town.plan("Blue it is.")
        await house.until(lambda: texts(anna)[-1] == "Blue it is.")


@everywhere
async def test_words_answer_a_question_as_well_as_its_buttons(town: Stage, platform: str) -> None:
    anna = town.account(platform, ANNA)
    async with town.open() as house:
        for words in ("blue", "2", "Blue."):
            town.plan(calls(QUESTION), "Blue it is.")
            await house.notes(anna.says("paint my room"))
            await house.asks(anna, "Blue")
            await house.takes(anna.says(words))
            assert results(town.turns[-1]) == ["They chose: Blue"]
            assert not any(one.labels for one in anna.seen())
        town.plan(calls(QUESTION), "Then I leave it.")
        await house.notes(anna.says("paint my room"))
        await house.asks(anna, "Blue")
        await house.takes(anna.says("leave it as it is"))
        assert "wrote something else" in results(town.turns[-1])[0]
        assert texts(anna)[-1] == "Then I leave it."


@everywhere
async def test_stop_and_new_take_an_open_question_away(town: Stage, platform: str) -> None:
    anna = town.account(platform, ANNA)
    async with town.open() as house:
        for command in ("/stop", "/new"):
            town.plan(calls(QUESTION))
            await house.notes(anna.says("paint my room"))
            await house.asks(anna, "Blue")
            old = anna.holds("Blue")
            await house.takes(anna.says(command))
            assert not any(one.labels for one in anna.seen())
            assert any(general.QUESTION_OVER() in text for text in texts(anna))
            turns = len(town.turns)
            await house.takes(old())
            assert len(town.turns) == turns


@everywhere
async def test_settings_are_changed_by_buttons_and_stay_changed(town: Stage, platform: str) -> None:
    anna = town.account(platform, ANNA)
    async with town.open() as house:
        assert "Quiet hours: none" in await house.hears(anna, "/settings")
        await house.press(anna, general.QUIET_NIGHT())
        assert "Quiet hours: 22:00-07:00" in asked(anna).text
        await house.press(anna, general.VERBOSITIES["verbose"]())
        assert "Progress: Every step" in asked(anna).text
        assert len(anna.seen()) == 1
    async with town.open() as house:
        await house.press(anna, general.QUIET_OFF())
        assert "Quiet hours: none" in asked(anna).text
        assert "Progress: Every step" in await house.hears(anna, "/settings")


@everywhere
async def test_nothing_rings_in_quiet_hours_not_even_an_answer(town: Stage, platform: str) -> None:
    anna = town.account(platform, ANNA)
    async with town.open() as house:
        await house.hears(anna, "loud")
        assert anna.seen()[-1].rings
        await house.hears(anna, "/settings quiet_hours 00:00-23:59")
        await house.hears(anna, "soft")
        assert anna.seen()[-1].text == "echo: soft"
        assert anna.seen()[-1].rings == (platform == "slack")  # Slack has its own quiet hours


@everywhere
async def test_the_model_sets_what_it_is_told_and_is_asked_to_ask_once(
    town: Stage, platform: str
) -> None:
    anna = town.account(platform, ANNA)
    async with town.open() as house:
        town.plan("Hi! Where do you live, by the way?")
        await house.hears(anna, "hello")
        assert "Not known of them: time zone" in facts(town.turns[-1])
        town.plan(calls(call("settings", time_zone="Europe/Vienna", language="de")), "Gern.")
        assert await house.hears(anna, "in Vienna; German, please") == "Gern."
        assert "time zone Europe/Vienna, language de" in results(town.turns[-1])[0]
        await house.hears(anna, "thanks")
        assert "Not known of them" not in facts(town.turns[-1])
        assert "+0100" in facts(town.turns[-1]) or "+0200" in facts(town.turns[-1])
        shown = await house.hears(anna, "/settings")
        assert "Zeitzone: Europe/Vienna" in shown
        assert "Sprache: de" in shown


async def test_who_is_one_person_is_asked_once_on_all_platforms(town: Stage) -> None:
    async with town.open() as house:
        telegram, discord, _ = town.accounts(ANNA)
        await house.hears(telegram, "hello")
        assert "Not known of them" in facts(town.turns[-1])
        code = (await house.hears(telegram, "/link")).split("code is ")[1].split()[0]
        await house.hears(discord, f"/link {code}")
        await house.press(telegram, "Yes, link them")
        await house.hears(discord, "hello")
        assert "Not known of them" not in facts(town.turns[-1])
