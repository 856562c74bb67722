"""The tables `[[tools.limits]]`: what they mean, and sentences on what is wrong with them."""

from pathlib import Path

import pytest

from agent_core.tools.selection.call_rules import CallRule
from gateway.app.settings import load
from gateway.errors import SettingsError


def read(tmp_path: Path, text: str) -> dict[str, CallRule]:
    (tmp_path / "config.toml").write_text(text)
    settings = load({"TALARIA_HOME": str(tmp_path)})
    return dict(settings.tools.limits)


def test_each_table_limits_one_tool(tmp_path: Path) -> None:
    limits = read(
        tmp_path,
        '[[tools.limits]]\ntool = "web_search"\ncallers = ["direct", "job"]\nmost_per_turn = 5\n'
        '[[tools.limits]]\ntool = "todo"\nmust_run_first = true\n'
        '[[tools.limits]]\ntool = "send_message"\nends_turn = true\n',
    )
    assert limits == {
        "web_search": CallRule(callers=("direct", "job"), most_per_turn=5),
        "todo": CallRule(must_run_first=True),
        "send_message": CallRule(ends_turn=True),
    }


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
            "two of them are about a",
        ),
    ],
)
def test_a_wrong_table_is_refused_with_a_sentence(tmp_path: Path, table: str, fault: str) -> None:
    with pytest.raises(SettingsError, match=fault):
        read(tmp_path, f"[[tools.limits]]\n{table}\n")
