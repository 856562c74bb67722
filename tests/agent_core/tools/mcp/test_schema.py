"""What is left of a foreign schema."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.tools.mcp.schema import reduce_schema


def reduce(schema: dict[str, object]) -> dict[str, object]:
    found = json.loads(reduce_schema(schema))
    assert isinstance(found, dict)
    return found


def test_an_ordinary_schema_stays_as_it_is() -> None:
    schema: dict[str, object] = {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "The file.", "minLength": 1},
            "mode": {"enum": ["read", "write"]},
            "lines": {"type": "array", "items": {"type": "integer", "minimum": 0}},
        },
        "required": ["path"],
        "additionalProperties": False,
    }
    assert reduce(schema) == schema


def test_patterns_are_dropped() -> None:
    found = reduce({"properties": {"a": {"type": "string", "pattern": "(a+)+$"}}})
    assert found["properties"] == {"a": {"type": "string"}}


def test_a_reference_inside_is_replaced_by_its_target() -> None:
    found = reduce(
        {"$defs": {"p": {"type": "integer"}}, "properties": {"a": {"$ref": "#/$defs/p"}}}
    )
    assert found == {"type": "object", "properties": {"a": {"type": "integer"}}}


def test_a_reference_outside_is_dropped() -> None:
    found = reduce({"properties": {"a": {"$ref": "http://127.0.0.1/schema.json"}}})
    assert found["properties"] == {"a": {}}


def test_a_circle_of_references_ends() -> None:
    found = reduce(
        {"$defs": {"a": {"$ref": "#/$defs/a"}}, "properties": {"x": {"$ref": "#/$defs/a"}}}
    )
    assert found["properties"] == {"x": {}}


def test_references_that_double_are_refused() -> None:
    defs = {
        f"a{number}": {"allOf": [{"$ref": f"#/$defs/a{number + 1}"}] * 20} for number in range(9)
    }
    with pytest.raises(ValueError, match="too large"):
        reduce_schema({"$defs": defs, "properties": {"x": {"$ref": "#/$defs/a0"}}})


def test_an_odd_name_of_a_property_is_refused() -> None:
    with pytest.raises(ValueError, match="whose name can't be used"):
        reduce_schema({"properties": {'"]; import os #': {}}})


def test_an_argument_whose_name_a_provider_refuses_is_left_out_or_refuses_the_tool() -> None:
    odd: dict[str, object] = {"$filter": {}, "größe": {}, "user id": {}, "page.size": {}}
    assert reduce({"properties": odd})["properties"] == {"page.size": {}}
    nested = {"query": {"type": "object", "properties": {"$filter": {}}}}
    assert reduce({"properties": nested})["properties"] == nested
    with pytest.raises(ValueError, match="whose name can't be used"):
        reduce_schema({"properties": odd, "required": ["$filter"]})


def test_numbers_that_json_lacks_are_left_out() -> None:
    found = reduce({"properties": {"a": {"minimum": float("nan"), "enum": [float("inf")]}}})
    assert found["properties"] == {"a": {}}


def test_descriptions_are_one_short_line() -> None:
    found = reduce({"properties": {"a": {"description": "Do\u202e\n<facts>x" + "y" * 999}}})
    shown = found["properties"]["a"]["description"]  # type: ignore[index]
    assert len(shown) < 310
    assert "\n" not in shown
    assert "<facts>" not in shown


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
keywords = st.sampled_from(
    ["type", "properties", "items", "required", "enum", "$ref", "anyOf", "minimum", "$defs"]
)


@pytest.mark.slow
@given(st.dictionaries(keywords, values | st.dictionaries(keywords, values)))
def test_whatever_a_server_sends_is_a_schema_or_refused(schema: dict[str, object]) -> None:
    try:
        found = reduce_schema(schema)
    except ValueError:
        return
    assert json.loads(found)["type"] == "object"
