"""The table of models: what is read from the complete one, and which copy is used."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from agent_core.models.catalog import load_table, reduce_table

DAY = date(2027, 1, 2)


def complete(**models: Any) -> bytes:
    """A complete table with these models among enough others."""
    entry = {
        "litellm_provider": "openai",
        "mode": "chat",
        "input_cost_per_token": 1e-06,
        "output_cost_per_token": 2e-06,
        "max_input_tokens": 1000,
    }
    many = {f"model-{number}": entry for number in range(60)}
    return json.dumps(many | {name: entry | facts for name, facts in models.items()}).encode()


def test_the_snapshot_knows_the_models_that_people_use() -> None:
    table = load_table()
    for name in ("claude-sonnet-5-5", "claude-haiku-5-5", "gpt-5-mini", "gemini-2.5-pro"):
        facts = table.find(name)
        assert facts
        assert facts.price.input > 0
        assert facts.sees_images
    assert len(table.models) > 200


def test_a_newer_table_wins_and_keeps_its_day(tmp_path: Path) -> None:
    newer = tmp_path / "models.json"
    newer.write_bytes(reduce_table(complete(), DAY))
    table = load_table(newer)
    found = table.find("model-1")
    assert found
    assert (found.price.input, found.price.output) == (1_000_000, 2_000_000)
    assert (found.window, found.sees_images, found.price.as_of) == (1000, False, "2027-01-02")
    assert table.find("claude-sonnet-5-5") is None


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"as_of": "2027-01-02", "models": {"a": 5}}'])
def test_a_damaged_table_is_passed_over(tmp_path: Path, text: str) -> None:
    newer = tmp_path / "models.json"
    newer.write_text(text)
    assert load_table(newer).find("claude-sonnet-5-5")


def test_a_long_prompt_and_the_cache_keep_their_own_prices(tmp_path: Path) -> None:
    newer = tmp_path / "models.json"
    long = {
        "input_cost_per_token_above_200k_tokens": 3e-06,
        "output_cost_per_token_above_200k_tokens": 4e-06,
        "cache_read_input_token_cost": 1e-07,
        "supports_vision": True,
    }
    newer.write_bytes(reduce_table(complete(long=long), DAY))
    facts = load_table(newer).find("long")
    assert facts
    assert facts.price.long
    assert (facts.price.cached, facts.price.long_from, facts.price.long.input) == (
        100_000,
        200_000,
        3_000_000,
    )
    assert facts.sees_images


@pytest.mark.parametrize(
    "facts",
    [
        {"litellm_provider": "groq"},
        {"mode": "image_generation"},
        {"input_cost_per_token": None},
        {"input_cost_per_token": 0, "output_cost_per_token": 0},
        {"input_cost_per_token": -1},
    ],
)
def test_what_can_not_be_used_or_priced_is_left_out(facts: Any) -> None:
    assert b'"odd"' not in reduce_table(complete(odd=facts), DAY)


@pytest.mark.parametrize("whole", [b"", b"[]", b"{}", b'{"a": 1}', complete()[:-1]])
def test_a_wrong_file_is_refused(whole: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        reduce_table(whole, DAY)
