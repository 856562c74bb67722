"""Chats as stored text: read back as they were, and found with their threads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.ids import Address
from gateway.chats import name_chat, read_chat, span_threads

addresses = st.builds(
    Address,
    chat_id=st.text(max_size=20),
    thread_id=st.none() | st.text(max_size=20),
    is_direct=st.booleans(),
)


@given(addresses)
def test_a_chats_name_reads_back_as_its_address(address: Address) -> None:
    assert read_chat(name_chat(address)) == address


@given(addresses, addresses)
def test_two_places_never_share_a_name(one: Address, other: Address) -> None:
    same_name = name_chat(one) == name_chat(other)
    assert same_name == (one == other)


@pytest.mark.parametrize(
    ("other", "is_there"),
    [
        (Address(chat_id="-100", is_direct=False), True),
        (Address(chat_id="-100", thread_id="7", is_direct=False), True),
        (Address(chat_id="-100", thread_id="é", is_direct=True, ticket="t"), True),
        (Address(chat_id="-1001", is_direct=False), False),
        (Address(chat_id="-10", is_direct=False), False),
        (Address(chat_id='-100"', is_direct=False), False),
    ],
    ids=["chat", "thread", "ticket", "longer", "shorter", "quoted"],
)
def test_the_range_of_a_chat_has_its_threads_and_no_other_chat(
    other: Address, is_there: bool
) -> None:
    first, end = span_threads(Address(chat_id="-100", is_direct=False))
    assert (first <= name_chat(other) < end) == is_there
