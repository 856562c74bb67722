"""The JSON of a helper's answer counts, however a model has wrapped or written it."""

import json

import pytest

from agent_core.tools.delegation import check_answer, find_json

SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": ["string", "null", "boolean"]}},
        "required": ["a"],
    }
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('Here it is:\n```json\n{"a": 1}\n```\nDone.', {"a": 1}),
        ('The answer is {"a": 1}, as asked.', {"a": 1}),
        ('{"a": 1, "b": "x, }",}', {"a": 1, "b": "x, }"}),
        ('{\n "a": 1,\n "b": "say \\"hi\\",",\n}', {"a": 1, "b": 'say "hi",'}),
        ("{'a': 1, 'b': None}", {"a": 1, "b": None}),
        ("{'a': 1, 'b': True,}", {"a": 1, "b": True}),
    ],
)
def test_an_answer_is_found_and_repaired(text: str, value: object) -> None:
    assert json.loads(find_json(text)) == value
    assert check_answer(text, SCHEMA) == ""


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I found nothing.",
        '{"a": ',
        "} {",
        "{a: 1}",
        '["a"]',
        "{1, 2}",
        "{" * 5_000,
        '{"b": "x"}',
    ],
)
def test_what_is_no_answer_stays_as_it_is_and_does_not_fit(text: str) -> None:
    assert find_json(text) == text.strip()
    assert check_answer(text, SCHEMA)


def test_an_answer_that_is_valid_is_not_touched() -> None:
    text = '{"a": 1, "b": "{ \'x\': 1, } ,}"}'
    assert find_json(text) == text
