"""Export, forget, erase: permissions, contents, and that they are finished."""

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from adapters.toolkit.markdown import Listing, parse
from agent_core.localization import Text
from agent_core.state.engine import meta
from agent_core.state.lifecycle import erase_person
from agent_core.state.people import people
from gateway.outbound.command_buttons import stand_for
from gateway.texts import privacy
from gateway.texts.rooms import ONLY_IN_DIRECT
from tests.databases import open_database
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, say
from tests.integration.accounts import ChatAccount, count, make_owner, two_accounts
from tests.integration.canaries import Planter, make_chat, plant, search, words
from tests.integration.harness import Harness, running
from tests.integration.jobs_support import give_job
from tests.integration.privacy.deletions import settled
from tests.integration.privacy.exports import unpack

ROOM = {"chat": "room", "direct": False, "room_title": "Kitchen"}


@pytest.mark.process
async def test_an_export_has_all_of_a_person_and_nothing_of_others(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, Planter(), chat=make_chat()) as harness:
        ana, ben = two_accounts(harness)
        await plant(harness, ana, "bluefish")
        await plant(harness, ben, "redfish")
        reported = await ana.says("/export")
        files = unpack(harness, ana)
    assert privacy.describe_export(1) in reported
    everything = "\n".join(files.values())
    missing = [w for w in words("bluefish") if w not in everything and w not in "".join(files)]
    assert missing == []
    assert "redfish" not in everything
    assert "4711002" not in everything
    assert "bluefishmemory" in files["memory/MEMORY.md"]
    assert "bluefishwish" in files["memory/USER.md"]
    assert json.loads(files["accounts.json"])[0]["user_id"] == "4711001"
    assert all("secret" not in question for question in json.loads(files["questions.json"]))
    assert {name for name in files if name.endswith(".json")} >= {"usage.json", "ledger.json"}
    for name, text in files.items():
        if name.endswith(".json"):
            json.loads(text)
    assert "talks/" in files["README.md"]


@pytest.mark.process
async def test_an_export_has_the_files_for_digests(tmp_path: Path) -> None:
    async with running(tmp_path, Planter(), chat=make_chat()) as harness:
        ana, ben = two_accounts(harness)
        await ana.says("hello")
        await ben.says("hello")
        people_of = tmp_path / "sources" / "people"
        for slug in ("zebrana", "benedikt"):
            (people_of / slug / "old").mkdir(parents=True)
            (people_of / slug / "work.ics").write_text(f"of {slug}")
        (people_of / "zebrana" / "old" / "home.ics").write_text("before")
        (people_of / "zebrana" / "link.ics").symlink_to(people_of / "benedikt" / "work.ics")
        await ana.says("/export")
        files = unpack(harness, ana)
    assert {name: text for name, text in files.items() if name.startswith("sources/")} == {
        "sources/zebrana/work.ics": "of zebrana",
        "sources/zebrana/old/home.ics": "before",
    }
    assert "`sources/`" in files["README.md"]


@pytest.mark.process
async def test_an_export_has_the_persons_blocks(tmp_path: Path) -> None:
    async with running(tmp_path, Planter(), chat=make_chat()) as harness:
        ana, ben = two_accounts(harness)
        for account, label in ((ana, "diary"), (ben, "letters")):
            await account.says("hello")
            await account.says(f"/block new {label} 500 what it says")
            folder = tmp_path / "memories" / "blocks" / label
            folder.mkdir(parents=True)
            (folder / "MEMORY.md").write_text(f"- words of the {label}\n")
            await account.says("/block")
        await ana.says("/export")
        found = unpack(harness, ana)
    assert found["blocks/diary.md"] == "- words of the diary\n"
    assert "letters" not in str(found)


@pytest.mark.process
async def test_a_too_large_export_names_the_command(tmp_path: Path) -> None:
    chat = FakeChat(most_file_bytes=300)
    async with running(tmp_path, FakeModel(say("Hello.")), chat=chat) as harness:
        ana = ChatAccount(harness, "4711001", "Zebrana")
        await ana.says("hello")
        assert "talaria people export zebrana FILE" in await ana.says("/export")
        assert await count(harness, "files") == 0
    assert not any(".export-" in line for line in search(tmp_path, ""))


