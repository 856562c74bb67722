"""Attachments: pictures, documents, voice notes, and files that the model makes."""

import base64

from adapters.messages import OutboundFile
from tests.emulators.openai import OpenAIEmulator
from tests.emulators.pictures import make_jpeg, make_png
from tests.emulators.streaming import Json
from tests.emulators.telegram_cast import ANNA
from tests.gateway.media.documents import make_pdf
from tests.journeys.accounts import texts
from tests.journeys.platforms import everywhere
from tests.journeys.stage import Stage, call, calls, facts, heard, pictures, results

PICTURE = OutboundFile(name="cat.jpg", media_type="image/jpeg", data=make_jpeg())
LETTER = OutboundFile(name="letter.pdf", media_type="application/pdf", data=make_pdf("Dear Anna"))
SCAN = OutboundFile(name="scan.pdf", media_type="application/pdf", data=make_pdf(""))
NOTES = OutboundFile(name="notes.txt", media_type="text/plain", data=b"Buy milk\n")
VOICE = OutboundFile(name="voice.ogg", media_type="audio/ogg", data=b"OggS" + bytes(100))
ARCHIVE = OutboundFile(name="all.zip", media_type="application/zip", data=b"PK\x03\x04" + bytes(50))


@everywhere
async def test_a_picture_reaches_the_model_as_a_picture_and_stays_in_the_conversation(
    deployment: Stage, platform: str
) -> None:
    anna = deployment.account(platform, ANNA)
    async with deployment.open() as harness:
        deployment.plan("A cat.", "Grey.")
        assert await harness.hears(anna, "what is it?", files=[PICTURE]) == "A cat."
        assert pictures(deployment.turns[-1]) == [PICTURE.data]
        assert await harness.hears(anna, "which colour?") == "Grey."
        assert pictures(deployment.turns[-1]) == [PICTURE.data]


@everywhere
async def test_a_picture_without_text_is_a_message(deployment: Stage, platform: str) -> None:
    anna = deployment.account(platform, ANNA)
    async with deployment.open() as harness:
        deployment.plan("A cat.")
        assert await harness.hears(anna, "", files=[PICTURE]) == "A cat."
        assert pictures(deployment.turns[-1]) == [PICTURE.data]


def list_pdf_files(body: Json) -> list[bytes]:
    """Return the PDF files in a request."""
    return [
        base64.b64decode(block["source"]["data"])
        for message in body["messages"]
        for block in message["content"]
        if block["type"] == "document"
    ]


@everywhere
async def test_a_scan_reaches_the_model_as_a_file(deployment: Stage, platform: str) -> None:
    anna = deployment.account(platform, ANNA)
    async with deployment.open() as harness:
        deployment.plan("A receipt.")
        assert await harness.hears(anna, "what is it?", files=[SCAN]) == "A receipt."
        assert list_pdf_files(deployment.turns[-1]) == [SCAN.data]
        (said,) = [one for one in heard(deployment.turns[-1]) if "attached-file" in one]
        assert "scan.pdf" in said
        assert "It holds no text, such as a scan." in said


@everywhere
async def test_a_pdf_and_a_text_file_reach_the_model_as_text(
    deployment: Stage, platform: str
) -> None:
    anna = deployment.account(platform, ANNA)
    async with deployment.open() as harness:
        for file, words in ((LETTER, "Dear Anna"), (NOTES, "Buy milk")):
            await harness.hears(anna, "sum up", files=[file])
            (said,) = [one for one in heard(deployment.turns[-1]) if words in one]
            assert said.startswith("<attached-file")
            assert file.name in said
        assert list_pdf_files(deployment.turns[-1]) == [LETTER.data], "it is seen, too"


@everywhere
async def test_a_voice_note_reaches_the_model_as_text(deployment: Stage, platform: str) -> None:
    anna = deployment.account(platform, ANNA)
    async with OpenAIEmulator() as ears:
        ears.transcripts.append("Remind me of the milk")
        async with deployment.open(
            TALARIA_MEDIA__TRANSCRIPTION="openai",
            OPENAI_API_KEY="key",
            OPENAI_BASE_URL=ears.base_url,
        ) as harness:
            deployment.plan("When?")
            assert await harness.hears(anna, "", files=[VOICE]) == "When?"
        assert [one.data for one in ears.recordings] == [VOICE.data]
    assert heard(deployment.turns[-1])[-1] == "Remind me of the milk"
    assert "Spoken" in facts(deployment.turns[-1])


