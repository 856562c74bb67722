"""Two accounts of one person: linked by code, confirmed, used, and unlinked."""

import asyncio
from pathlib import Path

import pytest

from agent_core.state.conversations import usage
from agent_core.state.engine.database import Connection
from agent_core.state.people import audit, people
from agent_core.state.people.people import NewAccount
from gateway.people.admission import new_claim_code
from gateway.texts import general
from gateway.texts import people as people_texts
from tests.fakes.model import FakeModel, Gate, ask, call, say
from tests.integration.accounts import ChatAccount, age, code_in, count
from tests.integration.harness import Harness, running
from tests.patience import PATIENCE

WORK = people_texts.name_account("fake", "2", "Ana at work")

_WAITS = "purpose = 'pairing' AND used_at IS NULL"
"""The condition of requests that an owner may still let in."""


def two(harness: Harness) -> tuple[ChatAccount, ChatAccount]:
    return ChatAccount(harness, "1", "Ana"), ChatAccount(harness, "2", "Ana at work")


def heard(model: FakeModel) -> list[str]:
    return [m.text for m in model.requests[-1].messages if m.role == "user"]


def remember(text: str, target: str = "memory") -> str:
    return f'{{"action": "add", "target": "{target}", "text": "{text}"}}'


async def test_two_accounts_become_one_person_with_one_conversation_one_memory_and_one_budget(
    tmp_path: Path,
) -> None:
    model = FakeModel(
        ask(call("memory", remember("Drinks tea"))),
        say("Noted."),
        ask(call("memory", remember("Has a dog", "user"))),
        say("Noted, too."),
        say("One."),
        say("Afresh."),
    )
    async with running(tmp_path, model) as harness:
        home, work = two(harness)
        await home.says("I drink tea")
        await work.says("I have a dog")
        ana, other = await home.person(), await work.person()
        assert ana
        assert other
        assert ana.id != other.id

        await work.says(f"/link {await home.makes_code()}")
        question = home.asked()
        assert question
        assert "“Ana at work” on fake (id `2`)" in question.text
        await home.presses(people_texts.YES())
        assert people_texts.LINKED(account=WORK) in question.text
        assert question.keyboard == ()
        assert await work.person() == await home.person()

        await home.says("what do you know?")
        assert heard(model) == ["I have a dog", "what do you know?"], "the talk used last goes on"
        await work.says("/new")
        await work.says("and now?")
        assert "Drinks tea" in model.requests[-1].system
        assert "Has a dog" in model.requests[-1].system
        assert heard(model) == ["and now?"]
        total = await harness.read(lambda c: usage.total_since(c, person_id=ana.id, since=0))
        assert total.calls == 6
        listed = await work.says("/accounts")
        assert "1. “Ana” on fake (id `1`)" in listed
        assert "2. “Ana at work” on fake (id `2`)" in listed
        assert listed.count("this one") == 1
        folder = tmp_path / "memories" / "people" / "ana"
        assert (folder / "MEMORY.md").read_text() == "- Drinks tea\n"
        assert (folder / "USER.md").read_text() == "- Has a dog\n"


async def test_each_account_finds_the_others_messages(tmp_path: Path) -> None:
    recall = ask(call("recall", '{"query": "marmalade"}'))
    model = FakeModel(say("One."), say("Two."), recall, say("Found."))
    async with running(tmp_path, model) as harness:
        home, work = two(harness)
        await home.says("the marmalade is in the cellar")
        await work.says("hello")
        await home.joins(work)
        await work.says("where is it?")
        assert "cellar" in str(model.requests[-1].messages[-1])


async def test_linking_approves_a_stranger(tmp_path: Path) -> None:
    async with running(
        tmp_path, FakeModel(say("Hello.")), TALARIA_ACCESS__ALLOW="fake:1"
    ) as harness:
        home, work = two(harness)
        reported = await work.says(f"/link {await home.makes_code()}")
        assert "I've asked on fake" in reported
        assert await work.person() is None
        assert "/approve" not in await work.says("hello?"), "don't have an owner yet"
        assert harness.model.requests == []
        await home.presses(people_texts.YES())
        await work.says("hello!")
        assert len(harness.model.requests) == 1
        assert "linked to your other accounts" in await work.says("/accounts")


async def test_a_linked_account_loses_access_with_the_allowed_one(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(), TALARIA_ACCESS__ALLOW="fake:1") as harness:
        home, work = two(harness)
        await home.joins(work)
        assert "You are Ana" in await work.says("/whoami")
    async with running(tmp_path, FakeModel(), TALARIA_ACCESS__ALLOW="fake:3") as harness:
        home, work = two(harness)
        assert "You are" not in await work.says("/whoami")
        assert "You are" not in await home.says("/whoami")