@pytest.mark.process
async def test_an_export_comes_in_several_archives_where_files_are_small(tmp_path: Path) -> None:
    chat = FakeChat(most_file_bytes=4000)
    async with running(tmp_path, FakeModel(say("Hello.")), chat=chat) as harness:
        ana = ChatAccount(harness, "4711001", "Zebrana")
        await ana.says("hello, dear house")
        await ana.says("/export")
        sent = [shown.file for shown in chat.shown if shown.file]
        assert len(sent) > 1
        assert all(len(file.data) <= 4000 for file in sent)
        assert "hello, dear house" in "".join(unpack(harness, ana).values())


@pytest.mark.parametrize("command", ["/export", "/erase me"])
async def test_data_requests_are_refused_in_rooms(tmp_path: Path, command: str) -> None:
    async with running(tmp_path, FakeModel(say("Hello."))) as harness:
        ana = ChatAccount(harness, "4711001", "Zebrana")
        await ana.says("hello bluefish")
        assert await ana.says(command, **ROOM) == ONLY_IN_DIRECT()


@pytest.mark.process
async def test_a_stranger_gets_nothing(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(), TALARIA_ACCESS__ALLOW="fake:1") as harness:
        stranger = ChatAccount(harness, "4711003", "Nobody")
        for command in ("/export", "/forget bluefish", "/erase me"):
            answer = await stranger.says(command)
            assert not any(shown.file or shown.keyboard for shown in harness.chat.shown)
            assert "bluefish" not in answer


async def erase_outcomes(
    harness: Harness, accounts: Sequence[ChatAccount]
) -> dict[tuple[str, str], str]:
    """Return the outcome for each pair of asker and target."""
    outcomes = {}
    for one in accounts:
        for other in accounts:
            named = other.name.lower()
            reported = await one.says(f"/erase {named}")
            outcomes[one.name, other.name] = "asked" if one.asked() else reported
            if one.asked():
                await one.presses(privacy.ERASE_NO())
    return outcomes


async def test_members_erase_themselves_and_owners_members_too(tmp_path: Path) -> None:
    model = FakeModel(*(say("Hello.") for _ in range(4)))
    async with running(tmp_path, model) as harness:
        names = {"Olga": "1001", "Otto": "1002", "Mia": "1003", "Max": "1004"}
        accounts = [ChatAccount(harness, user, name) for name, user in names.items()]
        for account in accounts:
            await account.says("hello")
        for account in accounts[:2]:
            await make_owner(harness, account.user)
        outcomes = await erase_outcomes(harness, accounts)
        assert await count(harness, "people", "joined_to = id") == 0
    for (one, other), outcome in outcomes.items():
        if one == other or (one[0] == "O" and other[0] == "M"):
            assert outcome == "asked", (one, other)
        else:
            refusal = privacy.ERASE_OWNER() if one[0] == "O" else privacy.ERASE_OTHERS()
            assert outcome == refusal, (one, other)


async def test_the_only_owner_cannot_be_erased(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(say("Hello."))) as harness:
        ana = ChatAccount(harness, "4711001", "Zebrana")
        await ana.says("hello")
        await make_owner(harness, ana.user)
        assert await ana.says("/erase me") == privacy.ERASE_LAST_OWNER()


async def test_an_owner_erases_a_member_and_is_told_of_the_backups(tmp_path: Path) -> None:
    (tmp_path / "backups").mkdir()
    (tmp_path / "backups" / "state-before-0009.db").write_bytes(b"")
    async with running(tmp_path, Planter(), chat=make_chat()) as harness:
        olga, mia = (
            ChatAccount(harness, "4711001", "Olga"),
            ChatAccount(harness, "4711002", "Zebramia"),
        )
        await olga.says("hello")
        await make_owner(harness, olga.user)
        await plant(harness, mia, "bluefish")
        await olga.says("/erase zebramia")
        await olga.presses(privacy.ERASE_YES())
        question = olga.asked()
        assert question
        assert privacy.ask_again("Zebramia") in question.text
        await olga.presses(privacy.ERASE_SURE())
        await settled(harness)
        assert "state-before-0009.db" in harness.chat.shown[-1].text
        assert harness.chat.shown[-1].chat_id == olga.user
        await mia.says("hello again")
        again = await mia.person()
        assert again
        assert "bluefish" not in str(harness.model.requests[-1])
        assert again.slug == "zebramia"
    assert search(tmp_path, "bluefish") == []