@everywhere
async def test_without_transcription_a_voice_note_gets_a_clear_notice(
    deployment: Stage, platform: str
) -> None:
    anna = deployment.account(platform, ANNA)
    async with deployment.open() as harness:
        reported = await harness.hears(anna, "", files=[VOICE])
        assert "I can't listen to voice messages here" in reported
        assert deployment.turns == []


@everywhere
async def test_unreadable_and_too_long_files_are_reported(deployment: Stage, platform: str) -> None:
    anna = deployment.account(platform, ANNA)
    async with deployment.open(TALARIA_MEDIA__DOCUMENT_CHARACTERS="1000") as harness:
        deployment.plan("Sure.")
        reported = await harness.hears(anna, "help me", files=[ARCHIVE])
        assert "all.zip" in reported
        assert "Sure." in reported
        assert len(texts(anna)) == 1
        long = OutboundFile(name="long.txt", media_type="text/plain", data=b"x" * 1500)
        reported = await harness.hears(anna, "sum up", files=[long])
        assert "the first 1,000 of 1,500 characters" in reported


@everywhere
async def test_a_file_that_the_model_makes_arrives_with_the_answer(
    deployment: Stage, platform: str
) -> None:
    anna = deployment.account(platform, ANNA)
    async with deployment.open() as harness:
        made = {"name": "plan.md", "text": "# Plan\n"}
        deployment.plan(
            calls({"type": "tool_use", "name": "send_file", "input": made}), "Here it is."
        )
        await harness.takes(anna.says("make me a plan"))
        assert texts(anna)[0] == "Here it is."
        assert [one.file for one in anna.seen() if one.file] == [("plan.md", b"# Plan\n")]


@everywhere
async def test_a_picture_that_a_command_makes_arrives_as_a_picture(
    deployment: Stage, platform: str
) -> None:
    anna = deployment.account(platform, ANNA)
    picture = make_png()
    draw = f"mkdir out; echo {base64.b64encode(picture).decode()} | base64 -d > out/blue-cat.png"
    async with deployment.open(TALARIA_TOOLS__BACKEND="local") as harness:
        deployment.plan(
            calls(call("terminal", command=draw)),
            calls(call("send_file", path="out/blue-cat.png")),
            "Here is the cat.",
        )
        await harness.takes(anna.says("draw me a cat"))
        text, shown = anna.seen()
        assert text.text == "Here is the cat."
        assert shown.file == ("blue-cat.png", picture)
        assert shown.text == "Blue cat"
    assert deployment.telegram.calls["sendPhoto"] == (1 if platform == "telegram" else 0)


async def test_only_a_file_of_the_workspace_that_chats_take_is_sent(stage: Stage) -> None:
    anna = stage.account("telegram", ANNA)
    async with stage.open(TALARIA_TOOLS__BACKEND="local") as harness:
        stage.plan(
            calls(call("terminal", command="truncate -s 9M big; touch empty")),
            calls(
                call("send_file", path="../../state.db"),
                call("send_file", path="missing.png"),
                call("send_file", path="big"),
                call("send_file", path="empty"),
                call("send_file", path="big", text="a"),
            ),
            "I can't.",
        )
        assert await harness.hears(anna, "send me all") == "I can't."
        said = results(stage.turns[-1])
        assert "leads out of the workspace" in said[0]
        assert "does not exist" in said[1]
        assert "has 9,437,184 bytes; 1 to 8,000,000 can be sent" in said[2]
        assert "has 0 bytes" in said[3]
        assert "give `path` alone" in said[4]
        assert not [one for one in anna.seen() if one.file]


async def test_a_picture_reaches_an_openai_model(deployment: Stage) -> None:
    anna = deployment.account("discord", ANNA)
    async with OpenAIEmulator() as model:
        picture = OutboundFile(name="a.png", media_type="image/png", data=make_png())
        async with deployment.open(
            TALARIA_MODEL__PROVIDER="openai",
            OPENAI_API_KEY="key",
            OPENAI_BASE_URL=model.base_url,
        ) as harness:
            await harness.hears(anna, "what is it?", files=[picture])
            parts = model.requests[-1]["messages"][-1]["content"]
            (url,) = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
            assert base64.b64decode(url.partition(",")[2]) == picture.data
