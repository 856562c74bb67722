"""Play both environments through `verifiers`, and print their rewards.

`python -m tools.try_rl` plays with a scripted policy, which knows the tasks, and exits with 1 if a
reward is missing. `python -m tools.try_rl URL MODEL EPISODES` plays with a model behind OpenAI's
API.
It runs in the environment that `make try-rl` makes.
"""

import asyncio
import json
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from aiohttp import web

EXAMPLES = Path(__file__).parents[1] / "examples" / "environments"
_EPISODES = 6
_AT_ONCE = 3
_SCRIPTED = "policy-1"
_SHELL = {
    "sorted as plain text": "LC_ALL=C sort -u names.txt > out.txt",
    "Add up the column": "awk -F, 'NR>1{s+=$2} END{print s}' bills.csv > sum.txt",
    "names a key": "grep -rhoE 'key-[0-9]+' notes > key.txt;"
    " basename $(grep -rlE 'key-[0-9]+' notes) > file.txt",
}

Message = Mapping[str, Any]


def decide(messages: Sequence[Message]) -> tuple[str, dict[str, str] | None]:
    """Return the words of the scripted policy, or the name and arguments of its call."""
    words = str(next(one["content"] for one in messages if one["role"] == "user"))
    if messages[-1]["role"] == "tool" or "nice word" in words:
        return "Done.", None
    for part, command in _SHELL.items():
        if part in words:
            return "", {"name": "terminal", "arguments": json.dumps({"command": command})}
    if found := re.search(r"My (\w+) is (.+) now, no longer (.+)\. Please", words):
        change = {"action": "replace", "old": found[3], "text": f"Their {found[1]} is {found[2]}."}
    else:
        saved = re.search(r"my (\w+) is (.+)\.$", words, re.MULTILINE)
        assert saved, words
        change = {"action": "add", "text": f"Their {saved[1]} is {saved[2]}."}
    return "", {"name": "memory", "arguments": json.dumps({**change, "target": "user"})}


async def answer(request: web.Request) -> web.StreamResponse:
    """Answer a chat completion as OpenAI's API does, streamed or whole."""
    asked = await request.json()
    text, call = decide(asked["messages"])
    calls = [{"index": 0, "id": "call_1", "type": "function", "function": call}] if call else []
    said: dict[str, Any] = {"role": "assistant", "content": text or None}
    if calls:
        said["tool_calls"] = calls
    reason = "tool_calls" if calls else "stop"
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    body = {"id": "c1", "created": 1, "model": asked["model"], "usage": usage}
    if not asked.get("stream"):
        choice = {"index": 0, "message": said, "finish_reason": reason}
        return web.json_response({**body, "object": "chat.completion", "choices": [choice]})
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    for delta, end in ((said, None), ({}, reason)):
        choice = {"index": 0, "delta": delta, "finish_reason": end}
        chunk = {**body, "object": "chat.completion.chunk", "choices": [choice]}
        await response.write(f"data: {json.dumps(chunk)}\n\n".encode())
    await response.write(b"data: [DONE]\n\n")
    return response


async def serve(stack: AsyncExitStack) -> str:
    """Serve the scripted policy on loopback, and return its address."""
    application = web.Application()
    application.router.add_post("/v1/chat/completions", answer)
    runner = web.AppRunner(application)
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    return f"http://127.0.0.1:{runner.addresses[0][1]}/v1"


async def play(name: str, address: str, model: str, count: int) -> list[float]:
    """Play episodes of a task set, some at once, and return their rewards."""
    import verifiers.v1 as vf  # noqa: PLC0415 - only the environment of `make try-rl` has it
    from verifiers.v1.envs.single_agent import SingleAgentEnvConfig  # noqa: PLC0415
    from verifiers.v1.utils.generic import concrete_type  # noqa: PLC0415
    from verifiers.v1.utils.loaders import load_environment, taskset_class  # noqa: PLC0415

    config_class = concrete_type(taskset_class(name), vf.TasksetConfig)
    agent = {"harness": {"id": name}, "runtime": {"type": "subprocess"}}
    config = SingleAgentEnvConfig(taskset=config_class(id=name, count=count), agent=agent)
    environment = load_environment(config)
    client = vf.EvalClientConfig(base_url=address, api_key_var="TALARIA_NO_KEY")
    context = vf.ModelContext(model=model, client=client)
    places = asyncio.Semaphore(_AT_ONCE if model == _SCRIPTED else 1)
    async with environment.serving():
        slots = [slot for task in environment.taskset for slot in environment.slots(task)]
        episodes = await asyncio.gather(
            *(environment.run_slot(slot, context, places) for slot in slots)
        )
    rewards = []
    for episode in episodes:
        trace = episode.traces[0] if episode.traces else None
        found = trace.rewards.get("solved") if trace and episode.ok else None
        rewards.append(found.score if found else 0.0)
        for error in (*episode.errors, *(trace.errors if trace else ())):
            print(f"{name}: {error.type}: {error.message[:200]}")
    return rewards


async def main() -> int:
    """Play both task sets."""
    sys.path.insert(0, str(EXAMPLES))
    async with AsyncExitStack() as stack:
        is_scripted = len(sys.argv) == 1
        address = await serve(stack) if is_scripted else sys.argv[1]
        model = _SCRIPTED if is_scripted else sys.argv[2]
        count = _EPISODES if is_scripted else int(sys.argv[3])
        total = 0.0
        for name in ("talaria-memory", "talaria-terminal"):
            rewards = await play(name, address, model, count)
            total += sum(rewards)
            print(f"{name}: {sum(rewards):g} of {len(rewards)} rewards: {rewards}", flush=True)
    return int(is_scripted and total < 2 * _EPISODES)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
