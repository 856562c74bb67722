"""`/undo` takes back the last deed of a person in a chat, whatever it was, and says which."""

import re
from random import Random

import pytest

from agent_core.state.engine.database import Connection
from tests.emulators.telegram_cast import ANNA, BEN, SUPERGROUP
from tests.integration.clock import Clock
from tests.journeys.platforms import everywhere
from tests.journeys.stage import Harness, Stage, call, calls, make_owner

NOON = (2026, 11, 20, 12, 0, 20)
"""A Friday."""


@everywhere
async def test_undo_takes_back_deeds_from_the_newest_to_the_oldest(
    deployment: Stage, platform: str
) -> None:
    anna, clock = deployment.account(platform, ANNA), Clock(*NOON)
    deployment.now = clock
    async with deployment.open() as harness:
        await harness.hears(anna, "/settings time_zone UTC")
        deployment.plan(calls(call("memory", action="add", target="user", text="Likes tea")), "Ok.")
        await harness.hears(anna, "remember that I like tea")
        clock.move(harness, minutes=1)
        deployment.plan(calls(call("remind", text="Call Ben.", when="today 15:00")), "Set.")
        await harness.hears(anna, "remind me at 15:00 to call Ben")
        clock.move(harness, minutes=1)
        await harness.hears(anna, "/settings language de")
        clock.move(harness, minutes=1)
        await harness.hears(anna, "/reminders pause 4")
        clock.move(harness, minutes=1)

        assert "Call Ben" in (told := await harness.hears(anna, "/undo"))
        assert told.startswith("↩ Zurückgenommen. ")
        assert await harness.hears(anna, "/rückgängig") == (
            "↩ Taken back. Language as before: not set"
        )
        told = await harness.hears(anna, "Undo that, please!")
        assert told.replace("*", "").startswith("↩ Taken back. I've deleted Call Ben. /reminders")
        assert "Likes tea" in await harness.hears(anna, "/memory")
        assert "Likes tea" in await harness.hears(anna, "/undo")
        assert "Likes tea" not in await harness.hears(anna, "/memory")


@everywhere
async def test_undo_takes_back_an_answer_to_a_reminder_and_names_one_that_has_come(
    deployment: Stage, platform: str
) -> None:
    anna, clock = deployment.account(platform, ANNA), Clock(*NOON)
    deployment.now = clock
    async with deployment.open() as harness:
        await harness.hears(anna, "/settings time_zone UTC")
        deployment.plan(calls(call("remind", text="Call Ben.", when="today 15:00")), "Set.")
        await harness.hears(anna, "remind me at 15:00 to call Ben")
        count = len(anna.seen())
        clock.move(harness, hours=3)
        await harness.until(lambda: len(anna.seen()) == count + 1)
        await harness.press(anna, "+1 h")
        told = await harness.hears(anna, "/undo")
        assert told == "⏰ Call Ben.\n↩ Undone. The reminder is no longer put off: Call Ben."
        assert "“Call Ben.” has come already" in await harness.hears(anna, "/undo")
        assert "Time zone: UTC\nShall I take it back?" in await harness.hears(anna, "/undo")
        await harness.press(anna, "Undo")
        assert "Time zone as before" in anna.seen()[-1].text


@everywhere
async def test_undo_takes_back_a_switched_tool_and_a_done(deployment: Stage, platform: str) -> None:
    anna, clock = deployment.account(platform, ANNA), Clock(*NOON)
    deployment.now = clock
    async with deployment.open() as harness:
        deployment.plan(calls(call("remind", text="Call Ben.", when="in 2 hours")), "Set.")
        await harness.hears(anna, "remind me in 2 hours to call Ben")
        count = len(anna.seen())
        clock.move(harness, hours=3)
        await harness.until(lambda: len(anna.seen()) == count + 1)
        await harness.press(anna, "Done")
        await harness.hears(anna, "/tools off recall")
        told = await harness.hears(anna, "/undo")
        assert told == "↩ Taken back. Turned back on here: search earlier conversations."
        told = await harness.hears(anna, "/undo")
        assert told.startswith("⏰ Call Ben.")
        assert told.endswith("\n↩ Undone. The reminder is open again: Call Ben.")