async def test_a_code_is_read_in_any_case_with_spaces_or_without_dash(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel()) as harness:
        home, work = two(harness)
        code = await home.makes_code()
        await work.says(f"/link  {code.lower().replace('-', ' ')} ")
        await home.presses(people_texts.YES())
        assert await work.person() == await home.person()


async def test_an_answer_may_be_typed(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel()) as harness:
        home, work = two(harness)
        await work.says(f"/link {await home.makes_code()}")
        assert people_texts.LINKED(account=WORK) in await home.says("yes")
        assert await work.person() == await home.person()


async def test_a_no_changes_nothing_and_both_accounts_are_told(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel()) as harness:
        home, work = two(harness)
        await work.says(f"/link {await home.makes_code()}")
        question = home.asked()
        assert question
        await home.presses(people_texts.NO())
        assert "Not linked" in question.text
        assert harness.chat.shown[-1].text == people_texts.LINK_REFUSED_NOTICE()
        assert await count(harness, "link_requests", "state = 'refused'") == 1
        assert await work.person() != await home.person()


async def test_either_side_can_cancel(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel()) as harness:
        home, work = two(harness)
        for sender in (home, work):
            await work.says(f"/link {await home.makes_code()}")
            question = home.asked()
            assert question
            assert people_texts.LINK_CANCELLED() in await sender.says("/link cancel")
            assert "Cancelled" in question.text
            assert home.asked() is None
            assert people_texts.LINK_NOTHING() in await sender.says("/link cancel")
        assert await count(harness, "link_requests", "state = 'over'") == 2


async def test_a_new_code_revokes_the_previous_one(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel()) as harness:
        home, work = two(harness)
        first = await home.makes_code()
        second = await home.makes_code()
        assert await work.says(f"/link {first}") == general.CODE_INVALID()
        await work.says(f"/link {second}")
        question = home.asked()
        assert question
        await home.makes_code()
        assert "newer code" in question.text
        assert home.asked() is None


async def test_a_code_expires_after_ten_minutes_and_so_does_its_question(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel()) as harness:
        home, work = two(harness)
        code = await home.makes_code()
        await age(harness, 600_000)
        assert await work.says(f"/link {code}") == general.CODE_INVALID()
        await work.says(f"/link {await home.makes_code()}")
        await age(harness, 600_000)
        await home.presses(people_texts.YES())
        assert await count(harness, "link_requests", "state = 'joined'") == 0
        assert await work.person() != await home.person()


async def test_a_persons_own_code_links_nothing_and_stays_valid(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel()) as harness:
        home, work = two(harness)
        code = await home.makes_code()
        assert await home.says(f"/link {code}") == people_texts.LINK_SAME()
        await work.says(f"/link {code}")
        await home.presses(people_texts.YES())
        assert await work.says(f"/link {await home.makes_code()}") == people_texts.LINK_SAME()


async def test_a_room_gets_no_code_and_revokes_one_written_there(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, FakeModel()) as harness:
        home, work = two(harness)
        assert await home.says("/link", chat="room", direct=False) == people_texts.LINK_IN_GROUP()
        code = await home.makes_code()
        reported = await work.says(f"/link {code}", chat="room", direct=False)
        assert reported == people_texts.LINK_IN_GROUP()
        assert await work.says(f"/link {code}") == general.CODE_INVALID()
        code = await home.makes_code()
        await work.says(f"/claim {code}", chat="room", direct=False)
        assert await work.says(f"/link {code}") == general.CODE_INVALID()
        assert people_texts.ACCOUNTS_IN_GROUP() in await home.says(
            "/accounts", chat="room", direct=False
        )
        assert people_texts.ACCOUNTS_IN_GROUP() in await home.says(
            "/unlink 1", chat="room", direct=False
        )


async def test_only_the_newest_question_about_an_account_is_open(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel()) as harness:
        home, work = two(harness)
        third = ChatAccount(harness, "3", "Eve")
        await work.says(f"/link {await third.makes_code()}")
        await work.says(f"/link {await home.makes_code()}")
        assert third.asked() is None
        await home.presses(people_texts.YES())
        assert await work.person() == await home.person()
        assert await third.person() != await home.person()


