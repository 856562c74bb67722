"""A row's checksum."""

from hypothesis import given
from hypothesis import strategies as st

from agent_core.state.engine.connection import checksum

values = st.lists(st.none() | st.integers() | st.text(), max_size=5).map(tuple)


def test_values_that_run_together_alike_have_different_checksums() -> None:
    rows = [
        ("ab", "c"),
        ("a", "bc"),
        ("abc",),
        ("abc", ""),
        ("abc", None),
        ("1",),
        (1,),
        (None,),
        (),
    ]
    assert len({checksum(*row) for row in rows}) == len(rows)


def test_a_checksum_is_the_same_in_every_version_of_the_program() -> None:
    assert checksum("owed", 7, None, "grüße 👋") == 3530399149


def test_a_bool_counts_as_the_integer_that_comes_back_from_the_database() -> None:
    assert checksum(True, False) == checksum(1, 0)


@given(values, values)
def test_different_rows_hardly_ever_share_a_checksum(
    one: tuple[str | int | None, ...], other: tuple[str | int | None, ...]
) -> None:
    # 1 in 4 billion is a chance that no run of this suite will meet.
    assert (checksum(*one) == checksum(*other)) == (one == other)