async def test_undo_that_asks_before_it_takes_back_an_old_change(deployment: Stage) -> None:
    anna, clock = deployment.account("telegram", ANNA), Clock(*NOON)
    deployment.now = clock
    async with deployment.open() as harness:
        await harness.hears(anna, "/settings language de")
        clock.move(harness, hours=5)
        told = await harness.hears(anna, "Mach das rückgängig")
        assert told.startswith(
            "Die letzte Änderung hier, die ich zurücknehmen kann, liegt länger zurück"
        )
        assert "Sprache: Deutsch" in told
        await harness.press(anna, "Zurücknehmen")
        assert anna.seen()[-1].text == "↩ Taken back. Language as before: not set"


async def test_undo_brings_back_what_was_just_deleted_and_leaves_what_undo_took(
    deployment: Stage,
) -> None:
    anna, clock = deployment.account("telegram", ANNA), Clock(*NOON)
    deployment.now = clock
    async with deployment.open() as harness:
        for text in ("Call Ben.", "Feed the dog."):
            clock.move(harness, minutes=1)
            deployment.plan(calls(call("remind", text=text, when="today 15:00")), "Set.")
            await harness.hears(anna, f"remind me at 15:00: {text}")
        clock.move(harness, minutes=1)
        await harness.hears(anna, "/reminders delete dog")
        assert "Feed the dog is as it was." in await harness.hears(anna, "/undo")
        clock.move(harness, minutes=1)
        await harness.press(anna, "Undo")
        assert "I've deleted Call Ben." in await harness.hears(anna, "/undo")


@pytest.mark.parametrize(
    ("said", "labels"),
    [
        ("Cancel all my reminders", ("Undo all 2", "Bring it back")),
        ("Bitte lösch alles", ("Alle 2 zurücknehmen", "Zurückholen")),
    ],
)
async def test_reminders_that_were_all_cancelled_come_back_at_once(
    deployment: Stage, said: str, labels: tuple[str, str]
) -> None:
    anna, clock = deployment.account("telegram", ANNA), Clock(*NOON)
    deployment.now = clock
    async with deployment.open() as harness:
        for text in ("Call Ben.", "Feed the dog."):
            clock.move(harness, minutes=1)
            deployment.plan(calls(call("remind", text=text, when="today 15:00")), "Set.")
            await harness.hears(anna, f"remind me at 15:00: {text}")
        for text in ("Hi", "Nice weather", "It rains"):  # what was said before names no reminder
            clock.move(harness, minutes=1)
            deployment.plan("Yes.")
            await harness.hears(anna, text)
        clock.move(harness, minutes=1)
        deletes = [call("manage_jobs", action="delete", job=job) for job in ("Ben", "dog")]
        deployment.plan(calls(*deletes), "Done.")
        told = await harness.hears(anna, said)
        assert "Call Ben" in told
        assert "Feed the dog" in told
        assert labels[0] in anna.seen()[-1].labels

        async def list_titles() -> list[str]:
            clock.move(harness, minutes=1)
            listed = await harness.hears(anna, "/reminders")
            return [title for title in ("Call Ben", "Feed the dog") if title in listed]

        assert await list_titles() == []
        told = await harness.hears(anna, "/undo")
        assert "Call Ben" in told
        assert "Feed the dog" in told
        assert await list_titles() == ["Call Ben", "Feed the dog"]
        await harness.press(anna, labels[1])
        assert await list_titles() == []
        await harness.hears(anna, "/undo")
        assert await list_titles() == ["Call Ben", "Feed the dog"]
        # The deed is used up: the next one is the reminder that was set last.
        assert "Feed the dog" in await harness.hears(anna, "/undo")
        assert await list_titles() == ["Call Ben"]