async def test_an_account_that_changed_its_person_is_not_linked(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, FakeModel(), TALARIA_ACCESS__ALLOW="fake:1") as harness:
        home, work = two(harness)
        await home.says(f"/claim {harness.gateway.claim_code}")
        pairing = code_in(await work.says("hello"))
        await work.says(f"/link {await home.makes_code()}")
        question = home.asked()
        assert question
        await home.says(f"/approve {pairing}")
        await home.presses(people_texts.YES())
        assert "someone else" in question.text
        assert await work.person() != await home.person()


@pytest.mark.parametrize("way", ["link", "join", "claim"])
async def test_whoever_came_in_another_way_waits_no_longer(tmp_path: Path, way: str) -> None:
    async with running(tmp_path, FakeModel(), TALARIA_ACCESS__ALLOW="fake:1") as harness:
        home, work = two(harness)
        await home.says(f"/claim {harness.gateway.claim_code}")
        pairing = code_in(await work.says("hello"))
        assert await count(harness, "link_codes", _WAITS) == 1
        if way == "link":
            await home.joins(work)
        elif way == "join":
            await work.says(f"/join {code_in(await home.says('/invite Ana'))}")
        else:
            code = await harness.gateway.database.write(
                "code", new_claim_code, now=harness.gateway.now()
            )
            await work.says(f"/claim {code}")
        assert await count(harness, "link_codes", _WAITS) == 0
        answer = await home.says(f"/approve {pairing}")
        by_another = general.LET_IN_ALREADY(name="“Ana at work”")
        assert answer == (by_another if way == "join" else general.IN_ALREADY())


async def test_each_account_is_listed_with_the_way_it_came_in_also_when_linked(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, FakeModel(), TALARIA_ACCESS__ALLOW="fake:1") as harness:
        home, work = two(harness)
        guest = ChatAccount(harness, "3", "Ana as a guest")
        listed = await home.says("/accounts")
        assert "on the list of allowed accounts (this one)" in listed
        await home.says(f"/claim {harness.gateway.claim_code}")
        assert "with the code for the owner (this one)" in await home.says("/accounts")
        await work.says(f"/join {code_in(await home.says('/invite Ana'))}")
        assert "by invitation (this one)" in await work.says("/accounts")
        await home.says(f"/approve {code_in(await guest.says('hello'))}")
        assert "approved by code (this one)" in await guest.says("/accounts")
        await home.joins(work)
        await home.joins(guest)
        ways = [line.rpartition(", ")[2] for line in (await home.says("/accounts")).splitlines()]
        owner = "with the code for the owner (this one)"
        assert ways == [owner, "by invitation", "approved by code"]


async def test_linking_waits_for_a_running_turn(tmp_path: Path) -> None:
    gate = Gate()
    async with running(tmp_path, FakeModel([gate.hold, *say("Done.")])) as harness:
        home, work = two(harness)
        await work.says(f"/link {await home.makes_code()}")
        await harness.chat.says("a long one", user="2", chat="2")
        await gate.reached.wait()
        await harness.chat.press(people_texts.YES(), user="1", chat="1")
        await harness.chat.sees_text(people_texts.BUSY())
        assert await work.person() != await home.person()
        gate.open.set()
        await harness.chat.sees_text("Done.")
        await harness.at_rest()
        await home.presses(people_texts.YES())
        assert await work.person() == await home.person()


async def test_nobody_becomes_an_owner_by_a_code_that_an_owner_sends(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel()) as harness:
        home, work = two(harness)
        await work.says(f"/claim {harness.gateway.claim_code}")
        assert (
            await work.says(f"/link {await home.makes_code()}") == people_texts.LINK_OWNER_FIRST()
        )
        assert home.asked() is None
        assert await work.person() != await home.person()


async def test_a_new_owner_is_not_linked_by_an_older_question(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel()) as harness:
        home, work = two(harness)
        await work.says("hello")
        await work.says(f"/link {await home.makes_code()}")
        await work.says(f"/claim {harness.gateway.claim_code}")
        await home.presses(people_texts.YES())
        assert await work.person() != await home.person()
        assert "(member)" in await home.says("/whoami")


async def test_an_owner_links_and_unlinks_an_account(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel()) as harness:
        home, work = two(harness)
        await home.says(f"/claim {harness.gateway.claim_code}")
        await work.says("/whoami")
        await work.says(f"/link {await home.makes_code()}")
        await home.presses(people_texts.YES())
        assert "(owner)" in await work.says("/whoami")
        await home.says("/unlink fake:2")
        assert "(owner)" in await home.says("/whoami")
        assert "(member)" in await work.says("/whoami")


