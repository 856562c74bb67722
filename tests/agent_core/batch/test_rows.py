"""The rows of a run: the formats as their services take them, the filters and the statistics."""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from anthropic.types import (
    MessageParam,
    TextBlockParam,
    ToolParam,
    ToolResultBlockParam,
    ToolUseBlockParam,
)
from openai.types.chat import ChatCompletionFunctionToolParam, ChatCompletionMessageParam
from pydantic import TypeAdapter

from agent_core.agent.replay.formats import TrajectoryFormat
from agent_core.batch.rows import RowCounts, RowFilter, render_rows
from agent_core.batch.run import BatchLimits
from agent_core.errors import ModelRejected
from agent_core.models.contract import ModelRequest
from agent_core.state.engine.database import browse_file
from tests.agent_core.batch.talker import run_batch, write
from tests.agent_core.execution.backends import make_local, needs_bubblewrap
from tests.fakes.model import Play, ask, call, say

CALL = re.compile(r"<tool_call>\n(.*?)\n</tool_call>", re.DOTALL)
BLOCKS = {
    "text": TextBlockParam,
    "tool_use": ToolUseBlockParam,
    "tool_result": ToolResultBlockParam,
}
RESPONSE = re.compile(r"<tool_response>\n(.*?)\n</tool_response>", re.DOTALL)


def answer(words: str, request: ModelRequest) -> Play:
    """Fail, answer at once, or look six times, two calls at once, and then answer."""
    if words == "bad":
        return [ModelRejected("no such shape")]
    steps = sum(one.role == "tool" for one in request.messages)
    if words == "short" or steps == 6:
        return say("Done.")
    query = json.dumps({"query": f"boats {steps} " * 50})
    other = json.dumps({"query": f"fish {steps}"}) if steps else "{}{"
    calls = (call("recall", query, f"a{steps}"), call("recall", other, f"b{steps}"))
    return ask(*calls, text="I look.")


def validate(kind: Any, value: object) -> None:
    """Validate with the types of the service's own SDK, also what they read late."""
    walk(TypeAdapter(kind).validate_python(value))


def walk(value: object) -> None:
    if isinstance(value, dict):
        for one in value.values():
            walk(one)
    elif isinstance(value, Iterable) and not isinstance(value, str | bytes):
        for one in value:
            walk(one)


@pytest.fixture
async def run_folder(tmp_path: Path) -> Path:
    data = write({"prompt": "long"}, {"prompt": "short", "id": "s"}, {"prompt": "bad"})
    await run_batch(tmp_path, answer, data)
    return tmp_path


async def read_rows(
    folder: Path, wanted: TrajectoryFormat, chosen: RowFilter | None = None
) -> tuple[list[dict[str, Any]], RowCounts]:
    counts = RowCounts()
    lines = await browse_file(
        folder / "state.db",
        lambda c: list(render_rows(c, wanted, chosen or RowFilter(), counts)),
    )
    return [json.loads(line) for line in lines], counts


async def test_openai_takes_its_rows(run_folder: Path) -> None:
    rows, _ = await read_rows(run_folder, "openai")
    for row in rows:
        assert row.keys() <= {"messages", "tools", "parallel_tool_calls"}
        validate(list[ChatCompletionMessageParam], row["messages"])
        validate(list[ChatCompletionFunctionToolParam], row["tools"])
        assert row["messages"][-1]["role"] == "assistant"
        asked: list[str] = []
        for one in row["messages"]:
            if one["role"] == "tool":
                assert asked.pop(0) == one["tool_call_id"]
            else:
                assert not asked, "each call has its result before the next message"
                asked = [two["id"] for two in one.get("tool_calls", ())]
                for two in one.get("tool_calls", ()):
                    assert isinstance(two["function"]["arguments"], str)


