"""Lengths are learned from what calls took, by model and by talk."""

from hypothesis import given
from hypothesis import strategies as st

from agent_core.agent.compaction.token_meter import TokenEstimator
from agent_core.ids import SessionId

HERE, THERE = SessionId(1), SessionId(2)


def test_an_unknown_model_is_taken_for_a_bit_dearer_and_much_is_left_open() -> None:
    reading = TokenEstimator().estimate(HERE, "m", 1000)
    assert reading.low < 1000 < reading.likely < reading.high
    assert (reading.low, reading.high) == (600, 1800)


def test_a_conversation_that_was_measured_is_known_but_for_what_came_since() -> None:
    estimator = TokenEstimator()
    estimator.learn(HERE, "m", 1000, 1500)
    same = estimator.estimate(HERE, "m", 1000)
    assert (same.low, same.likely, same.high) == (1500, 1500, 1500)
    grown = estimator.estimate(HERE, "m", 1100)
    assert grown.likely == 1650
    assert (grown.low, grown.high) == (1590, 1710)
    assert estimator.estimate(HERE, "m", 900).likely == 1350


def test_other_conversations_of_the_model_profit_and_other_models_do_not() -> None:
    estimator = TokenEstimator()
    estimator.learn(HERE, "m", 1000, 2000)
    assert estimator.estimate(THERE, "m", 1000).likely == 2000
    unmeasured = TokenEstimator().estimate(THERE, "other", 1000)
    assert estimator.estimate(THERE, "other", 1000) == unmeasured
    assert estimator.estimate(HERE, "other", 1000) == unmeasured


def test_counts_that_can_not_be_of_the_whole_request_are_not_believed() -> None:
    estimator = TokenEstimator()
    for measured in (0, 10, 9000):
        estimator.learn(HERE, "m", 1000, measured)
    estimator.learn(HERE, "m", 0, 10)
    assert estimator.estimate(HERE, "m", 1000) == TokenEstimator().estimate(HERE, "m", 1000)


@given(
    st.lists(st.tuples(st.integers(1, 50_000), st.integers(0, 200_000)), max_size=20),
    st.integers(0, 100_000),
)
def test_a_reading_is_in_order_whatever_was_learned(
    learned: list[tuple[int, int]], estimated: int
) -> None:
    estimator = TokenEstimator()
    for before, measured in learned:
        estimator.learn(HERE, "m", before, measured)
    reading = estimator.estimate(HERE, "m", estimated)
    assert 0 <= reading.low <= reading.likely <= reading.high
