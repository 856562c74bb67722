"""Files are received and sent within Telegram's limits and ours."""

import asyncio
from dataclasses import replace

import pytest

from adapters.errors import AdapterError, ChatGone, RateLimited, Rejected, Unreachable, Unsure
from adapters.messages import Attachment, OutboundFile, OutboundMessage
from tests.adapters.telegram.rig import ANNA, Rig, running, to
from tests.emulators import telegram_faults as faults
from tests.emulators.telegram import TelegramEmulator
from tests.emulators.telegram_media import document, voice
from tests.fakes.inlet import FakeInlet
from tests.patience import until

TABLE = OutboundFile(name="t.csv", media_type="text/csv", data=b"a;b\n")
MOST = 1_000_000


def attached(file_id: str = "d1", size: int | None = None) -> Attachment:
    return Attachment(kind="document", file_id=file_id, name="notes.txt", size=size)


def carrying(file: OutboundFile, text: str = "") -> OutboundMessage:
    return replace(to(ANNA, text), file=file)


# In


async def test_an_attachment_is_fetched_as_it_was_sent(rig: Rig) -> None:
    await rig.api.says(ANNA, None, caption="listen", **voice(size=500_000))
    rig.api.world.contents["voice-1"] = bytes(range(250)) * 2000
    (event,) = await rig.inlet.receives(1)
    found = rig.adapter.receive(event)
    assert found is not None
    (attachment,) = found.attachments  # type: ignore[union-attr]
    assert await rig.adapter.fetch(attachment, most_bytes=MOST) == bytes(range(250)) * 2000


@pytest.mark.parametrize("is_length_reported", [True, False])
@pytest.mark.parametrize("reported", [None, 3])
async def test_a_file_is_never_read_beyond_the_limit_whatever_its_stated_size(
    rig: Rig, reported: int | None, is_length_reported: bool
) -> None:
    rig.api.reports_length = is_length_reported
    await rig.api.says(ANNA, None, **document(file_id="d1", size=reported or 0))
    rig.api.world.contents["d1"] = b"x" * (MOST + 1)
    with pytest.raises(Rejected, match=r"larger than the 1 MB"):
        await rig.adapter.fetch(attached(size=reported), most_bytes=MOST)
    rig.api.world.contents["d1"] = b"x" * MOST
    assert len(await rig.adapter.fetch(attached(size=reported), most_bytes=MOST)) == MOST


async def test_a_file_with_a_too_large_stated_size_is_not_requested(rig: Rig) -> None:
    with pytest.raises(Rejected, match="larger than the 1 MB"):
        await rig.adapter.fetch(attached(size=MOST + 1), most_bytes=MOST)
    assert rig.api.calls["getFile"] == 0
    await rig.api.says(ANNA, None, **document(file_id="d1", size=MOST + 1))
    with pytest.raises(Rejected, match="larger than the 1 MB"):
        await rig.adapter.fetch(attached(), most_bytes=MOST)
    assert rig.api.calls["file"] == 0


async def test_telegrams_own_limit_is_reported(rig: Rig) -> None:
    await rig.api.says(ANNA, None, **document(file_id="d1", size=20_000_001))
    with pytest.raises(Rejected, match="larger than the 20 MB"):
        await rig.adapter.fetch(attached(), most_bytes=50_000_000)


async def test_a_missing_file_is_reported(rig: Rig) -> None:
    await rig.api.says(ANNA, None, **document(file_id="d1"))
    for file_id in ("d1", "never", ""):
        with pytest.raises(Rejected, match=r"\S+ \S+ .*\.$"):
            await rig.adapter.fetch(attached(file_id), most_bytes=MOST)


@pytest.mark.parametrize("method", ["getFile", "file"])
@pytest.mark.parametrize(
    ("fault", "expected"),
    [(faults.DROP, Unreachable), (faults.http(502), Unreachable),
     (faults.retry_after(9), RateLimited)],
)  # fmt: skip
async def test_a_failed_fetch_is_mapped(
    rig: Rig, method: str, fault: faults.Fault, expected: type[AdapterError]
) -> None:
    await rig.api.says(ANNA, None, **document(file_id="d1"))
    rig.api.world.contents["d1"] = b"x"
    rig.api.fail(method, times=3, kind=fault)  # a GET is tried again by itself
    with pytest.raises(AdapterError) as caught:
        await rig.adapter.fetch(attached(), most_bytes=MOST)
    assert type(caught.value) is expected
    assert rig.api.token.partition(":")[2] not in str(caught.value)
    rig.api.clear_faults()
    assert await rig.adapter.fetch(attached(), most_bytes=MOST) == b"x"


