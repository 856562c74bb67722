"""A corpus of arguments that models get wrong, and of what they are told."""

import json

import pytest

from agent_core.errors import ToolArgumentError
from agent_core.ids import CallId
from agent_core.tools.arguments import compile_schema, read_arguments
from agent_core.tools.toolbox import Toolbox
from agent_core.transcript import ToolCallPart
from tests.agent_core.tools.toolbox_calls import CONTEXT
from tests.fakes.tool import FakeTool
from tests.tables import await_each

SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": ["add", "drop"]},
            "text": {"type": "string", "minLength": 1, "maxLength": 20, "pattern": "^[a-z ]*$"},
            "count": {"type": "integer", "minimum": 1, "maximum": 9},
            "ratio": {"type": "number", "exclusiveMinimum": 0},
            "step": {"type": "integer", "multipleOf": 5},
            "loud": {"type": "boolean"},
            "tags": {
                "type": "array",
                "items": {"type": "string"},
                "minItems": 1,
                "maxItems": 3,
                "uniqueItems": True,
            },
            "at": {
                "type": "object",
                "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}},
                "required": ["x", "y"],
                "additionalProperties": False,
            },
            "when": {"type": ["string", "null"], "format": "date-time"},
            "either": {"anyOf": [{"type": "integer"}, {"type": "boolean"}]},
            "only": {"const": 1},
        },
        "required": ["action"],
        "additionalProperties": False,
    }
)

MALFORMED = [
    # no JSON
    ('{"action": "add"', "not JSON"),
    ('{"action": ', "not JSON"),
    ('{"action"', "not JSON"),
    ("{", "not JSON"),
    ("}", "not JSON"),
    ("add", "not JSON"),
    ("{'action': 'add'}", "not JSON"),
    ('{"action": "add",}', "not JSON"),
    ('{action: "add"}', "not JSON"),
    ('{"action": "add"} {"action": "drop"}', "not JSON"),
    ('{"action": "add"}{', "not JSON"),
    ('```json\n{"action": "add"}\n```', "not JSON"),
    ('{"action": "a\ndd"}', "not JSON"),
    ('{"action": "\\x41"}', "not JSON"),
    ('{"action": "add" "text": "a"}', "not JSON"),
    ('{"action": add}', "not JSON"),
    ('{"action": True}', "not JSON"),
    ('{"count": 01}', "not JSON"),
    ('{"count": +1}', "not JSON"),
    ('{"count": .5}', "not JSON"),
    ("<action>add</action>", "not JSON"),
    ("action: add", "not JSON"),
    ("\ufeff{}", "not JSON"),
    ("\x00", "not JSON"),
    # JSON, as JSON must not be
    ('{"count": NaN}', "NaN is not a number"),
    ('{"count": -Infinity}', "-Infinity is not a number"),
    ('{"action": "add", "action": "drop"}', "`action` is given twice"),
    ('{"action": "add", "at": {"x": 1, "x": 2}}', "`x` is given twice"),
    ('{"action": "add", "text": "\\ud800"}', "surrogate"),
    ('{"action": "add", "text": "\ud800"}', "surrogate"),
    ('{"count": ' + "9" * 5000 + "}", "too long"),
    ("[" * 200_000, "nested too deeply"),
    ('{"tags": ' * 50_000, "nested too deeply"),
    # another kind than an object
    ("[]", "one JSON object, not an array"),
    ('[{"action": "add"}]', "one JSON object, not an array"),
    ('"add"', "one JSON object, not a string"),
    ('"{\\"action\\": \\"add\\"}"', "one JSON object, not a string"),
    ("null", "one JSON object, not null"),
    ("1", "one JSON object, not an integer"),
    ("1.5", "one JSON object, not a number"),
    ("true", "one JSON object, not a boolean"),
    # an object that does not fit
    ("", "`action` is missing"),
    ("{}", "`action` is missing"),
    ('{"Action": "add"}', "`action` is missing"),
    ('{"arguments": {"action": "add"}}', "`action` is missing"),
    ('{"action": "delete"}', '`action` must be one of "add", "drop"'),
    ('{"action": "Add"}', '`action` must be one of "add", "drop"'),
    ('{"action": null}', "`action` must be of type string, not null"),
    ('{"action": ["add"]}', "`action` must be of type string, not an array"),
    ('{"action": "add", "texts": "a"}', "can't have `texts`; there are only `action`, `text`"),
    ('{"action": "add", "text": "' + "a" * 21 + '"}', "`text` must be shorter than or equal to 20"),
    ('{"action": "add", "text": "A"}', "`text` must match pattern"),
    ('{"action": "add", "text": 5}', "`text` must be of type string, not an integer"),
    ('{"action": "add", "count": "5"}', "`count` must be of type integer, not a string"),
    ('{"action": "add", "count": 1.5}', "`count` must be of type integer, not a number"),
    ('{"action": "add", "count": true}', "`count` must be of type integer, not a boolean"),
    ('{"action": "add", "count": 0}', "`count` must be bigger than or equal to 1"),
    ('{"action": "add", "count": 10}', "`count` must be smaller than or equal to 9"),
    ('{"action": "add", "ratio": 0}', "`ratio` must be bigger than 0"),
    ('{"action": "add", "step": 7}', "`step` must be multiple of 5"),
    ('{"action": "add", "loud": "yes"}', "`loud` must be of type boolean, not a string"),
    ('{"action": "add", "loud": 1}', "`loud` must be of type boolean, not an integer"),
    ('{"action": "add", "tags": "a"}', "`tags` must be of type array, not a string"),
    ('{"action": "add", "tags": ["a", 2]}', "`tags[1]` must be of type string, not an integer"),
    ('{"action": "add", "tags": ["a", "a"]}', "`tags` must contain unique items"),
    ('{"action": "add", "tags": ["a", "b", "c", "d"]}', "less than or equal to 3 items"),
    ('{"action": "add", "at": {"x": 1}}', "`y` is missing in `at`"),
    ('{"action": "add", "at": {"x": 1, "y": 2, "z": 3}}', "`at` can't have `z`"),
    ('{"action": "add", "at": [1, 2]}', "`at` must be of type object, not an array"),
    ('{"action": "add", "when": 5}', "`when` must be of type string or null, not an integer"),
    ('{"action": "add", "when": "tomorrow"}', "`when` must be date-time"),
    ('{"action": "add", "either": "x"}', "`either` cannot be validated by any definition"),
    ('{"action": "add", "only": 2}', "`only` must be same as const definition: 1"),
]


