"""The tables `[[tools.limits]]`: what they mean, and sentences on what is wrong with them."""

from pathlib import Path

import pytest

from agent_core.tools.selection.call_rules import CallRule
from gateway.app.settings import load
from gateway.errors import SettingsError


def read(tmp_path: Path, text: str) -> tuple[CallRule, ...]:
    (tmp_path / "config.toml").write_text(text)
    settings = load({"TALARIA_HOME": str(tmp_path)})
    return settings.tools.limits


def test_each_table_limits_one_tool(tmp_path: Path) -> None:
    limits = read(
        tmp_path,
        '[[tools.limits]]\ntool = "web_search"\ncallers = ["direct", "job"]\nmost_per_turn = 5\n'
        '[[tools.limits]]\ntool = "todo"\nmust_run_first = true\n'
        '[[tools.limits]]\ntool = "send_message"\nends_turn = true\n',
    )
    assert limits == (
        CallRule(tool="web_search", callers=("direct", "job"), most_per_turn=5),
        CallRule(tool="todo", must_run_first=True),
        CallRule(tool="send_message", ends_turn=True),
    )


def test_a_table_may_be_about_one_person_or_agent_and_about_an_order(tmp_path: Path) -> None:
    limits = read(
        tmp_path,
        '[[tools.limits]]\ntool = "web_search"\nthen_only = ["web_fetch"]\nperson = "ada"\n'
        '[[tools.limits]]\ntool = "web_search"\nonly_after = ["todo"]\nagent = "coder"\n'
        '[[tools.limits]]\ntool = "memory"\nmust_run_before_end = true\n',
    )
    assert limits == (
        CallRule(tool="web_search", then_only=("web_fetch",), person="ada"),
        CallRule(tool="web_search", only_after=("todo",), agent="coder"),
        CallRule(tool="memory", must_run_before_end=True),
    )
    assert [rule.holds_for("ada", "") for rule in limits] == [True, False, True]
    assert [rule.holds_for("ben", "coder") for rule in limits] == [False, True, True]


@pytest.mark.parametrize(
    ("table", "fault"),
    [
        ("most_per_turn = 5", "in limit 1, tool is missing"),
        ('tool = "a"', "in limit 1, nothing is limited"),
        ('tool = "a"\nmost = 1', "in limit 1, the key most is not known"),
        ('tool = "a"\nmost_per_turn = -1', "in limit 1, most_per_turn must be a number"),
        ('tool = "a"\nmost_per_turn = true', "in limit 1, most_per_turn must be a number"),
        ('tool = "a"\ncallers = ["me"]', "in limit 1, callers must be some of direct, group,"),
        ('tool = "a"\nends_turn = 1', "in limit 1, ends_turn must be true or false"),
        (
            'tool = "a"\nmost_per_turn = 1\n[[tools.limits]]\ntool = "a"\nends_turn = true',
            "two rules are about a; make one of them",
        ),
        ('tool = "a"\nthen_only = "b"', "in limit 1, then_only must be a list of names"),
        ('tool = "a"\nperson = 5\nends_turn = true', "in limit 1, person must be a name"),
        (
            'tool = "a"\nthen_only = ["b"]\nends_turn = true',
            "a ends the turn, so nothing can follow it",
        ),
        (
            'tool = "a"\nonly_after = ["b"]\n[[tools.limits]]\ntool = "b"\nonly_after = ["a"]',
            "with these rules, a can never run",
        ),
        (
            'tool = "b"\nmust_run_first = true\nonly_after = ["c"]\nperson = "ada"',
            "b can't both run first and only after c",
        ),
    ],
)
def test_a_wrong_table_is_refused_with_a_sentence(tmp_path: Path, table: str, fault: str) -> None:
    with pytest.raises(SettingsError, match=fault):
        read(tmp_path, f"[[tools.limits]]\n{table}\n")