@pytest.mark.parametrize("said", ["ok", "yes", "bitte"])
async def test_a_word_said_in_passing_deletes_nobody(tmp_path: Path, said: str) -> None:
    async with running(tmp_path, FakeModel(say("Hello."), say("Good."))) as harness:
        ana = ChatAccount(harness, "4711001", "Zebrana")
        await ana.says("hello")
        await ana.says("/erase me")
        await ana.presses(privacy.ERASE_YES())
        await ana.says(said)
        await settled(harness)
        assert await ana.person()
        assert await count(harness, "messages") == 4


async def test_deletion_needs_two_confirmations(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(say("Hello."))) as harness:
        ana = ChatAccount(harness, "4711001", "Zebrana")
        await ana.says("hello")
        await ana.says("/erase me")
        await ana.presses(privacy.ERASE_YES())
        await ana.presses(privacy.ERASE_NO())
        await settled(harness)
        assert await ana.person()
        assert await count(harness, "messages") == 2


@pytest.mark.parametrize("old", [privacy.ERASE_YES, privacy.ERASE_NO])
async def test_an_old_button_makes_nobody_known_again(tmp_path: Path, old: Text) -> None:
    async with running(tmp_path, FakeModel(say("Hello."))) as harness:
        ana = ChatAccount(harness, "4711001", "Zebrana")
        await ana.says("hello")
        await ana.says("/erase me")
        (key, shown) = next(
            (button.key, one.id)
            for one in harness.chat.shown
            for button in one.keyboard
            if button.label == old()
        )
        await ana.presses(privacy.ERASE_YES())
        await ana.presses(privacy.ERASE_SURE())
        await settled(harness)
        assert await ana.person() is None
        before = len(harness.chat.shown)
        for again in (key, stand_for("help", "Help").key):
            await harness.chat.press_key(again, shown, user=ana.user, chat=ana.user, name="Z")
            await harness.at_rest()
        assert await ana.person() is None
        assert len(harness.chat.shown) == before


async def test_entries_may_be_forgotten_and_messages_stay(tmp_path: Path) -> None:
    async with running(tmp_path, Planter(), chat=make_chat()) as harness:
        ana = ChatAccount(harness, "4711001", "Zebrana")
        await plant(harness, ana, "bluefish")
        said = await count(harness, "messages", "text LIKE '%bluefish%'")
        asked = await ana.says("/forget bluefish")
        assert not re.search(r"`\((assistant|tool)\)`", asked), "a call has no words to show"
        assert sum(isinstance(block, Listing) for block in parse(asked)) == 2
        counted = sum(
            int(number)
            for number in re.findall(r"^- (?!What I added).*: (\d+)$", asked, re.MULTILINE)
        )
        listed = re.findall(r"^\* (.*)$", asked, re.MULTILINE)
        (more,) = (int(line.split()[0]) for line in listed if line.endswith(" more"))
        assert counted == len(listed) - 1 + more
        await ana.presses(privacy.FORGET_ENTRIES())
        await settled(harness)
        assert await count(harness, "messages", "text LIKE '%bluefish%'") == said
        for column in ("before", "after", "evidence"):
            assert await count(harness, "ledger", f"{column} LIKE '%bluefish%'") == 0
        assert await count(harness, "archive") == 0
        assert await count(harness, "prompts", "system LIKE '%bluefish%'") == 0
        assert await count(harness, "ledger", "before = '[forgotten]'") > 0
        assert await count(harness, "questions", "kind = 'forget' AND text LIKE '%bluefish%'") == 0
        assert "bluefish" not in await ana.says("/memory")


async def test_a_matching_job_is_listed_by_its_title(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(say("Hello.")), chat=make_chat()) as harness:
        await harness.chat.says("hello")
        await harness.chat.sees_text("Hello.")
        await give_job(harness, "Feed the bluefish", "0 8 * * *")
        await harness.chat.says("/forget bluefish")
        asked = await harness.chat.sees_text("I found these words")
        assert "- Reminders: 1\n\n* `Feed the bluefish`\n\nWhat" in asked.text
        assert privacy.FORGET_ENTRIES() not in asked.labels, "it would delete nothing"


