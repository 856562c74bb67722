"""Pictures and documents on their way to a chat-completions server."""

import base64

from agent_core.models.images import UNSEEN, UNSEEN_PDF
from agent_core.models.openai.translate import Dialect, render_request
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
from tests.emulators.pictures import make_png
from tests.fakes.model import call
from tests.gateway.media.documents import make_pdf

PNG = make_png()


def sent(key: str, text: str = "what is it?") -> Message:
    part = ImagePart(file_key=key, media_type="image/png", size=len(PNG))
    return user_message(text, parts=(part,))


async def test_a_picture_goes_as_an_address_that_holds_it(rig: Rig) -> None:
    text, _ = await rig.ask(sent("k1"), images={"k1": PNG})
    assert text == "echo: what is it? | [image_url]"
    words, image = rig.api.requests[0]["messages"][-1]["content"]
    assert words == {"type": "text", "text": "what is it?"}
    url = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
    assert image == {"type": "image_url", "image_url": {"url": url}}


async def test_messages_without_pictures_stay_plain_text(rig: Rig) -> None:
    await rig.ask("hi", says("hello"), sent("k1"), images={"k1": PNG})
    _, first, _, last = rig.api.requests[0]["messages"]
    assert first["content"] == "hi"
    assert isinstance(last["content"], list)


async def test_messages_in_a_row_are_joined_with_their_pictures(rig: Rig) -> None:
    await rig.ask("first", sent("k1"), "last", images={"k1": PNG})
    (message,) = rig.api.requests[0]["messages"][1:]
    assert [block["type"] for block in message["content"]] == ["text", "text", "image_url", "text"]


async def test_a_model_that_sees_nothing_answers_to_the_words(rig: Rig) -> None:
    rig.api.blind.add(rig.provider.model)
    for _ in range(2):
        text, _ = await rig.ask(sent("k1"), images={"k1": PNG})
        assert text == f"echo: what is it? | {UNSEEN}"
    assert rig.api.calls["POST /v1/chat/completions"] == 3, "the second turn asks once"


async def test_a_word_that_the_server_refuses_is_left_out_before_the_picture_is(rig: Rig) -> None:
    rig.api.unknown_fields.add("stream_options")
    text, _ = await rig.ask(sent("k1"), images={"k1": PNG})
    assert text.endswith("[image_url]")


def test_the_same_request_gives_the_same_bytes() -> None:
    requests = [ask(sent("k1"), images={"k1": PNG}) for _ in range(2)]
    assert len({render_request(one, dialect=Dialect()) for one in requests}) == 1


async def test_a_document_stands_behind_the_words(rig: Rig) -> None:
    document = DocumentPart(name="a.txt", text="<attached-file>\nhi\n</attached-file>")
    await rig.ask(user_message("sum up", parts=(document,)))
    assert rig.api.requests[0]["messages"][-1]["content"] == f"sum up\n\n{document.text}"


async def test_a_picture_that_a_tool_returned_follows_the_results(rig: Rig) -> None:
    calls = (call("look", call_id="one"), call("hear", call_id="two"))
    results = (
        ToolResultPart(call_id=calls[0].call_id, name="look", text="A picture."),
        ImagePart(file_key="k1", media_type="image/png", size=len(PNG)),
        ToolResultPart(call_id=calls[1].call_id, name="hear", text="Silence."),
    )
    messages = (
        user_message("go"),
        Message(role="assistant", parts=calls),
        Message(role="tool", parts=results),
    )
    await rig.ask(*messages, "and?", images={"k1": PNG})
    look, hear, shown = rig.api.requests[0]["messages"][-3:]
    assert [look["role"], hear["role"], shown["role"]] == ["tool", "tool", "user"]
    said, image, words = shown["content"]
    assert said["text"] == "[A picture that `look` returned:]"
    assert image["type"] == "image_url"
    assert words["text"] == "and?"
    rig.api.blind.add(rig.provider.model)
    await rig.ask(*messages, "and?", images={"k1": PNG})
    assert UNSEEN in rig.api.requests[-1]["messages"][-1]["content"]


async def test_a_pdf_file_that_a_tool_returned_goes_to_a_model_that_reads_it(rig: Rig) -> None:
    pdf = make_pdf("One", "Two")
    asked = call("read_file", call_id="one")
    file = PdfPart(file_key="f1", media_type="application/pdf", size=len(pdf), pages=2)
    result = ToolResultPart(call_id=asked.call_id, name="read_file", text="A PDF file.")
    messages = (
        user_message("go"),
        Message(role="assistant", parts=(asked,)),
        Message(role="tool", parts=(result, file)),
    )
    await rig.ask(*messages, images={"f1": pdf})
    said, shown = rig.api.requests[0]["messages"][-1]["content"]
    assert said["text"] == "[The PDF file that `read_file` returned:]"
    url = f"data:application/pdf;base64,{base64.b64encode(pdf).decode()}"
    assert shown == {"type": "file", "file": {"filename": "document.pdf", "file_data": url}}
    await rig.ask(*messages, images={"f1": pdf}, model="llama3:latest")
    assert UNSEEN_PDF in rig.api.requests[1]["messages"][-1]["content"], (
        "an unlisted model gets text"
    )
    assert len(rig.api.requests) == 2
