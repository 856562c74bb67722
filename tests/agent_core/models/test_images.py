"""Which pictures a request shows, how each is shown, and what they count."""

import base64

from agent_core.models.image_support import ImageSupport, is_about_images
from agent_core.models.images import (
    MOST_BYTES,
    MOST_IMAGES,
    MOST_PAGES,
    REPEATED,
    REPEATED_PDF,
    UNSEEN,
    UNSEEN_PDF,
    ImageSelection,
    choose,
    list_shown,
)
from agent_core.models.token_estimate import IMAGE_TOKENS, PAGE_TOKENS, estimate_usage
from agent_core.state.conversations.images import MOST_BYTES_EACH
from agent_core.transcript import ImagePart, Message, PdfPart, dump_parts, load_parts, user_message
from tests.agent_core.models.calls import ask, says
from tests.emulators.anthropic_rules import LARGEST_IMAGE


def picture(key: str = "k1", size: int = 100, media_type: str = "image/png") -> ImagePart:
    return ImagePart(file_key=key, media_type=media_type, size=size)


def shows(*parts: ImagePart) -> Message:
    return user_message("look", parts=parts)


def pdf(key: str = "f1", pages: int = 3) -> PdfPart:
    return PdfPart(file_key=key, media_type="application/pdf", size=100, pages=pages)


def test_a_picture_is_stored_by_its_key_and_is_no_words() -> None:
    message = shows(picture())
    assert message.text == "look"
    assert message.images == (picture(),)
    assert load_parts(dump_parts(message.parts)) == message.parts
    files = shows(pdf(), picture())
    assert files.images == files.parts[1:]
    assert load_parts(dump_parts(files.parts)) == files.parts


def test_all_pictures_of_a_conversation_are_shown_while_they_fit() -> None:
    dialogue = [shows(picture("a"), picture("b")), says("two"), shows(picture("a"), picture("c"))]
    assert choose(dialogue) == ("a", "b", "c")
    assert choose([user_message("hi")]) == ()