@pytest.mark.parametrize(
    ("language", "word", "found", "kept"),
    [
        ("en", "No, thanks.", "I found these words", "I've deleted nothing."),
        ("en", "never mind", "I found these words", "I've deleted nothing."),
        ("de", "nein", "Ich habe diese Wörter", "Ich habe nichts gelöscht."),
    ],
)
async def test_a_typed_no_closes_the_question(
    tmp_path: Path, language: str, word: str, found: str, kept: str
) -> None:
    async with running(tmp_path, Planter(), chat=make_chat()) as harness:
        ana = ChatAccount(harness, "4711001", "Zebrana")
        await ana.says("the bluefish swims")
        await ana.says(f"/settings language {language}")
        await ana.says("/forget bluefish")
        assert found in harness.chat.shown[-1].text
        await ana.says(word)
        assert kept in [one.text for one in harness.chat.shown]


async def test_a_second_forget_of_the_same_words_replaces_the_first(tmp_path: Path) -> None:
    async with running(tmp_path, Planter(), chat=make_chat()) as harness:
        ana = ChatAccount(harness, "4711001", "Zebrana")
        await ana.says("the bluefish swims, the redfish too")
        await ana.says("/forget bluefish")
        await ana.says("/forget redfish")
        await ana.says("/forget bluefish")
        asked = [one for one in harness.chat.shown if "I found these words" in one.text]
        assert [bool(one.labels) for one in asked] == [False, True, True]
        assert "no longer needs an answer" in asked[0].text
        assert "Notes: 0" not in asked[-1].text
        waiting = await harness.read(
            lambda c: c.execute("SELECT COUNT(*) FROM questions WHERE state = 'open'").fetchone()
        )
        assert waiting == (2,)


async def test_a_forgotten_entry_is_explained_as_such_and_stays_deleted(tmp_path: Path) -> None:
    async with running(tmp_path, Planter(), chat=make_chat()) as harness:
        ana = ChatAccount(harness, "4711001", "Zebrana")
        await ana.says("hello")
        folder = tmp_path / "memories" / "people" / "zebrana"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "MEMORY.md").write_text("- likes tea\n")
        await ana.says("/memory")
        (folder / "MEMORY.md").write_text("- likes tea\n- knows bluefish\n")
        await ana.says("/memory")
        await ana.says("/forget bluefish")
        await ana.presses(privacy.FORGET_ENTRIES())
        await settled(harness)
        why = await ana.says("/why 3")
        assert why == "That was deleted permanently with /forget. Nothing about it is left to show."
        said = "/forget deletes permanently, so I can't take it back."
        assert (await ana.says("/undo")).startswith(f"{said} The change before that")
        for number in (3, 4):
            assert "deleted permanently" in await ana.says(f"/undo {number}")
        assert "likes tea" in await ana.says("/memory")
        assert "Removed: likes tea" in await ana.says("/undo 2")
        assert "Restored: likes tea" in await ana.says("/undo 5")
        await ana.says("/forget likes tea")
        await ana.presses(privacy.FORGET_ENTRIES())
        await settled(harness)
        assert await ana.says("/undo") == said


async def test_the_name_of_a_block_is_forgotten_and_its_entries_stay(tmp_path: Path) -> None:
    async with running(tmp_path, Planter(), chat=make_chat()) as harness:
        ana = ChatAccount(harness, "4711001", "Zebrana")
        await ana.says("hello")
        for label in ("bluefish", "letters"):
            await ana.says(f"/block new {label} 500 what it says")
            folder = tmp_path / "memories" / "blocks" / label
            folder.mkdir(parents=True)
            (folder / "MEMORY.md").write_text(f"- kept in {label[0]}\n")
        await ana.says("/block")
        asked = await ana.says("/forget *luefis")
        assert "Names of shared notes: 1" in asked
        await ana.presses(privacy.FORGET_ALL())
        await settled(harness)
        (name,) = re.findall(
            r"These shared notes have new names: (untitled-\d+)\.", last(harness, ana)
        )
        assert "- kept in b" in (await ana.says(f"/block {name}")).replace("1: ", "")
        assert "letters" in await ana.says("/block")
    assert search(tmp_path, "bluefish") == []