async def test_reminders_of_one_wish_are_one_deed_of_which_some_may_have_come(
    deployment: Stage,
) -> None:
    anna, clock = deployment.account("telegram", ANNA), Clock(*NOON)
    deployment.now = clock
    async with deployment.open() as harness:
        whens = {
            "Call Ben.": "today 15:00",
            "Feed the dog.": "today 18:00",
            "Sleep.": "today 22:00",
        }
        made = [call("remind", text=text, when=when) for text, when in whens.items()]
        deployment.plan(calls(*made), "Set.")
        told = await harness.hears(
            anna, "Remind me to call Ben at 15, feed the dog at 18, sleep at 22"
        )
        assert all(text.rstrip(".") in told for text in whens)
        await harness.press(anna, "Undo: Sleep.")
        clock.move(harness, minutes=1)
        await harness.hears(anna, "/undo")  # of the press: all three stand again
        count = len(anna.seen())
        clock.move(harness, hours=4)
        await harness.until(lambda: len(anna.seen()) > count)
        assert "made earlier" in (told := await harness.hears(anna, "/undo"))
        assert all(text.rstrip(".") in told for text in whens)
        await harness.press(anna, "Undo")
        told = anna.seen()[-1].text.replace("*", "")
        assert told.startswith("↩ Taken back. I've deleted Sleep.")
        assert "I've deleted Feed the dog." in told
        assert "Call Ben" not in told


async def test_undo_gives_a_note_to_those_only_who_saw_it_before(deployment: Stage) -> None:
    anna, clock = deployment.account("telegram", ANNA), Clock(*NOON)
    deployment.now, group = clock, str(SUPERGROUP)
    async with deployment.open() as harness:
        deployment.plan(calls(call("memory", action="add", target="user", text="Likes tea")), "Ok.")
        await harness.hears(anna, "remember that I like tea")
        number = re.findall(r"(\d+): Likes tea", await harness.hears(anna, "/memory"))[0]

        async def tell(command: str, room: str | None = None) -> str:
            clock.move(harness, minutes=1)
            await harness.hears(anna, command, room=room)
            listed = await harness.hears(anna, "/memory")
            return listed.partition("Likes tea")[2].partition(")")[0]

        # What hid nothing is no deed: the setting before it is taken back.
        await tell("/settings language en")
        assert "private" in await tell(f"/share {number} private")
        assert "private" in await tell("/undo")
        assert "everyone" not in await tell(f"/share {number}", room=group)
        shown = await tell("/memory")
        assert "private" not in shown
        assert "private" in await tell(f"/share {number} private")
        assert await tell("/undo") == shown
        assert "everyone" in await tell(f"/share {number}")
        assert await tell("/undo") == shown


async def test_what_changed_nothing_is_not_taken_back(deployment: Stage) -> None:
    anna, clock = deployment.account("telegram", ANNA), Clock(*NOON)
    deployment.now = clock
    async with deployment.open() as harness:
        deployment.plan(calls(call("remind", text="Call Ben.", when="today 15:00")), "Set.")
        await harness.hears(anna, "remind me at 15:00 to call Ben")
        done = ("/reminders pause ben", "/tools off recall", "/settings language de")
        for command in (*done, *done[:2]):
            clock.move(harness, minutes=1)
            await harness.hears(anna, command)
        clock.move(harness, minutes=1)
        told = [await harness.hears(anna, "/undo")]
        assert told[0].startswith("Deine letzte Nachricht hat nichts geändert")
        assert "Hier ausgeschaltet" in told[0]
        assert "Sprache: Deutsch" in told[0]
        told = [await harness.hears(anna, "/undo") for _ in done]
        assert "Language as before" in told[0]
        assert "search earlier conversations" in told[1]
        assert "Call Ben" in told[2]


async def test_a_command_without_effect_names_the_deed_before_it_and_asks(
    deployment: Stage,
) -> None:
    anna, clock = deployment.account("telegram", ANNA), Clock(*NOON)
    deployment.now = clock
    async with deployment.open() as harness:
        await harness.hears(anna, "/settings language de")
        deployment.plan(calls(call("remind", text="Ben anrufen.", when="today 15:00")), "Ok.")
        await harness.hears(anna, "erinnere mich um 15 Uhr, Ben anzurufen")
        await harness.hears(anna, "/sprache deutsch")
        told = await harness.hears(anna, "/undo")
        assert "hat nichts geändert, was ich zurücknehmen kann (Sprache: Deutsch)" in told
        assert "Ben anrufen" in told
        await harness.press(anna, "Zurücknehmen")
        assert "Ben anrufen" in anna.seen()[-1].text
        assert anna.seen()[-1].text.startswith("↩ Zurückgenommen.")
        assert "Sprache wie zuvor" not in anna.seen()[-1].text


