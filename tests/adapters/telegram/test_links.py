"""The addresses behind words come with a person's words."""

from typing import Any

from tests.adapters.telegram.updates import ANNA, GROUP, PRIVATE, read_message
from tests.tables import check_each

PAGE = "https://example.org/a?b=1#c"
ME = "@talaria_bot"


def link(start: int, length: int, url: str = PAGE) -> dict[str, Any]:
    return {"type": "text_link", "offset": start, "length": length, "url": url}


def look(kind: str, start: int, length: int) -> dict[str, Any]:
    return {"type": kind, "offset": start, "length": length}


def test_a_link_behind_words_is_read_once() -> None:
    rows = [
        ("Read the page now", [link(5, 8)], f"Read [the page]({PAGE}) now"),
        # Offsets count UTF-16 units, so an emoji counts as two or more.
        ("👩‍👩‍👧 the page 🙂", [link(9, 8)], f"👩‍👩‍👧 [the page]({PAGE}) 🙂"),
        ("🙂🙂", [link(0, 2), link(2, 2, "tg://user?id=7")], f"[🙂]({PAGE})[🙂](tg://user?id=7)"),
        ("שלום דף", [link(5, 2)], f"שלום [דף]({PAGE})"),
        # Clients may include the blanks around the words.
        ("see it \nok", [link(4, 4)], f"see [it]({PAGE}) \nok"),
        ("the page", [look("bold", 0, 8), link(0, 8), look("italic", 0, 8)], f"[the page]({PAGE})"),
        # An address that is shown isn't repeated.
        (PAGE, [link(0, len(PAGE))], PAGE),
        (PAGE, [look("url", 0, len(PAGE))], PAGE),
        ("example.org", [link(0, 11, "https://example.org/")], "example.org"),
        # Words that show another address than the one behind them are read with both.
        (
            "https://bank.example",
            [link(0, 20, "https://thief.example/")],
            "[https://bank.example](https://thief.example/)",
        ),
        ("wiki", [link(0, 4, "https://w.org/A_(b)")], "[wiki](https://w.org/A_(b))"),
        ("wiki", [link(0, 4, "https://w.org/A_b)")], "[wiki](<https://w.org/A_b)>)"),
        ("quoted\npage", [look("blockquote", 0, 11), link(7, 4)], f"> quoted\n> [page]({PAGE})"),
        ("quoted", [link(0, 6), look("blockquote", 0, 6)], f"> [quoted]({PAGE})"),
        (f"{ME} the page", [look("mention", 0, 12), link(13, 8)], f"[the page]({PAGE})"),
        ("/btw the page", [look("bot_command", 0, 4), link(5, 8)], f"/btw [the page]({PAGE})"),
        ("/start", [look("bot_command", 0, 6), link(0, 6)], "/start"),
        ("page", [link(0, 4, "")], "page"),
        ("page", [{"type": "text_link", "offset": 0, "length": 4}], "page"),
        ("page", [link(0, 400)], f"[page]({PAGE})"),
    ]

    def check(row: tuple[str, list[dict[str, Any]], str]) -> None:
        text, entities, expected = row
        assert read_message(text, entities=entities).text == expected

    check_each(rows, check)


def test_links_are_read_wherever_a_message_has_words() -> None:
    words: dict[str, Any] = {"text": "🙂 page", "entities": [link(3, 4)]}
    caption: dict[str, Any] = {"caption": "🙂 page", "caption_entities": [link(3, 4)]}
    expected = f"🙂 [page]({PAGE})"
    answered = {"message_id": 4, "from": ANNA, "chat": PRIVATE, "date": 1}
    photo = [{"file_id": "p", "width": 9}]
    origin = {"type": "hidden_user", "sender_user_name": "Ben", "date": 1}
    assert read_message(**words).text == expected
    assert read_message(**caption, photo=photo).text == expected
    assert read_message(**words, forward_origin=origin).text == expected
    assert read_message(**caption, photo=photo, forward_origin=origin).text == expected
    for reply in (
        {"quote": words, "reply_to_message": answered},
        {"quote": words, "external_reply": {"origin": origin}},
        {"reply_to_message": answered | words},
        {"reply_to_message": answered | caption | {"photo": photo}},
    ):
        found = read_message("why?", chat=GROUP, **reply)
        assert found.quote is not None
        assert found.quote.text == expected