async def test_an_erased_person_learns_which_backups_have_their_data(tmp_path: Path) -> None:
    async with running(tmp_path, Planter(), chat=make_chat()) as harness:
        database, backups = harness.gateway.database, tmp_path / "backups"
        backups.mkdir()
        ana, ben = two_accounts(harness)
        await ben.says("hello")
        await database.back_up(backups / "state-1.db")
        await ana.says("hello")
        await database.back_up(backups / "state-2.db")
        person = await ana.person()
        assert person is not None
        since = await database.read(lambda c: people.find_first_moment(c, person_id=person.id))
        for name, moment in (("nightly-1.tar.gz", since - 1), ("nightly-2.tar.gz.age", since + 1)):
            (backups / name).write_bytes(b"")
            os.utime(backups / name, (moment / 1000, moment / 1000))
        await ana.says("/erase me")
        await ana.presses(privacy.ERASE_YES())
        await ana.presses(privacy.ERASE_SURE())
        await settled(harness)
        assert "state-2.db" in last(harness, ana)
        assert "nightly-2.tar.gz.age" in last(harness, ana)
        assert "state-1.db" not in last(harness, ana)
        assert "nightly-1.tar.gz" not in last(harness, ana)
        assert await ana.person() is None


def last(harness: Harness, account: ChatAccount) -> str:
    """The text of the newest message in somebody's direct chat."""
    return [one.text for one in harness.chat.shown if one.chat_id == account.user][-1]


async def test_an_unanswered_question_blocks_nothing(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(say("Hello."))) as harness:
        ana = ChatAccount(harness, "4711001", "Zebrana")
        await ana.says("hello bluefish")
        await ana.says("/forget bluefish")
        await ana.says("/forget bluefish")
        await ana.presses(privacy.FORGET_ALL())
        await settled(harness)
        assert await count(harness, "questions", "state = 'open'") == 0
    assert search(tmp_path, "bluefish") == []


async def test_an_empty_forget_deletes_nothing(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(say("Hello."))) as harness:
        ana = ChatAccount(harness, "4711001", "Zebrana")
        await ana.says("hello bluefish")
        assert await ana.says("/forget") == privacy.FORGET_USAGE()
        assert await ana.says("/forget ab") == privacy.FORGET_USAGE()
        assert await ana.says("/forget redfish") == privacy.FORGET_NOTHING()
        await ana.says("/forget bluefish")
        await ana.presses(privacy.FORGET_NONE())
        await settled(harness)
        assert await count(harness, "messages", "text LIKE '%bluefish%'") == 1


async def test_messages_of_others_stay(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(say("One."), say("Two."))) as harness:
        ana, ben = two_accounts(harness)
        await ana.says("my bluefish")
        await ben.says("another bluefish")
        await ana.says("/forget bluefish")
        await ana.presses(privacy.FORGET_ALL())
        await settled(harness)
        left = await harness.read(
            lambda c: c.execute("SELECT text FROM messages WHERE text LIKE '%fish'").fetchall()
        )
        assert left == [("another bluefish",)]


async def test_forgotten_messages_are_found_by_no_search(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(say("One."), say("Two."))) as harness:
        ana = ChatAccount(harness, "4711001", "Zebrana")
        await ana.says("my bluefish swims")
        await ana.says("/forget bluefish")
        await ana.presses(privacy.FORGET_ALL())
        await settled(harness)
        assert await ana.says("/forget swims") == privacy.FORGET_NOTHING()
        found = "SELECT COUNT(*) FROM message_search WHERE message_search MATCH '\"p1_swim\"'"
        assert await harness.read(lambda c: c.execute(found).fetchone()[0]) == 0
        await ana.says("and now?")
        assert "bluefish" not in str(harness.model.requests[-1])


async def test_an_erased_persons_messages_in_a_shared_room_are_erased(
    tmp_path: Path,
) -> None:
    model = FakeModel(*(say(f"Answer {n}.") for n in range(6)))
    async with running(tmp_path, model) as harness:
        olga = ChatAccount(harness, "4711001", "Olga")
        ana = ChatAccount(harness, "4711002", "Zebrana")
        await olga.says("hello")
        await make_owner(harness, olga.user)
        await olga.says("/room room", **ROOM)
        await ana.says("we all like bluefish", **ROOM)
        await olga.says("and I like redfish", **ROOM)
        await ana.says("/erase me")
        await ana.presses(privacy.ERASE_YES())
        await ana.presses(privacy.ERASE_SURE())
        await settled(harness)
        await olga.says("who said what?", **ROOM)
        seen = str(harness.model.requests[-1].messages)
        assert "[erased]" in seen
        assert "redfish" in seen
        assert "bluefish" not in seen
    assert search(tmp_path, "bluefish", "zebrana", "4711002") == []


