"""Buttons on each platform: after a restart, text instead of a press, settings, quiet hours."""

from agent_core.shown_settings import VERBOSITIES
from gateway.texts import general
from tests.emulators.telegram_cast import ANNA
from tests.journeys.accounts import asked, texts
from tests.journeys.model_answers import QUESTION
from tests.journeys.platforms import everywhere
from tests.journeys.stage import Stage, call, calls, facts, results


@everywhere
async def test_a_button_pressed_after_a_restart_answers_the_earlier_question(
    deployment: Stage, platform: str
) -> None:
    anna = deployment.account(platform, ANNA)
    async with deployment.open() as harness:
        deployment.plan(calls(QUESTION))
        await harness.notes(anna.says("paint my room"))
        await harness.asks(anna, "Blue")
    async with deployment.open() as harness:
        deployment.plan("Blue it is.")
        assert sum("Which colour?" in text for text in texts(anna)) == 1
        await harness.press(anna, "Blue")
        assert results(deployment.turns[-1]) == ["They chose: Blue"]
        assert texts(anna)[-1] == "Blue it is."
        assert "→ Blue" in texts(anna)[-2]
        assert not any(one.labels for one in anna.seen())


async def test_a_telegram_button_pressed_during_downtime_counts(
    deployment: Stage,
) -> None:
    anna = deployment.account("telegram", ANNA)
    async with deployment.open() as harness:
        deployment.plan(calls(QUESTION))
        await harness.notes(anna.says("paint my room"))
        await harness.asks(anna, "Blue")
    await anna.holds("Blue")()
    async with deployment.open() as harness:
        deployment.plan("Blue it is.")
        await harness.until(lambda: texts(anna)[-1] == "Blue it is.")


@everywhere
async def test_text_answers_a_question_like_its_buttons(deployment: Stage, platform: str) -> None:
    anna = deployment.account(platform, ANNA)
    async with deployment.open() as harness:
        for words in ("blue", "2", "Blue."):
            deployment.plan(calls(QUESTION), "Blue it is.")
            await harness.notes(anna.says("paint my room"))
            await harness.asks(anna, "Blue")
            await harness.takes(anna.says(words))
            assert results(deployment.turns[-1]) == ["They chose: Blue"]
            assert not any(one.labels for one in anna.seen())
        deployment.plan(calls(QUESTION), "Then I leave it.")
        await harness.notes(anna.says("paint my room"))
        await harness.asks(anna, "Blue")
        await harness.takes(anna.says("leave it as it is"))
        assert "wrote something else" in results(deployment.turns[-1])[0]
        assert texts(anna)[-1] == "Then I leave it."


@everywhere
async def test_stop_and_new_close_an_open_question(deployment: Stage, platform: str) -> None:
    anna = deployment.account(platform, ANNA)
    async with deployment.open() as harness:
        for command in ("/stop", "/new"):
            deployment.plan(calls(QUESTION))
            await harness.notes(anna.says("paint my room"))
            await harness.asks(anna, "Blue")
            old = anna.holds("Blue")
            await harness.takes(anna.says(command))
            assert not any(one.labels for one in anna.seen())
            assert any(general.QUESTION_OVER() in text for text in texts(anna))
            turns = len(deployment.turns)
            await harness.takes(old())
            assert len(deployment.turns) == turns


@everywhere
async def test_settings_are_changed_by_buttons_and_stay_changed(
    deployment: Stage, platform: str
) -> None:
    anna = deployment.account(platform, ANNA)
    async with deployment.open() as harness:
        assert "Quiet hours: none" in await harness.hears(anna, "/settings")
        await harness.press(anna, general.QUIET_NIGHT())
        assert "Quiet hours: 22:00-07:00" in asked(anna).text
        await harness.press(anna, VERBOSITIES["verbose"]())
        assert "What you see of my work: Every step" in asked(anna).text
        assert len(anna.seen()) == 1
    async with deployment.open() as harness:
        await harness.press(anna, general.QUIET_OFF())
        assert "Quiet hours: none" in asked(anna).text
        assert "What you see of my work: Every step" in await harness.hears(anna, "/settings")


@everywhere
async def test_nothing_notifies_in_quiet_hours_not_even_an_answer(
    deployment: Stage, platform: str
) -> None:
    anna = deployment.account(platform, ANNA)
    async with deployment.open() as harness:
        await harness.hears(anna, "loud")
        assert anna.seen()[-1].rings
        await harness.hears(anna, "/settings quiet_hours 00:00-23:59")
        await harness.hears(anna, "soft")
        assert anna.seen()[-1].text == "echo: soft"
        assert anna.seen()[-1].rings == (platform == "slack")  # Slack has its own quiet hours


@everywhere
async def test_the_model_changes_settings_and_asks_once(deployment: Stage, platform: str) -> None:
    anna = deployment.account(platform, ANNA)
    async with deployment.open() as harness:
        deployment.plan("Hi! Where do you live, by the way?")
        await harness.hears(anna, "hello")
        unknown = facts(deployment.turns[-1]).split("Not known of them: ")[1]
        assert ("time zone" in unknown) == (platform != "slack")  # Slack's profiles name one
        deployment.plan(calls(call("settings", time_zone="Europe/Vienna", language="de")), "Gern.")
        told = await harness.hears(anna, "my flat is in Vienna, and I would rather read German")
        assert told == "Gern.\n\n⚙ Time zone: Vienna\n⚙ Language: Deutsch"
        assert "time zone Europe/Vienna, language de" in results(deployment.turns[-1])[0]
        await harness.hears(anna, "thanks")
        assert "Not known of them" not in facts(deployment.turns[-1])
        assert "+0100" in facts(deployment.turns[-1]) or "+0200" in facts(deployment.turns[-1])
        shown = await harness.hears(anna, "/settings")
        assert "Zeitzone: Wien" in shown
        assert "Sprache: Deutsch" in shown


async def test_a_person_with_several_accounts_is_asked_once(deployment: Stage) -> None:
    async with deployment.open() as harness:
        telegram, discord, _ = deployment.accounts(ANNA)
        await harness.hears(telegram, "hello")
        assert "Not known of them" in facts(deployment.turns[-1])
        code = (await harness.hears(telegram, "/link")).split("code is ")[1].split()[0]
        await harness.hears(discord, f"/link {code}")
        await harness.press(telegram, "Yes, link them")
        await harness.hears(discord, "hello")
        assert "Not known of them" not in facts(deployment.turns[-1])
