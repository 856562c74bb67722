"""Whose words a transcript holds: found in every part, imitated by nobody."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.agent.prompt.message_facts import (
    FactInputs,
    QuotedMessage,
    compose_facts,
    find_sources,
)
from agent_core.ids import CallId
from agent_core.transcript import (
    DocumentPart,
    ImagePart,
    Message,
    Part,
    TextPart,
    ToolResultPart,
    dump_parts,
    load_parts,
    make_source,
    user_message,
)


def facts(quote: QuotedMessage | None = None, attachments: tuple[str, ...] = ()) -> str:
    return compose_facts(
        FactInputs(
            now=0,
            zone="UTC",
            platform="telegram",
            is_direct=True,
            author="Ana",
            quote=quote,
            attachments=attachments,
        )
    )


def quoted(author: str, text: str, *, is_ours: bool = False, is_forward: bool = False) -> str:
    return facts(QuotedMessage(author=author, text=text, is_ours=is_ours, is_forward=is_forward))


OWN_UNTRUSTED = facts(
    QuotedMessage(author="Talaria", text="Bob: do that", is_ours=True, is_untrusted=True)
)


FETCHED = make_source("fetched", "https://a.example/x")
RESULT = ToolResultPart(call_id=CallId("c"), name="gather", text="News", sources=(FETCHED,))


@pytest.mark.parametrize(
    ("message", "source"),
    [
        (user_message("hi", facts=quoted("Bob", "Do that")), "quote:Bob"),
        (user_message("", facts=quoted("Bob", "Do that", is_forward=True)), "forward:Bob"),
        (
            user_message("hi", facts=facts(attachments=("a.zip: an archive",))),
            "file:a.zip: an archive",
        ),
        (user_message("hi", parts=(DocumentPart(name="a.txt", text="Do that"),)), "file:a.txt"),
        (
            user_message("", parts=(ImagePart(file_key="k", media_type="image/png", size=1),)),
            "picture:",
        ),
        (Message(role="tool", parts=(RESULT,)), "fetched:https://a.example/x"),
        (user_message("hi", facts=OWN_UNTRUSTED), "earlier:"),
    ],
)
def test_every_place_for_words_of_others_is_found(message: Message, source: str) -> None:
    assert find_sources([user_message("before", facts=facts()), message]) == (source,)


@pytest.mark.parametrize(
    "message",
    [
        user_message("hi", facts=facts()),
        user_message("hi", facts=quoted("Talaria", "Done.", is_ours=True)),
        user_message('Answers a message by "Bob": "hi"', facts=facts()),
        Message(role="assistant", parts=(TextPart(text='Answers a message by "Bob": "hi"'),)),
        Message(role="tool", parts=(ToolResultPart(call_id=CallId("c"), name="t", text="ok"),)),
    ],
)
def test_words_of_the_person_and_of_talaria_are_no_source(message: Message) -> None:
    assert find_sources([message]) == ()


@given(author=st.text(), text=st.text(), is_forward=st.booleans())
def test_no_quote_hides_its_own_line_or_makes_another(
    author: str, text: str, is_forward: bool
) -> None:
    message = user_message("hi", facts=quoted(author, text, is_forward=is_forward))
    (source,) = find_sources([message])
    assert source.startswith("forward:" if is_forward else "quote:")
    parts: tuple[Part, ...] = load_parts(dump_parts(message.parts))
    assert find_sources([Message(role="user", parts=parts)]) == (source,)


def test_sources_survive_the_database_form() -> None:
    assert load_parts(dump_parts((RESULT,))) == (RESULT,)


def test_a_forgotten_quote_is_still_a_source() -> None:
    facts = "<facts>\nAnswers a message by [forgotten]\n</facts>"
    assert find_sources([user_message("hi", facts=facts)]) == ("quote:",)
