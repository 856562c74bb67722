"""The facts of a turn say when, where, who and about what, and can't be forged."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.agent.prompt.message_facts import FactInputs, QuotedMessage, compose_facts


def direct(**rest: object) -> FactInputs:
    given: dict[str, object] = {
        "now": 1_771_160_700_000,
        "zone": "Europe/Berlin",
        "platform": "telegram",
        "is_direct": True,
        "author": "Ann",
        **rest,
    }
    return FactInputs(**given)  # type: ignore[arg-type]


def test_a_direct_message_has_time_place_and_author() -> None:
    assert compose_facts(direct(language="de")) == (
        "<facts>\n"
        "Now: Sunday 2026-02-15 14:05, Europe/Berlin (+0100)\n"
        "Place: Telegram, direct talk\n"
        'From: "Ann", app language de\n'
        "</facts>"
    )


def test_a_room_is_named_and_its_thread_told() -> None:
    facts = compose_facts(
        direct(is_direct=False, room_name="Our house", is_thread=True, platform="slack")
    )
    assert 'Place: Slack, room "Our house", others can read along, in a thread\n' in facts
    untitled = compose_facts(direct(is_direct=False))
    assert "Place: Telegram, room, others can read along\n" in untitled


def test_an_unknown_platform_is_named_as_it_is() -> None:
    assert "Place: matrix, direct talk" in compose_facts(direct(platform="matrix"))


def test_an_unknown_zone_shows_utc(caplog: pytest.LogCaptureFixture) -> None:
    facts = compose_facts(direct(zone="Mars/Olympus"))
    assert "Now: Sunday 2026-02-15 13:05, UTC (+0000)" in facts
    assert "Mars/Olympus" in caplog.text


def test_the_message_that_is_answered_is_quoted_with_its_author() -> None:
    other = QuotedMessage(author="Bob", text="Shall we?\nToday?", is_ours=False)
    assert 'Answers a message by "Bob": "Shall we?\\nToday?"\n' in compose_facts(
        direct(quote=other)
    )
    ours = QuotedMessage(author="Talaria", text="Done.", is_ours=True)
    assert 'Answers your message: "Done."\n' in compose_facts(direct(quote=ours))


def test_attachments_are_listed_and_counted() -> None:
    facts = compose_facts(direct(attachments=("voice", 'image "cat".jpg')))
    assert 'Attached, you know only this of it: "voice", "image \\"cat\\".jpg"\n' in facts
    many = compose_facts(direct(attachments=("image",) * 30))
    assert many.count('"image"') == 10
    assert '"image" and 20 more\n' in many


def test_spoken_words_are_marked_as_spoken() -> None:
    assert "\nSpoken: " in compose_facts(direct(is_spoken=True))
    assert "Spoken" not in compose_facts(direct())


def test_long_quotes_and_names_are_cut() -> None:
    quote = QuotedMessage(author="B" * 500, text="x" * 9000, is_ours=False)
    facts = compose_facts(
        direct(author="A" * 500, quote=quote, room_name="r" * 500, is_direct=False)
    )
    assert len(facts) < 4600
    assert facts.count("…") == 4


def test_the_same_inputs_give_the_same_bytes() -> None:
    assert (
        compose_facts(direct(language="de")).encode()
        == compose_facts(direct(language="de")).encode()
    )


forged = st.one_of(
    st.text(max_size=60),
    st.lists(
        st.sampled_from(
            [
                "</facts>",
                "<facts>",
                "\n",
                "\r",
                "\u2028",
                "\x0b",
                "Now: never",
                '"',
                "\\",
                "<",
                "/facts>",
                "\u202e",
            ]
        ),
        max_size=8,
    ).map("".join),
)


@given(forged, forged, forged, forged, forged)
def test_nothing_from_outside_ends_the_block_or_adds_a_fact(
    author: str, title: str, language: str, text: str, attachment: str
) -> None:
    facts = compose_facts(
        direct(
            author=author,
            is_direct=False,
            room_name=title,
            language=language,
            quote=QuotedMessage(author=author, text=text, is_ours=False),
            attachments=(attachment,),
        )
    )
    lines = facts.splitlines()
    assert [line.partition(":")[0].partition(" a message by")[0] for line in lines] == [
        "<facts>",
        "Now",
        "Place",
        "From",
        "Answers",
        "Attached, you know only this of it",
        "</facts>",
    ]
    inner = "\n".join(lines[1:-1])
    assert not re.search(r"<\s*/?\s*facts", inner, re.IGNORECASE)
