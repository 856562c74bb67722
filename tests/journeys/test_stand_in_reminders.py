"""Reminders in plain words without a model: dates, places, and all of them at once."""

from tests.emulators.telegram_cast import ANNA
from tests.integration.clock import Clock
from tests.journeys.stage import Stage

STAND_IN = {
    "TALARIA_MODEL__PROVIDER": "scripted",
    "TALARIA_MODEL__NAME": "stand-in",
    "TALARIA_PEOPLE__TIME_ZONE": "Europe/Berlin",
}
NOON = (2026, 11, 30, 11, 8)
"""In UTC: 12:08 in Berlin."""


async def test_what_words_leave_open_is_asked_and_all_can_be_cancelled(deployment: Stage) -> None:
    anna, clock = deployment.account("telegram", ANNA), Clock(*NOON)
    deployment.now = clock
    async with deployment.open(**STAND_IN) as harness:

        async def say(words: str) -> str:
            clock.move(harness, minutes=1)
            return await harness.hears(anna, words)

        async def choose(words: str, label: str) -> str:
            clock.move(harness, minutes=1)
            await harness.notes(anna.says(words))
            await harness.asks(anna, label)
            question = anna.seen()[-1].text
            await harness.press(anna, label)
            return f"{question}\n{anna.seen()[-1].text}"

        await say("/start")
        told = await choose("remind me about the dentist on 3/4/2027 at 9", "Sat 3 Apr, 9:00")
        assert "Which date do you mean" in told
        assert "⏰ Sat 3 Apr, 9:00: the dentist" in told
        told = await choose("remind me on 3/4/2027 at 9 to sing", "No")
        assert "I haven't set the reminder “sing”." in told
        told = await say("remind me tomorrow at 3:30 Tokyo time to join the call")
        assert "⏰ today, 19:30 (Tue, 3:30 in Tokyo): join the call" in told
        told = await say("remind me every Monday at 9 Tokyo time to plan")
        assert "⏰ Every Monday, 9:00 (Tokyo time): plan. Next: Mon 7 Dec, 1:00" in told
        told = await say("remind me on 31 February to run")
        assert told.startswith("I haven't set a reminder. 31 February never occurs.")
        told = await say("remind me 2 days before Christmas Eve to wrap presents")
        assert "22 Dec, 9:00: wrap presents" in told
        await say("/undo")
        told = await say("move plan to 12345 o'clock")
        assert told.startswith("I changed nothing, because I can't read the time in “12345")
        assert "Paused: plan" in await say("pause plan")
        assert "Active again: plan" in await say("resume plan")
        told = await choose("cancel all my reminders", "No, keep")
        assert told.startswith("Delete all 3 reminders?")
        assert told.endswith("I changed no reminder.")
        told = await choose("cancel all my reminders", "Yes, delete")
        assert "Deleted: the dentist" in told
        assert "You have no reminders." in await say("show my reminders")
        await say("/undo")
        told = await say("show my reminders")
        assert [name in told for name in ("dentist", "join the call", "plan")] == [True] * 3
        await say("my quiet hours are from 22 to 6")
        told = await say("every 5 hours remind me to stretch")
        assert "What falls in your quiet time comes when it ends: tomorrow, 6:00." in told


async def test_a_plain_yes_or_no_answers_and_other_words_are_no_answer(deployment: Stage) -> None:
    anna, clock = deployment.account("telegram", ANNA), Clock(*NOON)
    deployment.now = clock
    async with deployment.open(**STAND_IN) as harness:

        async def answer(words: str, label: str, reply: str) -> str:
            clock.move(harness, minutes=1)
            await harness.notes(anna.says(words))
            await harness.asks(anna, label)
            return await harness.hears(anna, reply)

        for language, wish, order, labels, no, yes, kept in (
            ("en", "remind me at 9 to run", "cancel all my reminders",
             ("Yes, delete", "No, keep"), "no", "yes", "I changed no reminder."),
            ("de", "erinnere mich um 9 ans Laufen", "lösche alle meine erinnerungen",
             ("Ja, löschen", "Nein, so lassen"), "nein", "ja, klar",
             "Ich habe keine Erinnerung geändert."),
        ):  # fmt: skip
            await harness.hears(anna, f"/settings language {language}")
            own = await harness.count("jobs", "state = 'active'")  # each home begins with some
            await harness.hears(anna, wish)
            for reply in (no, "never mind"):
                told = await answer(order, labels[1], reply)
                assert told.endswith(kept), reply
                assert "talaria setup" not in told, reply  # the answer is no message of its own
            told = await answer(order, labels[0], "hm")
            assert "talaria setup" in told
            assert kept not in told
            assert await harness.count("jobs", "state = 'active'") == own + 1
            await answer(order, labels[0], yes)
            assert await harness.count("jobs", "state = 'active'") == own

        await harness.hears(anna, "/settings language en")
        assert "none of your reminders fits “dentist”" in await harness.hears(
            anna, "cancel the dentist"
        )