def test_where_there_are_too_many_the_older_half_goes_at_once() -> None:
    parts = [picture(f"k{number}") for number in range(MOST_IMAGES + 1)]
    assert choose([shows(*parts[:-1])]) == tuple(part.file_key for part in parts[:-1])
    kept = choose([shows(*parts)])
    assert kept == tuple(part.file_key for part in parts[-MOST_IMAGES // 2 :])
    longer = choose([shows(*parts), shows(picture("next"))])
    assert longer == (*kept, "next"), "the next pictures join without another one going"


def test_a_request_never_carries_more_than_the_bytes_it_may() -> None:
    heavy = [picture(f"k{number}", MOST_BYTES // 3) for number in range(10)]
    for count in range(1, 11):
        kept = choose([shows(*heavy[:count])])
        assert heavy[count - 1].file_key in kept
        assert len(kept) * (MOST_BYTES // 3) <= MOST_BYTES
    assert choose([shows(picture("huge", MOST_BYTES * 2))]) == ("huge",)


def test_a_picture_that_is_sent_twice_is_shown_once() -> None:
    gallery = ImageSelection({"k1": b"bytes"})
    assert gallery.show(picture()) == (base64.b64encode(b"bytes").decode(), "")
    assert gallery.show(picture()) == ("", REPEATED)


def test_what_is_not_there_or_of_another_kind_is_said_instead() -> None:
    gallery = ImageSelection({"k1": b"bytes", "empty": b""})
    assert gallery.show(picture("gone")) == ("", UNSEEN)
    assert gallery.show(picture("empty")) == ("", UNSEEN)
    assert gallery.show(picture(media_type="image/heic")) == ("", UNSEEN)


def test_the_largest_picture_passes_as_base64() -> None:
    assert len(base64.b64encode(bytes(MOST_BYTES_EACH))) <= LARGEST_IMAGE
    assert len(base64.b64encode(bytes(MOST_BYTES_EACH + 3))) > LARGEST_IMAGE


def test_a_picture_that_is_shown_counts_as_its_tokens() -> None:
    bare = ask(user_message("look"))
    hidden = ask(shows(picture()))
    shown = ask(shows(picture()), images={"k1": b"bytes"})
    counts = [estimate_usage(one, says("ok")).input_tokens for one in (bare, hidden, shown)]
    assert counts[2] - counts[0] == IMAGE_TOKENS
    assert 0 < counts[1] - counts[0] < 50


def test_a_refused_picture_is_spared_and_those_that_were_taken_are_not() -> None:
    visibility = ImageSupport()
    first = ask(shows(picture("a")), images={"a": b"1"})
    visibility.take(first)
    both = ask(shows(picture("a"), picture("b")), images={"a": b"1", "b": b"2"})
    assert visibility.spare(both) is both
    visibility.refuse(both)
    assert dict(visibility.spare(both).images) == {"a": b"1"}
    visibility.refuse(visibility.spare(both))
    assert dict(visibility.spare(both).images) == {}


def test_what_one_model_refused_another_may_see() -> None:
    visibility = ImageSupport()
    visibility.refuse(ask(shows(picture()), images={"k1": b"1"}, model="blind"))
    seeing = ask(shows(picture()), images={"k1": b"1"}, model="seeing")
    assert visibility.spare(seeing) is seeing


def test_errors_about_pictures_are_known_by_their_words() -> None:
    assert is_about_images(400, "messages.0.content.1.image.source.base64: Could not process image")
    assert is_about_images(404, "No endpoints found that support image input")
    assert is_about_images(500, "image input is not supported - provide the mmproj")
    assert is_about_images(413, "Request exceeds the maximum size")
    assert not is_about_images(400, "max_tokens: Field required")
    assert not is_about_images(429, "slow down, this image model is busy")
    assert is_about_images(400, "messages.2.content.0.pdf.source: The PDF specified was not valid.")
    assert is_about_images(400, "Invalid value: 'file'. Supported values are: 'text'.")
    assert not is_about_images(404, "the model's file was not found")


def test_pages_are_limited_for_each_request_too() -> None:
    most = MOST_PAGES // 20
    files = [shows(pdf(f"f{number}", pages=20)) for number in range(most + 1)]
    assert len(choose(files[:most])) == most
    kept = choose(files)
    assert kept == tuple(f"f{number}" for number in range(most + 1 - most // 2, most + 1))


def test_a_pdf_file_counts_its_pages_for_a_model_that_reads_it() -> None:
    messages = (user_message("look"), Message(role="user", parts=(pdf(),)))
    counts = {
        model: estimate_usage(
            ask(*messages, images={"f1": b"%PDF-1.7"}, model=model), says("ok")
        ).input_tokens
        for model in ("claude-sonnet-5-5", "anthropic:claude-sonnet-5-5", "gpt-4", "mine:7b")
    }
    reads, named, blind, unknown = counts.values()
    assert reads == named
    assert 0 <= reads - 3 * PAGE_TOKENS - (blind - 30) < 60
    assert blind == unknown
    assert list_shown("gpt-4", ["f1", "k1"], messages) == {"k1"}
    assert list(list_shown("gpt-5", ["f1", "k1"], messages)) == ["f1", "k1"]


def test_a_pdf_file_is_shown_once_and_its_absence_is_said() -> None:
    gallery = ImageSelection({"f1": b"%PDF-1.7"})
    assert gallery.show(pdf()) == (base64.b64encode(b"%PDF-1.7").decode(), "")
    assert gallery.show(pdf()) == ("", REPEATED_PDF)
    assert gallery.show(pdf("gone")) == ("", UNSEEN_PDF)


def test_only_a_model_that_reads_pdf_files_is_sent_one() -> None:
    images = {"f1": b"%PDF-1.7", "k1": b"bytes"}
    for model, sent in (("gpt-5", {"f1", "k1"}), ("gpt-4", {"k1"}), ("mine:7b", {"k1"})):
        request = ask(shows(pdf(), picture()), images=images, model=model)
        assert set(ImageSupport().spare(request).images) == sent