async def test_an_unlinked_account_keeps_its_conversation_and_notes(tmp_path: Path) -> None:
    model = FakeModel(
        say("One."),
        ask(call("memory", remember("Has a dog"))),
        say("Noted."),
        say("Still."),
        say("Alone."),
    )
    async with running(tmp_path, model) as harness:
        home, work = two(harness)
        await home.says("hello")
        await work.says("I have a dog")
        await home.joins(work)
        reported = await home.says("/unlink 2")
        done = people_texts.Unlinked(account=WORK, sessions=1, kept=0, entries=1, is_admitted=True)
        assert reported == people_texts.describe_unlinked(done)
        await work.says("still there?")
        assert heard(model) == ["I have a dog", "still there?"]
        assert "Has a dog" in model.requests[-1].system
        await home.says("/new")
        await home.says("and I?")
        assert heard(model) == ["and I?"]
        assert "dog" not in model.requests[-1].system


async def test_an_account_is_named_by_number_platform_or_id(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel()) as harness:
        home, work = two(harness)
        assert people_texts.UNLINK_LAST() in await home.says("/unlink 1")
        await home.joins(work)
        assert people_texts.UNLINK_USAGE() in await home.says("/unlink")
        assert people_texts.UNLINK_SEVERAL() in await home.says("/unlink fake")
        assert people_texts.UNLINK_UNKNOWN() in await home.says("/unlink telegram")
        assert people_texts.UNLINK_UNKNOWN() in await home.says("/unlink 3")
        assert "separate person" in await work.says("/unlink FAKE:2")
        assert await work.person() != await home.person()


async def test_the_console_stays_the_owners(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel()) as harness:
        home, _ = two(harness)
        await home.says(f"/claim {harness.gateway.claim_code}")
        owner = await home.person()
        assert owner
        console = NewAccount(
            platform="console", user_id="local", display_name="You", admitted_by="local"
        )
        await harness.gateway.database.write(
            "console",
            lambda c: people.attach_account(c, console, person_id=owner.id, now=0),
        )
        assert await home.says("/unlink console") == people_texts.UNLINK_LOCAL()


async def test_an_account_admitted_by_linking_needs_approval_after_unlinking(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, FakeModel(), TALARIA_ACCESS__ALLOW="fake:1") as harness:
        home, work = two(harness)
        await home.says(f"/claim {harness.gateway.claim_code}")
        await home.joins(work)
        assert await work.says("/unlink 1") == people_texts.UNLINK_FIRST(), (
            "it can't keep what is hers"
        )
        assert "an owner has to let it in" in await home.says("/unlink 2")
        pairing = code_in(await work.says("hello"))
        approved = general.APPROVED(name=people_texts.quote_name("Ana at work"))
        assert approved in await home.says(f"/approve {pairing}")
        assert "(member)" in await work.says("/whoami")


async def test_notes_too_long_together_are_asked_about_and_never_cut(tmp_path: Path) -> None:
    limits = {"TALARIA_MEMORY__MEMORY_LIMIT": "200"}
    notes = [f"{letter * 60}" for letter in "abcd"]
    plays = [
        play for note in notes for play in (ask(call("memory", remember(note))), say("Noted."))
    ]
    async with running(tmp_path, FakeModel(*plays), **limits) as harness:
        home, work = two(harness)
        for sender, note in ((home, "1"), (home, "2"), (work, "3"), (work, "4")):
            await sender.says(f"note {note}")
        await home.joins(work)
        question = home.asked()
        assert question
        assert notes[3] in question.text
        assert question.labels == [people_texts.KEEP(), people_texts.LEAVE()]
        assert "1 note was set aside" in await home.says("/accounts")
        await home.presses(people_texts.LEAVE())
        assert people_texts.MERGE_LEFT() in question.text
        assert "1 note was set aside" in await home.says("/accounts")
        assert people_texts.KEPT(1) in await home.says("/accounts keep")
        assert "set aside" not in await home.says("/accounts")
        assert people_texts.MERGE_NOTHING() in await home.says("/accounts keep")


async def test_notes_too_long_together_can_be_kept(tmp_path: Path) -> None:
    limits = {"TALARIA_MEMORY__MEMORY_LIMIT": "200"}
    plays = [
        play
        for letter in "abcd"
        for play in (ask(call("memory", remember(letter * 60))), say("Noted."))
    ]
    async with running(tmp_path, FakeModel(*plays, say("All.")), **limits) as harness:
        home, work = two(harness)
        for sender in (home, home, work, work):
            await sender.says("note")
        await home.joins(work)
        await home.presses(people_texts.KEEP())
        await home.says("/new")
        await home.says("what do you know?")
        assert all(letter * 60 in harness.model.requests[-1].system for letter in "abcd")


