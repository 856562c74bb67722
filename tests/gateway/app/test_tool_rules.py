"""The rules of tools: read in their order, and refused with a sentence where they are wrong."""

from pathlib import Path

import pytest

from agent_core.tools.policy.verdicts import Rule
from gateway.app.settings import load
from gateway.errors import SettingsError


def read(home: Path, toml: str) -> tuple[Rule, ...]:
    (home / "config.toml").write_text(toml)
    return load({}, home=home).tools.rules


def test_rules_keep_their_order_and_omitted_fields_match_everything(tmp_path: Path) -> None:
    toml = (
        '[[tools.rules]]\neffect = "deny"\ntool = "terminal"\npattern = "git push *"\n'
        '[[tools.rules]]\neffect = "allow"\nperson = "telegram:12"\n'
    )
    assert read(tmp_path, toml) == (
        Rule(effect="deny", tool="terminal", pattern="git push *"),
        Rule(effect="allow", person="telegram:12"),
    )


@pytest.mark.parametrize(
    ("toml", "fault"),
    [
        ('[[tools.rules]]\ntool = "terminal"\n', "rule 1 has no such effect"),
        ('[[tools.rules]]\neffect = "alow"\ntool = "x"\n', "rule 1 has no such effect"),
        ('[[tools.rules]]\neffect = "allow"\n', "rule 1 would be about everything"),
        ('[[tools.rules]]\neffect = "ask"\ntools = "x"\n', "rule 1 has the unknown key tools"),
        ('[[tools.rules]]\neffect = "ask"\ntool = 3\n', "in rule 1, tool is no text"),
        ('[[tools.rules]]\neffect = "ask"\nperson = "ana"\n', "in rule 1, person must be"),
        ("[tools]\nrules = 3\n", "must be tables [[tools.rules]]"),
        ("[tools]\nrules = [3]\n", "must be tables [[tools.rules]]"),
    ],
)
def test_a_wrong_rule_stops_the_start_with_one_sentence(
    tmp_path: Path, toml: str, fault: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        read(tmp_path, toml)
    assert "tools.rules must be tables [[tools.rules]]" in str(caught.value)
    assert fault in str(caught.value)
    assert "\n" not in str(caught.value)