async def test_anthropic_takes_its_rows(run_folder: Path) -> None:
    rows, _ = await read_rows(run_folder, "anthropic")
    for row in rows:
        assert row.keys() <= {"system", "messages", "tools"}
        for one in row["messages"]:
            TypeAdapter(MessageParam).validate_python(one)
            for block in one["content"]:
                validate(BLOCKS[block["type"]], block)
        validate(list[ToolParam], row["tools"])
        roles = [one["role"] for one in row["messages"]]
        assert roles == ["user", "assistant"] * (len(roles) // 2)
        for before, after in zip(row["messages"], row["messages"][1:], strict=False):
            uses = [one["id"] for one in before["content"] if one["type"] == "tool_use"]
            results = [
                one["tool_use_id"] for one in after["content"] if one["type"] == "tool_result"
            ]
            assert uses == results


async def test_sharegpt_has_the_forms_of_hermes_and_the_statistics(run_folder: Path) -> None:
    rows, _ = await read_rows(run_folder, "sharegpt")
    assert [row["id"] for row in rows] == ["1", "s"]
    for row in rows:
        assert {one["from"] for one in row["conversations"]} <= {"system", "human", "gpt", "tool"}
        assert row["conversations"][0]["from"] == "system"
        assert row["conversations"][-1]["from"] == "gpt"
        assert row["completed"] is True
    said = rows[0]["conversations"]
    asked = [json.loads(one) for turn in said for one in CALL.findall(turn["value"])]
    given = [json.loads(one) for turn in said for one in RESPONSE.findall(turn["value"])]
    assert [one["name"] for one in asked] == ["recall"] * 12
    assert [one["tool_call_id"] for one in given] == [one["id"] for one in asked]
    assert rows[0]["tool_stats"] == {"recall": {"count": 12, "success": 11, "failure": 1}}
    assert rows[1]["tool_stats"] == {"recall": {"count": 0, "success": 0, "failure": 0}}
    assert rows[0]["api_calls"] == 7


@pytest.mark.parametrize(
    ("chosen", "ids", "left_out"),
    [
        (RowFilter(), ["1", "s"], {"unanswered": 1}),
        (RowFilter(failed_too=True), ["1", "s"], {"unanswered": 1}),
        (RowFilter(least_messages=3), ["1"], {"too few messages": 1, "unanswered": 1}),
        (RowFilter(most_messages=3), ["s"], {"too many messages": 1, "unanswered": 1}),
        (RowFilter(used=("recall",)), ["1"], {"without the tools": 1, "unanswered": 1}),
        (RowFilter(most_tokens=10), [], {"too long": 2, "unanswered": 1}),
    ],
)
async def test_the_filters(
    run_folder: Path, chosen: RowFilter, ids: list[str], left_out: dict[str, int]
) -> None:
    rows, counts = await read_rows(run_folder, "jsonl", chosen)
    assert [row["id"] for row in rows] == ids
    assert counts.left_out == left_out


@needs_bubblewrap
@pytest.mark.process
async def test_an_answer_that_failed_its_check_is_left_out_unless_it_is_wanted(
    tmp_path: Path,
) -> None:
    backend = make_local(tmp_path)
    data = write(
        {"prompt": "short", "id": "good", "check": "true"},
        {"prompt": "short", "id": "bad", "check": "false"},
    )
    limits = BatchLimits(attempts=1)
    try:
        await run_batch(tmp_path, answer, data, limits=limits, backend=backend)
    finally:
        await backend.close()
    rows, counts = await read_rows(tmp_path, "jsonl")
    assert [row["id"] for row in rows] == ["good"]
    assert counts.left_out == {"failed": 1}
    rows, counts = await read_rows(tmp_path, "jsonl", RowFilter(failed_too=True))
    assert {row["id"]: row["completed"] for row in rows} == {"good": True, "bad": False}
    assert counts.left_out == {}


async def test_longer_rows_are_compressed_to_the_limit(run_folder: Path) -> None:
    whole, _ = await read_rows(run_folder, "openai")
    for most in range(6000, 500, -50):  # the prompt and the tools have most of the tokens
        rows, counts = await read_rows(run_folder, "openai", RowFilter(most_tokens=most))
        if counts.compressed:
            break
    assert (len(rows), counts.compressed) == (2, 1)
    assert rows[1] == whole[1]
    notes = [one for one in rows[0]["messages"] if "left out here" in one["content"]]
    assert [one["role"] for one in notes] == ["user"]
    validate(list[ChatCompletionMessageParam], rows[0]["messages"])
