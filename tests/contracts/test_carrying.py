"""Files come in and go out."""

import pytest

from adapters.abilities import CanFetch, CanFind, CanSendFiles
from adapters.errors import Rejected, Unsure
from adapters.messages import OutboundFile
from tests.contracts.rig import Rig
from tests.contracts.speech import able, deliver, message, read
from tests.fakes.inlet import FakeInlet

NOTES = OutboundFile(name="notes.txt", media_type="text/plain", data=b"Buy milk.\n" * 10_000)
TABLE = OutboundFile(name="table.csv", media_type="text/csv", data=b"a;b\n1;2\n")


async def test_what_a_person_attaches_can_be_fetched(rig: Rig, inlet: FakeInlet) -> None:
    adapter = able(rig, CanFetch)
    await rig.says("my notes", files=[NOTES])
    (event,) = await inlet.receives(1)
    found = read(rig, event)
    (attachment,) = found.attachments
    assert (found.text, attachment.kind, attachment.name) == ("my notes", "document", "notes.txt")
    assert attachment.size in (None, len(NOTES.data))
    assert await adapter.fetch(attachment, most_bytes=len(NOTES.data)) == NOTES.data


async def test_a_file_that_is_too_large_is_not_fetched(rig: Rig, inlet: FakeInlet) -> None:
    adapter = able(rig, CanFetch)
    await rig.says("my notes", files=[NOTES])
    (event,) = await inlet.receives(1)
    (attachment,) = read(rig, event).attachments
    with pytest.raises(Rejected, match=r"\S+ \S+.*\.$"):
        await adapter.fetch(attachment, most_bytes=len(NOTES.data) - 1)


async def test_a_file_goes_out_with_its_name_and_its_words(rig: Rig) -> None:
    assert able(rig, CanSendFiles).most_file_bytes >= 1_000_000
    first = await rig.adapter.send(message(rig, "Here you are", "k1", file=TABLE))
    second = await rig.adapter.send(message(rig, "", "k2", file=NOTES))
    assert first != second
    assert rig.files() == [(TABLE.name, TABLE.data), (NOTES.name, NOTES.data)]
    assert "Here you are" in rig.shown()


@pytest.mark.parametrize("mishap", ["lose_answer", "lose_request"])
async def test_an_unsure_file_is_shown_once_in_the_end(rig: Rig, mishap: str) -> None:
    able(rig, CanSendFiles)
    known = [await rig.adapter.send(message(rig, "before", "k0"))]
    queued = message(rig, "Here you are", "k1", file=TABLE)
    getattr(rig, mishap)(is_file=True)
    with pytest.raises(Unsure):
        await rig.adapter.send(queued)
    found = await able(rig, CanFind).find(queued, known)
    if found is None:
        await deliver(rig, queued, known)
    assert rig.files() == [(TABLE.name, TABLE.data)]
