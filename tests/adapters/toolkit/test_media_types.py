"""Files have a kind by media type or name."""

import pytest

from adapters.messages import Attachment
from adapters.toolkit.media_types import kind_of, summary_of


@pytest.mark.parametrize(
    ("media_type", "kind"),
    [
        ("image/png", "image"),
        ("audio/ogg", "audio"),
        ("video/mp4", "video"),
        ("application/pdf", "document"),
        ("imagery/x", "document"),
        ("", "document"),
        (None, "document"),
    ],
)
def test_the_media_type_tells_the_kind(media_type: str | None, kind: str) -> None:
    assert kind_of(media_type) == kind


def test_attachments_are_described_by_name_or_kind() -> None:
    found = (
        Attachment(kind="document", file_id="1", name="a.pdf"),
        Attachment(kind="voice", file_id="2"),
    )
    assert summary_of(found) == "[a.pdf] [voice]"
    assert summary_of(()) == ""
