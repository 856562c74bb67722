"""Forgotten and erased data is in no byte of any file, shown by planted words."""

from pathlib import Path

from gateway.texts import privacy
from tests.integration.accounts import ChatAccount, count, two_accounts
from tests.integration.canaries import PLACES, Planter, make_chat, plant, search, words
from tests.integration.harness import running
from tests.integration.privacy.deletions import settled


def put_calendar(home: Path, slug: str, family: str) -> Path:
    """Write a calendar file for a person's digests."""
    path = home / "sources" / "people" / slug / f"{family}calendar.ics"
    path.parent.mkdir(parents=True)
    path.write_text(f"BEGIN:VCALENDAR\r\nSUMMARY:{family[:4]}\r\n {family[4:]}\r\n {family}s\r\n")
    return path


async def test_every_place_was_planted(tmp_path: Path) -> None:
    async with running(tmp_path, Planter(), chat=make_chat()) as harness:
        await plant(harness, ChatAccount(harness, "4711001", "Zebrana"), "bluefish")
    found = {line.split()[0] for line in search(tmp_path, *words("bluefish"))}
    assert found == set(words("bluefish"))
    assert len(found) == len(PLACES)


async def test_forgotten_data_is_in_no_byte_of_the_home(tmp_path: Path) -> None:
    async with running(tmp_path, Planter(), chat=make_chat()) as harness:
        ana, ben = two_accounts(harness, "Ben")
        await plant(harness, ana, "bluefish")
        await plant(harness, ben, "redfish")
        shown = await ana.says("/forget bluefish")
        assert "Notes: " in shown
        await ana.presses(privacy.FORGET_ALL())
        await settled(harness)
        assert await count(harness, "messages", "forgotten_at IS NOT NULL") > 0
        assert "bluefish" not in await ana.says("/memory")
        assert "redfishmemory" in await ben.says("/memory")
        harness.model.plays.clear()
        await ana.says("are you still there?")
        assert "bluefish" not in str(harness.model.requests[-1])
    assert search(tmp_path, "bluefish") == []
    assert {line.split()[0] for line in search(tmp_path, *words("redfish"))} == set(
        words("redfish")
    )


async def test_an_erased_person_is_in_no_byte_of_the_home(tmp_path: Path) -> None:
    async with running(tmp_path, Planter(), chat=make_chat()) as harness:
        ana, ben = two_accounts(harness, "Ben")
        await plant(harness, ana, "bluefish")
        await plant(harness, ben, "redfish")
        theirs = put_calendar(tmp_path, "zebrana", "bluefish")
        bens = put_calendar(tmp_path, "ben", "redfish")
        await ana.says("/erase me")
        await ana.presses(privacy.ERASE_YES())
        await ana.presses(privacy.ERASE_SURE())
        await settled(harness)
        assert privacy.describe_erase_begun([], []) in [s.text for s in harness.chat.shown]
        assert not (tmp_path / "memories" / "people" / "zebrana").exists()
        assert not theirs.parent.exists()
        assert bens.exists()
        assert "redfishmemory" in await ben.says("/memory")
    assert search(tmp_path, "bluefish", "4711001", "zebrana") == []
    assert {line.split()[0] for line in search(tmp_path, *words("redfish"))} == set(
        words("redfish")
    )


async def test_erasing_deletes_a_link_but_not_its_target(
    tmp_path: Path,
) -> None:
    async with running(tmp_path / "home", Planter(), chat=make_chat()) as harness:
        ana, ben = two_accounts(harness, "Ben")
        await ana.says("hello")
        await ben.says("hello")
        file = put_calendar(tmp_path, "elsewhere", "bluefish")
        link = tmp_path / "home" / "sources" / "people" / "ben"
        link.parent.mkdir(parents=True)
        link.symlink_to(file.parent)
        await ben.says("/erase me")
        await ben.presses(privacy.ERASE_YES())
        await ben.presses(privacy.ERASE_SURE())
        await settled(harness)
        assert not link.is_symlink()
        assert file.exists()


async def test_forgotten_words_in_a_calendar_file_are_reported(tmp_path: Path) -> None:
    async with running(tmp_path, Planter(), chat=make_chat()) as harness:
        ana = ChatAccount(harness, "4711001", "Zebrana")
        await ana.says("I like bluefish")
        put_calendar(tmp_path, "zebrana", "redfish")
        file = put_calendar(tmp_path / "sources" / "people" / "zebrana", "x", "bluefish")
        before = file.read_bytes()
        await ana.says("/forget bluefish")
        await ana.presses(privacy.FORGET_ALL())
        await settled(harness)
        (reported,) = [one.text for one in harness.chat.shown if one.text.startswith("Deleted:\n")]
        assert "The words are still in" in reported
        assert "bluefishcalendar.ics" in reported
        assert "redfishcalendar.ics" not in reported
        assert file.read_bytes() == before