async def test_an_unreadable_memory_file_prevents_linking_and_says_so(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(say("Hi."))) as harness:
        home, work = two(harness)
        await work.says("hello")
        file = tmp_path / "memories" / "people" / "ana-at-work" / "MEMORY.md"
        file.mkdir(parents=True)
        await work.says(f"/link {await home.makes_code()}")
        await home.presses(people_texts.YES())
        assert str(file) in harness.chat.shown[-1].text
        assert await work.person() != await home.person()
        file.rmdir()
        await home.presses(people_texts.YES())
        assert await work.person() == await home.person()


async def test_a_name_cannot_imitate_other_text(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel()) as harness:
        home = ChatAccount(harness, "1", "Ana")
        eve = ChatAccount(
            harness, "2", "`**Ana** [yours](http://x)\nThat account is yours. " + "x" * 100
        )
        await eve.says(f"/link {await home.makes_code()}")
        question = home.asked()
        assert question
        first = question.text.split(" on fake")[0]
        assert first.startswith("`'**Ana** [yours](http://x) That account")
        assert first.count("`") == 2
        assert len(first) < 70


async def test_linking_is_audited(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel()) as harness:
        home, work = two(harness)
        ana = await home.says("/whoami") and await home.person()
        assert ana
        await home.joins(work)
        await home.says("/unlink 2")
        await home.makes_code()
        await home.says("/link cancel")

        def look(connection: Connection) -> list[str]:
            done = audit.list_of(connection, person_id=ana.id, limit=99)
            return [one.action for one in done if one.action != "deed"]

        assert await harness.read(look) == [
            "link.cancelled",
            "link.code",
            "unlink",
            "link.joined",
            "link.asked",
            "link.code",
        ]


async def test_linking_survives_a_restart_between_question_and_answer(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel()) as harness:
        home, work = two(harness)
        await work.says(f"/link {await home.makes_code()}")
        chat = harness.chat
    async with running(tmp_path, FakeModel(), chat=chat) as harness:
        home, work = two(harness)
        async with asyncio.timeout(PATIENCE):
            while await work.person() != await home.person():
                await home.presses(
                    people_texts.YES()
                )  # again, because a starting gateway may still scan memories
                await harness.at_rest()


async def test_a_waiting_message_is_answered_once_when_two_accounts_are_linked(
    tmp_path: Path,
) -> None:
    gate = Gate()
    model = FakeModel(say("Hello."), [gate.hold, *say("Held.")], say("Late."), say("Last."))
    async with running(tmp_path, model, TALARIA_TURNS__AT_ONCE="1") as harness:
        home, work = two(harness)
        await home.says("hello")
        await harness.chat.says("a long one", user="3", chat="3", name="Eve")
        await gate.reached.wait()
        await harness.chat.says("a late one", user="2", chat="2", name="Ana at work")
        await harness.until(harness.gateway.router.is_idle)
        await harness.chat.says("/link", user="1", chat="1", name="Ana")
        code = code_in((await harness.chat.sees_text("Your code is")).text)
        await harness.chat.says(f"/link {code}", user="2", chat="2", name="Ana at work")
        await harness.chat.sees_text("I've asked on")
        await harness.chat.press(people_texts.YES(), user="1", chat="1", name="Ana")
        await harness.chat.sees_text(people_texts.describe_linked_notice("fake", "Ana"))
        assert await work.person() == await home.person()
        gate.open.set()
        await harness.chat.sees_text("Late.")
        await harness.at_rest()
        assert heard(model) == ["hello", "a late one"]
        assert next(one.chat_id for one in harness.chat.shown if one.text == "Late.") == "2"
        await home.says("and?")
        assert heard(model) == ["hello", "a late one", "and?"]
        joined = "person_id IN (SELECT id FROM people WHERE joined_to IS NOT NULL)"
        assert await count(harness, "turns", joined) == 0


async def test_an_unlinked_account_continues_its_own_room(
    tmp_path: Path,
) -> None:
    room = {"chat": "room", "direct": False}
    model = FakeModel(*(say(f"{number}.") for number in range(5)))
    async with running(tmp_path, model) as harness:
        harness.chat.people = 9
        home, work = two(harness)
        await work.says("one", **room)
        await home.joins(work)
        await work.says("two", **room)
        assert heard(model) == ["one", "two"]
        await home.says("/unlink fake:2")
        await work.says("three", **room)
        assert heard(model) == ["one", "two", "three"]
        await home.says("four", **room)
        assert heard(model) == ["four"]
