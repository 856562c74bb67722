"""A model that claims whatever it likes of a simulated person; see `bench/learning`."""

import random

import pytest

from bench.learning.learners import Learner, Liar
from bench.learning.person import is_true, talk
from bench.learning.simulate import list_facts, simulate


@pytest.mark.slow
async def test_no_lie_becomes_memory() -> None:
    sayings = list(talk(random.Random(1), 24))
    facts = list_facts(sayings)
    liar = Liar(facts, random.Random(1))
    tally = await simulate(sayings, liar)
    assert len(liar.lies) > 80
    assert [line for line in tally.kept if not is_true(line, facts.values())] == []
    assert len(liar.skills) > 50
    assert not liar.skills & tally.skills.keys(), "a skill without evidence"
    assert set(tally.skills.values()) == {"draft"}, "each skill that is left waits for its test"
    assert "plausible" not in tally.listed


@pytest.mark.slow
async def test_every_true_line_is_kept_at_once_or_after_a_yes() -> None:
    sayings = list(talk(random.Random(1), 24))
    tally = await simulate(sayings, Learner(list_facts(sayings)))
    reviewed = {one.fact.line for one in sayings[: tally.reviews * 10] if one.fact}
    assert reviewed <= tally.kept | tally.accepted
