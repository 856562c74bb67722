"""The sentence of `/team` is one that a guided model reads, in every language."""

import pytest

from agent_core.agent.guided.transcript import read_team_order
from agent_core.localization import use_language
from gateway.texts.agents import TEAM_TASK


@pytest.mark.parametrize("language", ["en", "de"])
def test_a_guided_model_reads_the_order_of_a_team(language: str) -> None:
    with use_language(language):
        said = TEAM_TASK(name="news-desk", task="Write a note: warm water is back.")
    assert read_team_order(said) == {
        "mode": "team",
        "to": "news-desk",
        "text": "Write a note: warm water is back.",
    }


def test_other_words_are_no_order() -> None:
    for said in ("Ask the team desk: who is in?", "message_agent (mode team): hello", "team desk"):
        assert read_team_order(said) is None
