"""Pictures and documents on their way to Anthropic's API."""

import base64
import json

import pytest

from agent_core.models.anthropic.translate import render_request
from agent_core.models.images import UNSEEN, UNSEEN_PDF
from agent_core.transcript import (
    DocumentPart,
    ImagePart,
    Message,
    PdfPart,
    ToolResultPart,
    user_message,
)
from tests.agent_core.models.calls import ask, says
from tests.agent_core.models.rig import Rig
from tests.emulators.pictures import make_gif, make_png
from tests.fakes.model import call
from tests.gateway.media.documents import make_pdf

PNG = make_png()


def sent(key: str, media_type: str = "image/png", *, text: str = "what is it?") -> Message:
    part = ImagePart(file_key=key, media_type=media_type, size=len(PNG))
    return user_message(text, facts="<facts>\nNow: noon\n</facts>", parts=(part,))


async def test_a_picture_stands_behind_the_words_as_a_picture(rig: Rig) -> None:
    text, answer = await rig.ask(sent("k1"), images={"k1": PNG})
    assert text == "echo: what is it? | [image]"
    *_, words, image = rig.api.requests[0]["messages"][0]["content"]
    assert words["text"] == "what is it?"
    source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(PNG).decode()}
    assert (image["type"], image["source"]) == ("image", source)
    assert answer.usage.input_tokens + answer.usage.cache_write_tokens > 1600


async def test_a_refused_picture_takes_no_other_with_it(rig: Rig) -> None:
    await rig.ask(sent("k1"), images={"k1": PNG})
    dialogue = (sent("k1"), says("a square"), sent("bad"))
    text, _ = await rig.ask(*dialogue, images={"k1": PNG, "bad": b"broken"})
    assert text == f"echo: what is it? | {UNSEEN}"
    again, _ = await rig.ask(sent("k1"), images={"k1": PNG})
    assert again.endswith("[image]")


@pytest.mark.slow
async def test_large_pictures_arrive_whole(rig: Rig) -> None:
    images = {key: PNG + key.encode() * 3_800_000 for key in "abc"}
    parts = tuple(ImagePart(file_key=key, media_type="image/png", size=1) for key in images)
    text, _ = await rig.ask(user_message("look", parts=parts), images=images)
    assert text == "echo: look | [image] | [image] | [image]"
    blocks = rig.api.requests[0]["messages"][0]["content"][1:]
    assert [base64.b64decode(block["source"]["data"]) for block in blocks] == [*images.values()]
    assert "Transfer-Encoding" not in rig.api.headers[0]


@pytest.mark.slow
async def test_too_much_at_once_is_sent_without_pictures(rig: Rig) -> None:
    parts = tuple(
        ImagePart(file_key=f"k{number}", media_type="image/png", size=1) for number in range(9)
    )
    images = {part.file_key: PNG + bytes(3_900_000) for part in parts}
    text, _ = await rig.ask(user_message("look", parts=parts), images=images)
    assert text.startswith("echo: look | [A picture")
    assert rig.api.calls["POST /v1/messages"] == 2


def test_the_same_request_gives_the_same_bytes_and_a_longer_one_begins_with_them() -> None:
    first = ask(sent("k1"), images={"k1": PNG})
    assert render_request(first) == render_request(ask(sent("k1"), images={"k1": PNG}))
    longer = ask(sent("k1"), says("a square"), sent("k2"), images={"k2": make_gif(), "k1": PNG})
    before, after = (
        json.loads(render_request(one))["messages"][0]["content"] for one in (first, longer)
    )
    for block in (*before, *after):
        block.pop("cache_control", None)
    assert before == after


async def test_a_conversation_with_pictures_is_read_from_the_cache(rig: Rig) -> None:
    await rig.ask(sent("k1"), images={"k1": PNG})
    _, answer = await rig.ask(sent("k1"), says("a square"), "and now?", images={"k1": PNG})
    assert answer.usage.cache_read_tokens > 1600


async def test_a_document_is_a_block_of_its_own(rig: Rig) -> None:
    block = '<attached-file name="a.txt">\nhi\n</attached-file>'
    await rig.ask(user_message("sum up", parts=(DocumentPart(name="a.txt", text=block),)))
    words, document = rig.api.requests[0]["messages"][0]["content"]
    assert words["text"] == "sum up"
    assert document["text"] == block


async def test_a_picture_that_a_tool_returned_stands_in_its_result(rig: Rig) -> None:
    calls = (call("look", call_id="one"), call("hear", call_id="two"))
    results = (
        ToolResultPart(call_id=calls[0].call_id, name="look", text="A picture."),
        ImagePart(file_key="k1", media_type="image/png", size=len(PNG)),
        ToolResultPart(call_id=calls[1].call_id, name="hear", text="Silence."),
        ImagePart(file_key="k2", media_type="image/png", size=1),
    )
    messages = (
        user_message("go"),
        Message(role="assistant", parts=calls),
        Message(role="tool", parts=results),
    )
    await rig.ask(*messages, images={"k1": PNG})
    first, second = rig.api.requests[0]["messages"][-1]["content"]
    assert [first["type"], second["type"]] == ["tool_result", "tool_result"]
    words, image = first["content"]
    assert (words["text"], image["type"]) == ("A picture.", "image")
    assert base64.b64decode(image["source"]["data"]) == PNG
    assert [one["text"] for one in second["content"]] == ["Silence.", UNSEEN]


def returned(pdf: bytes) -> tuple[Message, ...]:
    """A conversation in which a tool returned a PDF file."""
    asked = call("read_file", call_id="one")
    file = PdfPart(file_key="f1", media_type="application/pdf", size=len(pdf), pages=2)
    result = ToolResultPart(call_id=asked.call_id, name="read_file", text="A PDF file.")
    return (
        user_message("go"),
        Message(role="assistant", parts=(asked,)),
        Message(role="tool", parts=(result, file)),
    )


async def test_a_pdf_file_that_a_tool_returned_is_a_document_in_its_result(rig: Rig) -> None:
    pdf = make_pdf("One", "Two")
    await rig.ask(*returned(pdf), images={"f1": pdf})
    (result,) = rig.api.requests[0]["messages"][-1]["content"]
    words, document = result["content"]
    assert (words["text"], document["type"]) == ("A PDF file.", "document")
    data = base64.b64encode(pdf).decode()
    assert document["source"] == {"type": "base64", "media_type": "application/pdf", "data": data}


async def test_a_pdf_file_that_the_api_refuses_leaves_its_text(rig: Rig) -> None:
    text, _ = await rig.ask(*returned(b"%PDF-"), images={"f1": b"%PDF- broken"})
    assert text == f"echo: A PDF file.{UNSEEN_PDF}"
    assert rig.api.calls["POST /v1/messages"] == 2