@everywhere
async def test_an_answer_to_the_greeting_is_one_deed(deployment: Stage, platform: str) -> None:
    anna, clock = deployment.account(platform, ANNA), Clock(*NOON)
    deployment.now = clock
    async with deployment.open() as harness:
        await harness.hears(anna, "/start")
        told = await harness.hears(anna, "/start Vienna, 22-7")
        assert "Vienna" in told
        told = await harness.hears(anna, "/undo")
        assert re.fullmatch(
            r"↩ Taken back\. Time zone as before: (not set|Berlin);"
            r" Quiet hours as before: not set",
            told,
        )
        await harness.press(anna, "Bring it back")
        assert "22:00" in await harness.hears(anna, "/settings")
        assert "Quiet hours as before: not set" in await harness.hears(anna, "/undo")


async def test_every_undo_of_a_deed_can_be_brought_back_and_undone_again_after_a_restart(
    deployment: Stage,
) -> None:
    anna, clock = deployment.account("telegram", ANNA), Clock(*NOON)
    deployment.now = clock
    async with deployment.open() as harness:
        deployment.plan("Hello.")
        await harness.hears(anna, "hello")
    for command, sign in (
        ("/settings verbosity quiet", "Answers only"),
        ("/sethome", "Reminders come to"),
        ("/title Trip to Graz", "Trip to Graz"),
        ("/tools off recall", "search earlier conversations"),
        ("/learned ask", "Learning as before: Ask first"),
    ):
        async with deployment.open() as harness:
            await harness.hears(anna, command)
        async with deployment.open() as harness:
            assert (await harness.hears(anna, "/undo")).startswith("↩ Taken back.")
        async with deployment.open() as harness:
            await harness.press(anna, "Bring it back")
            assert sign in anna.seen()[-1].text
            again = await harness.hears(anna, "/undo")
            assert again.startswith("↩ Taken back."), again


async def test_the_name_and_the_mode_of_a_group_are_taken_back(deployment: Stage) -> None:
    anna, clock = deployment.account("telegram", ANNA), Clock(*NOON)
    deployment.now, group = clock, str(SUPERGROUP)
    async with deployment.open() as harness:
        await harness.hears(anna, "/start")
        await make_owner(harness, "Anna")
        await harness.hears(anna, "/room", room=group)
        before = await harness.hears(anna, "/room", room=group)
        assert "Choir" in await harness.hears(anna, "/room name Choir", room=group)
        await harness.hears(anna, "/room room", room=group)
        assert "Taken back" in await harness.hears(anna, "/undo", room=group)
        assert "Taken back" in await harness.hears(anna, "/undo", room=group)
        assert await harness.hears(anna, "/room", room=group) == before


@pytest.mark.parametrize("language", ["en", "de"])
async def test_an_undo_and_its_button_speak_the_language_that_counts_then(
    deployment: Stage, language: str
) -> None:
    anna, clock = deployment.account("telegram", ANNA), Clock(*NOON)
    deployment.now = clock
    other = {"en": "de", "de": "en"}[language]
    labels = {"en": ("Undo", "Bring it back"), "de": ("Zurücknehmen", "Zurückholen")}
    async with deployment.open() as harness:
        await harness.hears(anna, "/start")
        await harness.hears(anna, f"/start language {language}")
        clock.move(harness, minutes=1)
        await harness.hears(anna, f"/start language {other}")
        assert labels[other][0] in anna.seen()[-1].labels
        assert labels[language][0] not in anna.seen()[-1].labels
        await harness.hears(anna, "/undo")
        assert labels[language][1] in anna.seen()[-1].labels
        await harness.press(anna, labels[language][1])
        assert labels[other][0] in anna.seen()[-1].labels


