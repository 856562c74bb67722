"""Pictures in the results of a server."""

import base64

import pytest
from mcp import types

from agent_core.tools.mcp.contract import McpServer
from agent_core.tools.mcp.results import read_result
from agent_core.tools.mcp.tool import make_result
from agent_core.tools.readers.pool import ReaderPool
from agent_core.tools.results import describe_image
from agent_core.tools.secret_scan import SecretMask
from agent_core.tools.text_cleaner import TextCleaner
from agent_core.transcript import PdfPart
from tests.emulators.pictures import make_png
from tests.gateway.media.documents import make_pdf

PNG = make_png()


def image(data: bytes | str, kind: str = "image/jpeg") -> types.ImageContent:
    """A picture as a server sends it; its word on the type counts for nothing."""
    text = data if isinstance(data, str) else base64.b64encode(data).decode()
    return types.ImageContent(type="image", data=text, mime_type=kind)


def test_pictures_are_shown_and_what_is_none_is_described() -> None:
    words = types.TextContent(type="text", text="Here:")
    result = types.CallToolResult(
        content=[words, image(PNG), image("%%%"), image(b"a text"), image(make_png(9000, 1))]
    )
    outcome = read_result(result)
    assert outcome.images == ((PNG, "image/png"),)
    first, shown, *others = outcome.text.splitlines()
    assert (first, shown) == ("Here:", f"[{describe_image(PNG, 'image/png')}]")
    assert len(others) == 3
    assert all(one.endswith("which can't be shown here]") for one in others)


def test_a_failure_and_a_flood_show_few_pictures() -> None:
    many: list[types.ContentBlock] = [image(make_png(fill=number)) for number in range(9)]
    assert len(read_result(types.CallToolResult(content=many)).images) == 5
    assert read_result(types.CallToolResult(content=many, is_error=True)).images == ()


def resource(data: bytes) -> types.EmbeddedResource:
    blob = base64.b64encode(data).decode()
    found = types.BlobResourceContents(uri="file:///a", mime_type="text/plain", blob=blob)
    return types.EmbeddedResource(type="resource", resource=found)


@pytest.mark.process
async def test_a_resource_in_a_result_is_shown_if_it_is_a_picture_or_a_pdf_file() -> None:
    pdf = make_pdf("One", "token-1234")
    broken = b"%PDF-1.7 nothing"
    outcome = read_result(
        types.CallToolResult(content=[resource(one) for one in (PNG, pdf, broken, b"\0bin")])
    )
    assert outcome.images == (
        (PNG, "image/png"),
        (pdf, "application/pdf"),
        (broken, "application/pdf"),
    )
    assert outcome.text.splitlines()[1:] == [
        "[file:///a: A PDF file.]",
        "[file:///a: A PDF file.]",
        "[file:///a, 6 bytes, which is no text]",
    ]
    server = McpServer(name="files")
    result = await make_result(outcome, server, TextCleaner(SecretMask()), ReaderPool())
    picture, file = result.images
    assert isinstance(file, PdfPart)
    assert file.pages == 2
    assert result.image_data == {picture.file_key: PNG, file.file_key: pdf}
    assert f"[A PDF file (2 pages, {len(pdf):,} bytes).]\nOne\n\n" in result.text
    assert result.text.endswith("[A PDF file that can't be shown: it is unreadable.]")
    masked = await make_result(
        outcome, server, TextCleaner(SecretMask(["token-1234"])), ReaderPool()
    )
    assert "token-1234" not in masked.text
    assert masked.images == (picture,), "a PDF file with a secret is not shown"
