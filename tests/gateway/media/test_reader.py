"""What came along with a message: fetched within bounds, known by its bytes, kept or explained."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adapters.contract import ChatAdapter
from adapters.errors import NotPermitted, RateLimited, Unreachable
from adapters.ids import Address, PlatformMessageId, PlatformUserId
from adapters.messages import Attachment, AttachmentKind, InboundMessage, Sender
from agent_core.errors import StoreError
from agent_core.state.conversations import files
from agent_core.state.engine.database import Database
from gateway.media.reader import MOST_ATTACHMENTS, Limits, Reader
from gateway.media.readings import Picture, Reading, Unreadable, Words
from gateway.media.transcription import NotHeard
from gateway.texts import attachments as attachment_texts
from tests.databases import open_database
from tests.emulators.pictures import make_jpeg, make_png
from tests.fakes.chat import FakeChat, PlainChat
from tests.gateway.media.documents import BINARY, box, make_pdf, pack_names

pytestmark = pytest.mark.process

VOICE = b"OggS" + BINARY
GIGABYTES = 10_000_000_000


class Ears:
    """Hears what the test says."""

    def __init__(self, said: str = "Buy milk.") -> None:
        self.said = said
        self.heard: list[tuple[bytes, str]] = []

    async def transcribe(self, audio: bytes, media_type: str) -> str:
        self.heard.append((audio, media_type))
        if not self.said:
            raise NotHeard("I can't listen to that. Please write it.")
        return self.said


class Post:
    """A platform with things to be fetched, and the reader of a gateway."""

    def __init__(self, database: Database, ears: Ears | None = None) -> None:
        self.database = database
        self.chat = FakeChat()
        self.pauses: list[float] = []
        self.reports: list[tuple[str, str]] = []
        self.adapters: dict[str, ChatAdapter] = {"fake": self.chat}
        self.ears = ears
        self.reader = self.make(ears)

    def make(self, ears: Ears | None, *, shows_pdf: bool = False) -> Reader:
        return Reader(
            database=self.database,
            adapters=self.adapters,
            transcriber=ears,
            limits=Limits(
                shows_pdf=shows_pdf,
                image_bytes=50_000,
                file_bytes=100_000,
                characters=1000,
                seconds=5,
            ),
            now=lambda: 1,
            report=self._report,
            wait=self._wait,
        )

    async def _report(self, platform: str, reason: str) -> None:
        self.reports.append((platform, reason))

    async def _wait(self, seconds: float) -> None:
        self.pauses.append(seconds)

    def attach(
        self,
        data: bytes | None,
        kind: AttachmentKind = "document",
        *,
        name: str | None = None,
        size: int | None = None,
    ) -> Attachment:
        number = str(len(self.chat.attached) + 1)
        if data is not None:
            self.chat.attached[number] = data
        return Attachment(kind=kind, file_id=number, name=name, size=size)

    async def read(self, *attachments: Attachment, platform: str = "fake") -> tuple[Reading, ...]:
        message = InboundMessage(
            address=Address(chat_id="1", thread_id=None, is_direct=True),
            message_id=PlatformMessageId("1"),
            sender=Sender(user_id=PlatformUserId("7"), display_name="Ann"),
            text="",
            is_addressed=True,
            attachments=attachments,
            sent_at=1,
        )
        return await self.reader.read(platform, message)

    async def read_one(
        self, data: bytes | None, kind: AttachmentKind = "document", name: str | None = None
    ) -> Reading:
        (reading,) = await self.read(self.attach(data, kind, name=name))
        return reading

    async def kept(self) -> int:
        return await self.database.read(
            lambda c: int(c.execute("SELECT COUNT(*) FROM files").fetchone()[0])
        )


@pytest.fixture
async def post(tmp_path: Path) -> AsyncIterator[Post]:
    database = await open_database(tmp_path / "state.db")
    yield Post(database)
    await database.close()


def refused(reading: Reading) -> str:
    """The sentence for the person, with a note for the model beside it."""
    assert isinstance(reading, Unreadable)
    assert reading.sentence.endswith((".", ")"))
    return reading.sentence


async def test_a_picture_is_kept_and_known_by_its_key(post: Post) -> None:
    data = make_png()
    reading = await post.read_one(data, "image", "cat.png")
    assert isinstance(reading, Picture)
    assert (reading.name, reading.media_type, reading.size) == ("“cat.png”", "image/png", len(data))
    stored = await post.database.read(lambda c: files.find(c, key=reading.file_key))
    assert stored is not None
    assert (stored.data, stored.media_type) == (data, "image/png")


async def test_a_files_type_comes_from_its_bytes(post: Post) -> None:
    assert isinstance(await post.read_one(make_jpeg(), "document", "notes.txt"), Picture)
    words = await post.read_one(b"hello", "image", "cat.png")
    assert isinstance(words, Words)
    assert words.text == "hello"
    assert "this kind of file" in refused(
        await post.read_one(b"\x7fELF" + BINARY, "image", "cat.png")
    )
    assert await post.kept() == 1


async def test_text_and_pdf_files_become_words(post: Post) -> None:
    text = await post.read_one(b"one,two", name="a.csv")
    pdf = await post.read_one(make_pdf("A contract"), name="c.pdf")
    assert text == Words(name="“a.csv”", text="one,two")
    assert pdf == Words(name="“c.pdf”", text="A contract")
    assert await post.kept() == 0


async def test_a_model_sees_the_pages_of_a_short_pdf_and_of_a_scan(post: Post) -> None:
    post.reader = post.make(None, shows_pdf=True)
    letter, scan = make_pdf(*["A contract"] * 5), make_pdf(*[""] * 20)
    for data, text, pages in ((letter, "\n\n".join(["A contract"] * 5), 5), (scan, "", 20)):
        reading = await post.read_one(data, name="c.pdf")
        assert isinstance(reading, Words)
        assert reading.pdf
        assert (reading.text, reading.pdf.pages, reading.pdf.size) == (text, pages, len(data))
        key = reading.pdf.file_key
        stored = await post.database.read(lambda c, k=key: files.find(c, key=k))
        assert stored
        assert (stored.data, stored.media_type) == (data, "application/pdf")
    long = await post.read_one(make_pdf(*["A contract"] * 6), name="c.pdf")
    assert isinstance(long, Words)
    assert long.pdf is None
    assert "may be a scan" in refused(await post.read_one(make_pdf(*[""] * 21), name="d.pdf"))
    assert await post.kept() == 2


async def test_a_long_text_is_cut_and_the_extent_is_known(post: Post) -> None:
    reading = await post.read_one(b"x" * 5000, name="long.txt")
    assert isinstance(reading, Words)
    assert reading.text == "x" * 1000
    assert reading.extent == "the first 1,000 of 5,000 characters"


async def test_a_header_of_gigabytes_is_refused_without_fetching(post: Post) -> None:
    post.chat.mishaps.append((AssertionError("was fetched"), False))  # type: ignore[arg-type]
    (file,) = await post.read(post.attach(b"x", size=GIGABYTES))
    (picture,) = await post.read(post.attach(make_png(), "image", size=GIGABYTES))
    assert "larger than 0.1 MB" in refused(file)
    assert "larger than 0.05 MB" in refused(picture)
    assert len(post.chat.mishaps) == 1


async def test_a_file_that_is_larger_than_it_says_is_not_read_on(post: Post) -> None:
    (reading,) = await post.read(post.attach(b"x" * 200_000, size=10))
    assert "is larger than 0.1 MB" in refused(reading)
    large = await post.read_one(make_png() + bytes(60_000), "document", "big.png")
    assert "“big.png”: this is larger than" in refused(large)
    assert await post.kept() == 0


async def test_a_picture_of_too_many_pixels_is_refused_before_it_is_kept(post: Post) -> None:
    assert "8,000 pixels" in refused(await post.read_one(make_png(9000, 1), "image"))
    assert "damaged" in refused(await post.read_one(make_jpeg()[:50], "image"))
    assert await post.kept() == 0


@pytest.mark.parametrize(
    ("data", "kind", "words"),
    [
        (box(b"heic"), "image", "JPEG, PNG, GIF or WebP"),
        (pack_names({"word/document.xml": "x"}), "document", "can't read this file"),
        (pack_names({"../up.txt": "x"}), "document", "isn't safe to open"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + BINARY, "document", "old or locked format"),
        (b"7z\xbc\xaf\x27\x1c" + BINARY, "document", "this kind of archive"),
        (b"\x7fELF" + BINARY, "document", "this kind of file"),
        (b"", "document", "is empty"),
        (box(b"isom"), "document", "can't watch videos"),
        (box(b"isom"), "video", "can't watch videos"),
        (b"\x1f\x8b" + BINARY, "sticker", "I can't see stickers"),
        (None, "document", "can no longer be downloaded"),
    ],
)
async def test_an_unreadable_file_says_so(
    post: Post, data: bytes | None, kind: AttachmentKind, words: str
) -> None:
    assert words in refused(await post.read_one(data, kind))
    assert await post.kept() == 0


async def test_a_sticker_that_is_a_picture_is_one(post: Post) -> None:
    assert isinstance(await post.read_one(make_png(), "sticker", "😺"), Picture)


async def test_content_without_a_file_is_described_to_the_model(post: Post) -> None:
    place = Attachment(kind="described", file_id="", name="location: 52.5, 13.4")
    (reading,) = await post.read(place)
    assert isinstance(reading, Words)
    assert reading.text == "location: 52.5, 13.4"


async def test_without_transcription_a_voice_note_is_not_even_fetched(post: Post) -> None:
    post.chat.mishaps.append((AssertionError("was fetched"), False))  # type: ignore[arg-type]
    sentence = refused(await post.read_one(VOICE, "voice"))
    assert sentence == "Voice message: I can't listen to voice messages here. Please write it."
    assert len(post.chat.mishaps) == 1


async def test_a_voice_note_becomes_its_words(post: Post) -> None:
    ears = Ears()
    post.reader = post.make(ears)
    spoken = await post.read_one(VOICE, "voice")
    assert spoken == Words(name="Voice message", text="Buy milk.", is_voice=True)
    assert ears.heard == [(VOICE, "audio/ogg")]
    recording = await post.read_one(VOICE, "audio", "lecture.ogg")
    assert recording == Words(name="“lecture.ogg”", text="Buy milk.")
    misnamed = await post.read_one(b"typed", "voice")
    assert misnamed == Words(name="Voice message", text="typed")


async def test_a_missing_transcript_is_explained(post: Post) -> None:
    ears = Ears("")
    post.reader = post.make(ears)
    assert "can't listen" in refused(await post.read_one(VOICE, "voice"))
    ears.said = " \n"
    assert "heard no words" in refused(await post.read_one(VOICE, "voice"))


async def test_a_fetch_that_fails_is_tried_again(post: Post) -> None:
    post.chat.mishaps += [(Unreachable("away"), False), (RateLimited("slow", retry_after=2), False)]
    assert isinstance(await post.read_one(b"hello"), Words)
    assert post.pauses == [1.0, 2]


async def test_a_fetch_that_fails_for_good_is_a_sentence(post: Post) -> None:
    post.chat.mishaps += [(Unreachable("away"), False)] * 3
    assert "File: I couldn't download this" in refused(await post.read_one(b"hello"))
    post.chat.mishaps += [(RateLimited("slow", retry_after=3600), False)]
    assert "couldn't download" in refused(await post.read_one(b"hello"))


async def test_a_platform_that_hands_nothing_out_is_a_sentence(post: Post) -> None:
    post.adapters["plain"] = PlainChat()
    for platform in ("plain", "gone"):
        (reading,) = await post.read(post.attach(b"x"), platform=platform)
        assert "couldn't download" in refused(reading)


async def test_a_missing_permission_is_reported_in_the_words_of_the_platform(post: Post) -> None:
    post.chat.mishaps += [(NotPermitted("Add files:read on the app's page."), False)]
    assert "not allowed to download" in refused(await post.read_one(b"hello"))
    assert post.reports == [("fake", "Add files:read on the app's page.")]


async def test_many_attachments_keep_their_order_and_the_rest_is_reported(post: Post) -> None:
    attachments = [post.attach(f"text {number}".encode()) for number in range(MOST_ATTACHMENTS + 3)]
    *readings, rest = await post.read(*attachments)
    texts = [reading.text for reading in readings if isinstance(reading, Words)]
    assert texts == [f"text {number}" for number in range(MOST_ATTACHMENTS)]
    assert refused(rest) == attachment_texts.TOO_MANY(most=MOST_ATTACHMENTS)
    assert isinstance(rest, Unreadable)
    assert rest.note == "3 more, not read"


async def test_a_store_that_refuses_is_the_only_error(post: Post) -> None:
    await post.database.close()
    with pytest.raises(StoreError):
        await post.read(post.attach(make_png(), "image"), post.attach(make_png(5), "image"))


async def test_a_reading_that_is_given_up_leaves_nothing_running(post: Post) -> None:
    before = asyncio.all_tasks()
    reached = asyncio.Event()

    class Slow(Ears):
        async def transcribe(self, audio: bytes, media_type: str) -> str:
            reached.set()
            await asyncio.Event().wait()
            return ""

    post.reader = post.make(Slow())
    task = asyncio.create_task(post.read_one(VOICE, "voice"))
    await reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert asyncio.all_tasks() == before