@pytest.mark.parametrize("place", ["group", "direct"])
async def test_forget_is_named_once_and_the_undo_goes_on_to_the_deed_before(
    deployment: Stage, place: str
) -> None:
    anna, ben = (deployment.account("telegram", one) for one in (ANNA, BEN))
    deployment.now = clock = Clock(*NOON)
    room = str(SUPERGROUP) if place == "group" else None
    async with deployment.open() as harness:
        await harness.hears(anna, "/start")
        for text in ("Bins", "Milk"):
            clock.move(harness, minutes=1)
            deployment.plan(calls(call("remind", text=text, when="today 15:00")), "Set.")
            await harness.hears(anna, f"remind us at 15:00: {text}", room=room)
        if room:  # somebody else's note and /forget are no deeds of hers
            deployment.plan(calls(call("memory", action="add", target="memory", text="Cake")), "Ok")
            await harness.hears(ben, "remember: cake", room=room)
            await harness.hears(ben, "/forget cake", room=room)
            await harness.press(ben, "Delete", room)
            await harness.until(lambda: "Deleted permanently" in ben.seen(room)[-1].text)
            assert "I've deleted Milk" in await harness.hears(anna, "/undo", room=room)
            assert "Removed" not in await harness.hears(ben, "/undo", room=room)
        clock.move(harness, minutes=1)
        note = call("memory", action="add", target="memory", text="Knows bluefish")
        deployment.plan(calls(note), "Ok.")
        await harness.hears(anna, "remember: bluefish", room=room)
        clock.move(harness, minutes=1)
        await harness.hears(anna, "/forget bluefish", room=room)
        await harness.press(anna, "Delete" if room else "Notes only", room)
        await harness.until(lambda: "Deleted" in anna.seen(room)[-1].text)
        clock.move(harness, minutes=1)
        told = await harness.hears(anna, "/undo", room=room)
        before = "Bins" if room else "Milk"
        assert told.startswith("/forget deletes permanently, so I can't take it back. The change")
        assert before in told
        assert anna.seen(room)[-1].labels == ("Undo",)
        assert f"I've deleted {before}" in await harness.hears(anna, "/undo", room=room)


async def test_an_owner_is_asked_before_undo_takes_a_note_of_somebody_else(
    deployment: Stage,
) -> None:
    anna, ben = (deployment.account("telegram", one) for one in (ANNA, BEN))
    room = str(SUPERGROUP)
    async with deployment.open() as harness:
        await harness.hears(anna, "/start")
        await make_owner(harness, "Anna")
        note = call("memory", action="add", target="memory", text="The cellar is cold")
        deployment.plan(calls(note), "Ok.")
        await harness.hears(ben, "remember that the cellar is cold", room=room)
        told = await harness.hears(anna, "/undo", room=room)
        assert told.startswith("You've changed nothing here that I can take back.")
        assert "The cellar is cold" in told
        assert "cellar" in await harness.hears(ben, "/memory", room=room)
        assert "Taken back" in await harness.hears(ben, "/undo", room=room)


async def test_every_kind_of_undo_speaks_alike(deployment: Stage) -> None:
    anna, clock = deployment.account("telegram", ANNA), Clock(*NOON)
    deployment.now = clock
    note = call("memory", action="add", target="user", text="Likes tea")
    kept = call("archive", action="add", text="The boiler is blue")
    async with deployment.open() as harness:
        await harness.hears(anna, "/start")
        for made in (note, kept, call("settings", verbosity="quiet")):
            clock.move(harness, minutes=1)
            deployment.plan(calls(made), "Ok.")
            await harness.hears(anna, "please do that: tea, blue boiler, quiet detail")
            told = await harness.hears(anna, "/undo")
            assert told.startswith("↩ Taken back. "), told
            assert anna.seen()[-1].labels == ("Bring it back",)
            await harness.press(anna, "Bring it back")
            assert "Taken back" not in anna.seen()[-1].text
            assert anna.seen()[-1].labels == ("Undo",)


_DEEDS = (
    "/settings verbosity quiet",
    "/settings verbosity verbose",
    "/settings language de",
    "/settings time_zone Vienna",
    "/settings quiet_hours 22-7",
    "/tools off recall",
    "/tools on recall",
    "/sethome",
    "/sethome off",
    "/title One",
    "/title Two",
    "/learned ask",
    "/learned weekly",
)
"""Deeds that can be taken back; each changes nothing if it is repeated at once."""


