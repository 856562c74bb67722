"""A turn of many tool steps, beside a bare loop with the same SDK, model and tool."""

import json
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, cast

from aiohttp import web
from anthropic import AsyncAnthropic

from agent_core.models.anthropic import create
from agent_core.models.settings import AnthropicSettings
from agent_core.tools.contract import ToolContext, ToolResult
from bench.figures import Figure
from bench.processes import run_server
from bench.quick_model import tell_usage
from tests.emulators.anthropic import AnthropicEmulator, render_events
from tests.emulators.streaming import Answer, main, text_answer
from tests.fakes.model import FakeModel
from tests.fakes.tool import FakeTool
from tests.integration.harness import running

_STEPS = 50
_MODEL = "claude-sonnet-5-5"
_END = "All done."
_TOOL: Any = {"name": "look", "description": "does look", "input_schema": {"type": "object"}}


class StepModel(AnthropicEmulator):
    """Calls the tool in each answer until the request holds enough results, and never inspects."""

    async def respond(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer a message call; everything else like the emulator."""
        if (request.method, request.path) != ("POST", "/v1/messages"):
            return await super().respond(request)
        content = await request.read()
        body = json.loads(content)
        done = _count_results(body["messages"]) % (_STEPS + 1)
        call = {"type": "tool_use", "name": _TOOL["name"], "input": {"number": done}}
        answer = text_answer(_END)
        if done < _STEPS and "tools" in body:
            answer = Answer(blocks=[call], stop="tool_use")
        message = self.compose(body["model"], answer, tell_usage(len(content)))
        return await self.stream(request, body, render_events(message, self.deltas))


def _count_results(messages: list[dict[str, Any]]) -> int:
    """Count the results since the last answer in words, one for each message of results."""
    count = 0
    for message in reversed(messages):
        content = message["content"]
        blocks = content if isinstance(content, list) else []
        if message["role"] == "assistant" and not any(b["type"] == "tool_use" for b in blocks):
            return count
        count += any(block["type"] == "tool_result" for block in blocks)
    return count


async def measure(*, rounds: int) -> list[Figure]:
    """Return the time of a step in milliseconds: a model call and one call of the tool."""
    ours: list[float] = []
    bare: list[float] = []
    async with run_server("bench.steps") as url, AsyncExitStack() as stack:
        client = await stack.enter_async_context(AsyncAnthropic(api_key="key", base_url=url))
        model = cast(FakeModel, create(AnthropicSettings(api_key="key", base_url=url)))
        stack.push_async_callback(model.close)
        with TemporaryDirectory(prefix="talaria-bench-") as folder:
            async with running(
                Path(folder),
                model,
                tools=(FakeTool("look", _look),),
                TALARIA_MODEL__NAME=_MODEL,
                TALARIA_TURNS__MAX_STEPS="200",
            ) as harness:
                for number in range(rounds + 1):
                    began = time.perf_counter()
                    await harness.chat.says(f"go {number}")
                    await harness.chat.sees(number + 1)
                    await harness.at_rest()
                    taken = time.perf_counter() - began
                    loop = await _run_bare(client)
                    if number:  # the first loads the SDK and opens connections
                        ours.append(taken)
                        bare.append(loop)
    return [
        Figure(
            name=f"{_STEPS} tool steps, per step, against a bare loop",
            unit="ms",
            value=median(ours) / _STEPS * 1000,
            bare=median(bare) / _STEPS * 1000,
        )
    ]


async def _look(_: Mapping[str, object], context: ToolContext) -> ToolResult:
    return ToolResult(text=f"{context.call_id} is done")


async def _run_bare(client: AsyncAnthropic) -> float:
    """Run the loop that the documentation of the SDK teaches, with a streamed answer."""
    began = time.perf_counter()
    messages: list[Any] = [{"role": "user", "content": "go"}]
    while True:
        async with client.messages.stream(
            model=_MODEL, max_tokens=1000, messages=messages, tools=[_TOOL]
        ) as stream:
            answer = await stream.get_final_message()
        messages.append({"role": "assistant", "content": answer.content})
        if answer.stop_reason != "tool_use":
            return time.perf_counter() - began
        results = [
            {"type": "tool_result", "tool_use_id": block.id, "content": f"{block.id} is done"}
            for block in answer.content
            if block.type == "tool_use"
        ]
        messages.append({"role": "user", "content": results})


if __name__ == "__main__":
    main(StepModel, "steps")
