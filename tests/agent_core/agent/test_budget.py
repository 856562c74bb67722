"""What a turn may use, and when it is used up."""

import pytest

from agent_core.agent.budget import Budget, Limits


def budget(
    *, steps: int = 3, tokens: int = 0, micro_dollars: int = 0, seconds: float = 0
) -> tuple[Budget, list[float]]:
    """A budget that began at second 100, and its clock, to be set."""
    time = [100.0]
    limits = Limits(steps=steps, tokens=tokens, micro_dollars=micro_dollars, seconds=seconds)
    return Budget(limits, started=100.0, clock=lambda: time[0]), time


def test_steps_are_used_up_when_as_many_were_taken() -> None:
    one, _ = budget(steps=2)
    one.take_step()
    assert one.exhausted() == ""
    one.take_step()
    assert one.exhausted() == "steps"


def test_a_refunded_step_can_be_taken_again() -> None:
    one, _ = budget(steps=1)
    one.take_step()
    one.refund_step()
    assert one.exhausted() == ""


def test_no_more_is_refunded_than_the_limit_has_steps() -> None:
    one, _ = budget(steps=2)
    taken = 0
    while not one.exhausted():
        one.take_step()
        one.refund_step()
        taken += 1
        assert taken < 10
    assert taken == 4


def test_a_step_that_was_not_taken_is_not_refunded() -> None:
    one, _ = budget(steps=1)
    one.refund_step()
    one.take_step()
    assert one.exhausted() == "steps"


def test_tokens_are_used_up_at_the_limit() -> None:
    one, _ = budget(tokens=100)
    one.spend(99, None)
    assert one.exhausted() == ""
    one.spend(1, None)
    assert one.exhausted() == "tokens"


def test_money_is_used_up_at_the_limit_and_an_unknown_price_counts_as_none() -> None:
    one, _ = budget(micro_dollars=10)
    one.spend(5, 9)
    one.spend(5, None)
    assert one.exhausted() == ""
    one.spend(5, 1)
    assert one.exhausted() == "money"


def test_time_counts_from_the_start_of_the_turn() -> None:
    one, time = budget(seconds=5)
    time[0] = 104.9
    assert one.exhausted() == ""
    time[0] = 105.0
    assert one.exhausted() == "time"


def test_zero_means_no_limit() -> None:
    one, time = budget()
    one.spend(10**9, 10**9)
    time[0] = 10.0**9
    assert one.exhausted() == ""


@pytest.mark.parametrize(
    "wrong", [{"steps": 0}, {"tokens": -1}, {"micro_dollars": -1}, {"seconds": -0.1}]
)
def test_a_limit_that_makes_no_sense_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"at least one|negative"):
        budget(**wrong)


def test_time_that_a_person_takes_is_not_the_turns() -> None:
    one, time = budget(seconds=10)
    time[0] += 4
    with one.pause():
        time[0] += 500
    assert one.exhausted() == ""
    time[0] += 5
    assert one.exhausted() == ""
    time[0] += 1
    assert one.exhausted() == "time"


def test_a_team_counts_the_steps_and_the_money_of_all_its_members() -> None:
    whole = Budget(Limits(steps=2, tokens=0, micro_dollars=50, seconds=0), started=0, clock=float)
    team = whole.share_in_team(3, 20)
    one, other = team.share(9), team.share(9)
    one.take_step()
    other.take_step()
    assert (team.exhausted(), whole.exhausted(), one.exhausted()) == ("", "", "")
    nested = one.share(9)
    nested.take_step()
    assert (team.exhausted(), one.exhausted(), nested.exhausted()) == ("steps",) * 3
    assert whole.exhausted() == "", "a turn counts its own steps only"
    richer = whole.share_in_team(9, 20)
    richer.share(9).spend(1, 20)
    assert (richer.exhausted(), whole.exhausted()) == ("money", "")
    assert whole.share_in_team(9, 0).exhausted() == ""
    whole.spend(1, 30)
    assert nested.exhausted() == "steps"
    assert whole.share(9).share(9).exhausted() == "money", "limits hold at every depth"