async def _look(harness: Harness) -> list[object]:
    """What the deeds change."""

    def look(connection: Connection) -> list[object]:
        rows = connection.execute(
            "SELECT name, time_zone, language, quiet_from, quiet_until, verbosity, tools_off,"
            " home_platform, home_chat, learning, learning_summary FROM people ORDER BY id"
        ).fetchall()
        return [*rows, *connection.execute("SELECT title FROM sessions ORDER BY id").fetchall()]

    return await harness.gateway.database.read(look)


@pytest.mark.parametrize("seed", range(4))
async def test_as_many_undos_as_deeds_give_what_was_before(deployment: Stage, seed: int) -> None:
    anna, clock, chosen = deployment.account("telegram", ANNA), Clock(*NOON), Random(seed)
    deployment.now = clock
    async with deployment.open() as harness:
        deployment.plan("Hello.")
        await harness.hears(anna, "hello")
        known = [await _look(harness)]
        for command in chosen.choices(_DEEDS, k=12):
            clock.move(harness, minutes=1)
            await harness.hears(anna, command)
            known += [now] if (now := await _look(harness)) != known[-1] else []
        while len(known) > 1:
            told = await harness.hears(anna, "/undo")
            if told.startswith("↩") or "↩" in told:
                known.pop()
            assert await _look(harness) == known[-1], told


async def test_what_has_another_way_back_is_named(deployment: Stage) -> None:
    anna, clock = deployment.account("telegram", ANNA), Clock(*NOON)
    deployment.now = clock
    async with deployment.open() as harness:
        await harness.hears(anna, "/start")
        await make_owner(harness, "Anna")
        await harness.hears(anna, "/settings verbosity quiet")
        for command, way in (
            ("/invite Ben", "the page “People and groups”"),
            ("/new", "/sessions leads back"),
        ):
            await harness.hears(anna, command)
            told = await harness.hears(anna, "/undo")
            assert way in told
            assert "What you see of my work: Answers only" in told
        assert "What you see of my work as before" in await harness.hears(anna, "/undo")


@pytest.mark.parametrize("answer", ["No", "never mind", "a press"])
async def test_a_no_to_a_question_is_no_change_and_undo_asks_about_the_one_before(
    deployment: Stage, answer: str
) -> None:
    anna, clock = deployment.account("telegram", ANNA), Clock(*NOON)
    deployment.now = clock
    async with deployment.open() as harness:
        await harness.hears(anna, "/settings verbosity quiet")
        clock.move(harness, minutes=1)
        often = call("remind", text="Blink.", when="every minute")
        deployment.plan(calls(often), "I did not set the reminder.")
        await harness.notes(anna.says("remind me every minute to blink"))
        await harness.asks(anna, "No")
        refuse = anna.holds("No")
        clock.move(harness, minutes=1)
        await harness.notes(anna.says("/undo"))
        await harness.until(lambda: "question above is still open" in anna.seen()[-1].text)
        assert "What you see of my work: Answers only" in anna.seen()[-1].text
        clock.move(harness, minutes=1)
        await harness.takes(refuse() if answer == "a press" else anna.says(answer))
        assert "did not set" in anna.seen()[-1].text
        told = await harness.hears(anna, "/undo")
        assert told.startswith(
            "Your last message changed nothing that I can take back"
            " (“remind me every minute to blink”)."
        )
        assert "What you see of my work: Answers only" in told
        assert "Taken back" in await harness.hears(anna, "/undo")


@pytest.mark.parametrize(
    ("said", "answer", "named"),
    [
        ("forget that Bob likes tea", "I have no such note.", "“forget that Bob likes tea”"),
        ("remind me to drink water", "When?", "“remind me to drink water”"),
        ("/settings language klingonese", None, "/settings"),
        ("/reminders delete the goose", None, "/reminders"),
        ("/memory forget 99", None, "/memory"),
        ("/title", None, ""),
    ],
)
async def test_a_wish_that_failed_is_no_change_and_undo_asks_about_the_one_before(
    deployment: Stage, said: str, answer: str | None, named: str
) -> None:
    anna, clock = deployment.account("telegram", ANNA), Clock(*NOON)
    deployment.now = clock
    async with deployment.open() as harness:
        await harness.hears(anna, "/settings verbosity quiet")
        clock.move(harness, minutes=1)
        if answer:
            deployment.plan(answer, answer)
        await harness.hears(anna, said)
        clock.move(harness, minutes=1)
        told = await harness.hears(anna, "/undo")
        if not named:  # what only shows something is no wish
            assert "What you see of my work as before" in told
            return
        assert told.startswith(f"Your last message changed nothing that I can take back ({named}).")
        assert "What you see of my work: Answers only" in told
        assert "What you see of my work as before" in await harness.hears(anna, "/undo")


