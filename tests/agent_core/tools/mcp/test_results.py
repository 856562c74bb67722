"""Pictures in the results of a server."""

import base64

from mcp import types

from agent_core.tools.mcp.results import read_result
from agent_core.tools.results import describe_image
from tests.emulators.pictures import make_png

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