# Out


async def test_a_file_goes_out_with_its_caption_name_and_type(rig: Rig) -> None:
    asked = await rig.api.says(ANNA, "a table, please")
    queued = carrying(TABLE, "**Here** it is")
    await rig.adapter.send(replace(queued, reply_to=str(asked), is_silent=True))  # type: ignore[arg-type]
    (shown,) = rig.api.messages(ANNA)
    assert shown.file is not None
    assert (shown.file.name, shown.file.media_type) == ("t.csv", "text/csv")
    assert shown.file.data == TABLE.data
    assert (shown.text, shown.reply_to, shown.is_silent) == ("Here it is", asked, True)
    assert shown.entities == [{"type": "bold", "offset": 0, "length": 4}]


async def test_names_of_files_may_be_in_any_script(rig: Rig) -> None:
    names = ["Übersicht 2026.pdf", "表.csv", 'a"b;c.txt', "two\nlines.txt"]
    for name in names:
        await rig.adapter.send(carrying(replace(TABLE, name=name)))
    assert [shown.file.name for shown in rig.api.messages(ANNA) if shown.file] == [
        *names[:3],
        "two_lines.txt",
    ]


@pytest.mark.parametrize(
    ("data", "text"), [(b"", "x"), (b"x", "y" * 1025), (b"x" * 50_000_001, "x")]
)
async def test_an_invalid_file_is_never_sent(rig: Rig, data: bytes, text: str) -> None:
    with pytest.raises(Rejected, match="Telegram takes"):
        await rig.adapter.send(carrying(replace(TABLE, data=data), text))
    assert rig.api.calls["sendDocument"] == 0


@pytest.mark.slow
async def test_the_largest_file_is_taken(rig: Rig) -> None:
    await rig.adapter.send(
        carrying(replace(TABLE, data=b"x" * rig.adapter.most_file_bytes), "y" * 1024)
    )
    assert len(rig.api.messages(ANNA)) == 1


@pytest.mark.parametrize(
    ("fault", "expected"),
    [(faults.DROP, Unsure), (faults.LOSE, Unsure), (faults.http(502), Unsure),
     (faults.retry_after(9), RateLimited), (faults.blocked(), ChatGone)],
)  # fmt: skip
async def test_a_failed_upload_is_mapped(
    rig: Rig, fault: faults.Fault, expected: type[AdapterError]
) -> None:
    rig.api.fail("sendDocument", kind=fault)
    with pytest.raises(expected):
        await rig.adapter.send(carrying(TABLE))


async def test_an_edit_of_a_file_changes_its_caption(rig: Rig) -> None:
    sent = await rig.adapter.send(carrying(TABLE, "before"))
    await rig.adapter.edit(carrying(TABLE, "after"), sent)
    await rig.adapter.edit(carrying(TABLE, "after"), sent)
    assert rig.api.messages(ANNA)[0].history == ["before", "after"]


@pytest.mark.parametrize("text", ["", "a table"])
async def test_a_file_whose_answer_was_lost_is_found_among_texts_and_they_beside_it(
    api: TelegramEmulator, inlet: FakeInlet, text: str
) -> None:
    first, file, second = to(ANNA, "first"), carrying(TABLE, text), to(ANNA, "second")
    async with running(api, inlet) as rig:
        before = await rig.adapter.send(to(ANNA, "before"))
        for queued, method in ((first, "Message"), (file, "Document"), (second, "Message")):
            api.fail(f"send{method}", kind=faults.LOSE)
            with pytest.raises(Unsure):
                await rig.adapter.send(queued)
    ids = [str(shown.message_id) for shown in api.messages(ANNA)[1:]]
    async with running(api, inlet) as rig:  # which knows none of them
        assert await rig.adapter.find(file, [before]) == ids[1]
    async with running(api, inlet) as rig:
        assert await rig.adapter.find(first, [before]) == ids[0]
        assert await rig.adapter.find(second, [before]) == ids[2]
    assert [shown.history for shown in api.messages(ANNA)[1:]] == [["first"], [text], ["second"]]


async def test_uploads_do_not_delay_text(rig: Rig) -> None:
    rig.api.fail("sendDocument", kind=faults.HANG)
    upload = asyncio.create_task(rig.adapter.send(carrying(TABLE)))
    await until(lambda: rig.api.calls["sendDocument"] == 1)
    await rig.adapter.send(to(ANNA, "meanwhile"))
    assert not upload.done()
    upload.cancel()
    with pytest.raises(asyncio.CancelledError):
        await upload