async def test_a_no_to_the_question_behind_a_deed_is_no_change(deployment: Stage) -> None:
    anna, clock = deployment.account("telegram", ANNA), Clock(*NOON)
    deployment.now = clock
    async with deployment.open() as harness:
        made = call("remind", text="Call Ben.", when="today 15:00")
        deployment.plan(calls(made), "Set. Shall I also remind you tomorrow?")
        await harness.hears(anna, "remind me at 15:00 to call Ben")
        clock.move(harness, minutes=1)
        deployment.plan("All right.", "All right.")
        await harness.hears(anna, "no")
        told = await harness.hears(anna, "/undo")
        assert "(“no”)" in told
        assert "Call Ben" in told
        assert "I've deleted Call Ben" in await harness.hears(anna, "/undo")


async def test_an_ordinary_message_leaves_the_change_before_it_to_undo(deployment: Stage) -> None:
    anna, clock = deployment.account("telegram", ANNA), Clock(*NOON)
    deployment.now = clock
    async with deployment.open() as harness:
        await harness.hears(anna, "/settings verbosity quiet")
        clock.move(harness, minutes=1)
        deployment.plan("You're welcome.")
        await harness.hears(anna, "Nice, thank you")
        await harness.hears(anna, "/settings")
        assert "What you see of my work as before" in await harness.hears(anna, "/undo")


async def test_the_same_reminder_again_is_said_and_undone(deployment: Stage) -> None:
    anna, clock = deployment.account("telegram", ANNA), Clock(*NOON)
    deployment.now = clock
    async with deployment.open() as harness:
        for text, is_twin in (("Call Ben.", False), ("Call ben.", True), ("Call Bo.", False)):
            clock.move(harness, minutes=1)
            deployment.plan(calls(call("remind", text=text, when="today 15:00")), "Set.")
            told = await harness.hears(anna, f"remind me at 15:00: {text}")
            assert told.endswith(" You already had this one; Undo removes the second.") == is_twin
            if is_twin:
                await harness.press(anna, "Undo")
                assert "I've deleted Call ben" in anna.seen()[-1].text


@everywhere
async def test_a_typed_yes_or_no_answers_the_question_of_undo(
    deployment: Stage, platform: str
) -> None:
    anna, clock = deployment.account(platform, ANNA), Clock(*NOON)
    deployment.now = clock
    async with deployment.open() as harness:

        async def ask_again() -> None:
            assert "Shall I take it back?" in await harness.hears(anna, "/undo")

        await harness.hears(anna, "/settings quiet_hours 22-7")
        clock.move(harness, hours=3)
        for refusal in ("no", "Nein, danke"):
            await ask_again()
            assert await harness.hears(anna, refusal) == "All right, I've changed nothing."
        await ask_again()
        deployment.plan("Yes to what?")
        await harness.hears(anna, "perhaps")  # goes to the model, and acts on nothing
        deployment.plan("Fine.")
        assert "Fine." in await harness.hears(anna, "yes")  # is no answer to what stands above
        await ask_again()
        assert "↩ Taken back. Quiet hours" in await harness.hears(anna, "yes please")
        deployment.plan("Fine.")
        assert "Fine." in await harness.hears(anna, "yes")
        assert len(deployment.turns) == 3


async def test_a_yes_of_somebody_else_answers_no_question_in_a_group(deployment: Stage) -> None:
    anna, ben = deployment.account("telegram", ANNA), deployment.account("telegram", BEN)
    deployment.now = Clock(*NOON)
    async with deployment.open() as harness:
        for who in (ben, anna):
            asked = await harness.hears(anna, "/statsu", room=SUPERGROUP)
            assert "Did you mean /status?" in asked
            deployment.plan("Hi Ben.")
            told = await harness.hears(who, "yes", room=SUPERGROUP)
            assert ("Hi Ben." in told) == (who is ben), told
        assert len(deployment.turns) == 1