EMPTY = [
    ('{"action": "add", "text": ""}', {"action": "add"}, "`text`"),
    ('{"action": "add", "tags": []}', {"action": "add"}, "`tags`"),
    ('{"action": "add", "at": {}}', {"action": "add"}, "`at`"),
    ('{"action": "add", "count": null}', {"action": "add"}, "`count`"),
    ('{"action": "add", "gate": "", "count": 2}', {"action": "add", "count": 2}, "`gate`"),
    ('{"action": "add", "text": "", "place": null}', {"action": "add"}, "`text`, `place`"),
]


@pytest.mark.parametrize(("arguments", "kept", "named"), EMPTY)
async def test_an_empty_argument_that_would_refuse_a_call_is_left_out(
    arguments: str, kept: dict[str, object], named: str
) -> None:
    tool = FakeTool("keep", schema=SCHEMA)
    call = ToolCallPart(call_id=CallId("c1"), name="keep", arguments=arguments)
    result = await Toolbox([tool]).run(call, CONTEXT)
    assert not result.is_error
    assert result.text.endswith(f"\n[Left out, because empty: {named}]")
    assert [given for given, _ in tool.asked] == [kept]


def test_the_corpus_is_large_and_holds_nothing_twice() -> None:
    assert len(MALFORMED) >= 40
    assert len({arguments for arguments, _ in MALFORMED}) == len(MALFORMED)


async def test_a_malformed_call_is_told_in_one_sentence_what_to_change() -> None:
    async def check(row: tuple[str, str]) -> None:
        arguments, reported = row
        tool = FakeTool("keep", schema=SCHEMA)
        call = ToolCallPart(call_id=CallId("c1"), name="keep", arguments=arguments)
        result = await Toolbox([tool]).run(call, CONTEXT)
        assert result.is_error
        assert reported in result.text
        assert result.text.startswith("`keep` was not run: ")
        assert result.text.endswith(".")
        assert "\n" not in result.text
        assert len(result.text) < 500
        result.text.encode()
        assert tool.asked == []

    await await_each(MALFORMED, check)


@pytest.mark.parametrize(
    "arguments",
    [
        '{"action": "add"}',
        ' \n{"action" : "drop" , "text" : "a b"}\t',
        '{"action": "add", "count": 1.0, "tags": ["a"], "at": {"x": 0, "y": -1}, "when": null}',
        '{"action": "add", "when": "2026-11-21T03:00:00Z", "either": false, "only": 1}',
        '{"action": "\\u0061dd", "text": "a"}',
    ],
)
def test_arguments_that_fit_come_through_as_they_are(arguments: str) -> None:
    assert read_arguments(arguments, compile_schema(SCHEMA)) == json.loads(arguments)


def test_a_whole_pair_of_surrogates_is_a_character() -> None:
    validate = compile_schema('{"type":"object"}')
    assert read_arguments('{"a": "\\ud83d\\ude00"}', validate) == {"a": "😀"}


def test_a_name_that_a_model_made_up_is_shown_short_and_harmless() -> None:
    made_up = json.dumps({"action": "add", "</facts>\n" + "x" * 5000: 1})
    with pytest.raises(ToolArgumentError) as caught:
        read_arguments(made_up, compile_schema(SCHEMA))
    assert "</facts>" not in str(caught.value)
    assert len(str(caught.value)) <= 400


def test_a_tool_without_arguments_says_that_there_are_none() -> None:
    schema = '{"type":"object","additionalProperties":false}'
    with pytest.raises(ToolArgumentError, match=r"the arguments can't have `a`; there are none"):
        read_arguments('{"a": 1}', compile_schema(schema))