async def test_linked_accounts_are_erased_together(tmp_path: Path) -> None:
    async with running(tmp_path, Planter(), chat=make_chat()) as harness:
        home, work = (
            ChatAccount(harness, "4711001", "Zebrana"),
            ChatAccount(harness, "4711002", "Zebrawork"),
        )
        await plant(harness, home, "bluefish")
        await plant(harness, work, "redfish")
        await home.joins(work)
        await harness.at_rest()
        asked = home.asked()
        if asked and "Leave them" in asked.labels:
            await home.presses("Leave them")
        await home.says("/erase me")
        await home.presses(privacy.ERASE_YES())
        await home.presses(privacy.ERASE_SURE())
        await settled(harness)
        assert list((tmp_path / "memories" / "people").iterdir()) == []
    assert search(tmp_path, "bluefish", "redfish", "zebra", "4711001", "4711002") == []


async def test_an_interrupted_erasure_continues_at_the_next_start(tmp_path: Path) -> None:
    async with running(tmp_path, Planter(), chat=make_chat()) as harness:
        ana = ChatAccount(harness, "4711001", "Zebrana")
        await plant(harness, ana, "bluefish")
        person = await ana.person()
        assert person
        # Run only the deciding transaction, as if the process had died after it.
        eraser = harness.gateway.data_requests.erasing._erasure
        await eraser.begin(person.id, now=1)
        assert await harness.read(lambda c: erase_person.is_erased(c, person_id=person.id))
    assert search(tmp_path, "bluefish") != []
    async with running(tmp_path, Planter(), chat=make_chat()) as harness:
        await settled(harness)
        assert await harness.read(lambda c: meta.list_under(c, prefix="erase:")) == {}
    assert search(tmp_path, "bluefish", "zebrana", "4711001") == []


async def test_external_memories_forget_erased_people(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(say("Hello."), say("Hello."))) as harness:
        ana, ben = two_accounts(harness)
        for account in (ana, ben):
            await account.says("hello")
            person = await account.person()
            assert person
            row = ("away", person.id, "turn", f"turn:{person.id}", "bluefish", "done", 1, 1)
            await harness.gateway.database.write(
                "plant",
                lambda c, row=row: c.execute(
                    "INSERT INTO external_sync (provider, person_id, kind, key, payload, state,"
                    " due_at,"
                    " created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    row,
                ),
            )
        gone = await ana.person()
        assert gone
        await harness.gateway.data_requests.erasing.erase(gone.id)
        rows = await harness.read(
            lambda c: c.execute(
                "SELECT person_id, kind, state FROM external_sync ORDER BY id"
            ).fetchall()
        )
        assert (gone.id, "erase", "owed") in rows
        assert [row for row in rows if row[0] == gone.id] == [(gone.id, "erase", "owed")]
        assert len(rows) == 2


async def test_a_confirmed_request_is_done_after_a_crash(tmp_path: Path) -> None:
    async with running(tmp_path, Planter(), chat=make_chat()) as harness:
        ana = ChatAccount(harness, "4711001", "Zebrana")
        await plant(harness, ana, "bluefish")
        person = await ana.person()
        assert person
    database = await open_database(tmp_path / "state.db")
    wish = {"person_id": person.id, "words": "bluefish", "has_messages": True, "place": None}
    await database.write(
        "wish", lambda c: meta.put(c, key="owed:forget:q1", value=json.dumps(wish))
    )
    await database.close()
    async with running(tmp_path, Planter(), chat=make_chat()) as harness:
        await settled(harness)
    assert search(tmp_path, "bluefish") == []


async def test_what_arrives_before_the_answer_is_forgotten_and_what_comes_later_stays(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, Planter(), chat=make_chat()) as harness:
        ana = ChatAccount(harness, "4711001", "Zebrana")
        await ana.says("hello bluefish, the first")
        await ana.says("/forget bluefish")
        await ana.says("hello bluefish, the second")
        await ana.presses(privacy.FORGET_ALL())
        await settled(harness)
        assert await count(harness, "messages", "text LIKE '%bluefish%'") == 0
        await ana.says("hello bluefish, the third")
        assert await count(harness, "messages", "text LIKE '%the third%'") == 1
    assert search(tmp_path, "the second") == []
