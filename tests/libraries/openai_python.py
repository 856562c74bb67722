"""OpenAI's library for Python: both APIs."""

import asyncio
import sys

from openai import AsyncOpenAI
from pydantic import BaseModel


class City(BaseModel):
    name: str
    size: int


WEATHER = {
    "name": "get_weather",
    "description": "The weather of a city.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
    },
    "strict": True,
}
CHAT = {"model": "talaria"}


async def main(url: str, key: str) -> None:
    client = AsyncOpenAI(api_key=key, base_url=url, max_retries=0)
    rules = {"role": "system", "content": "Be brief."}

    done = await client.chat.completions.create(
        **CHAT, messages=[rules, {"role": "user", "content": "say hello"}]
    )
    assert done.choices[0].message.content == "hello", done
    print("chat plain")

    stream = await client.chat.completions.create(
        **CHAT,
        messages=[rules, {"role": "user", "content": "say hello"}],
        stream=True,
        stream_options={"include_usage": True},
    )
    chunks = [chunk async for chunk in stream]
    words = "".join(one.choices[0].delta.content or "" for one in chunks if one.choices)
    assert words == "hello", words
    assert chunks[-1].usage.total_tokens > 0
    print("chat stream")

    parsed = await client.chat.completions.parse(
        **CHAT, messages=[rules, {"role": "user", "content": "a city"}], response_format=City
    )
    assert parsed.choices[0].message.parsed == City(name="Ulm", size=3)
    async with client.chat.completions.stream(
        **CHAT, messages=[rules, {"role": "user", "content": "a city"}], response_format=City
    ) as streamed:
        final = await streamed.get_final_completion()
    assert final.choices[0].message.parsed == City(name="Ulm", size=3)
    print("chat structured")

    tools = [{"type": "function", "function": WEATHER}]
    history = [rules, {"role": "user", "content": "weather"}]
    first = await client.chat.completions.create(**CHAT, messages=history, tools=tools)
    (call,) = first.choices[0].message.tool_calls
    history += [
        first.choices[0].message,
        {"role": "tool", "tool_call_id": call.id, "content": "Rain"},
    ]
    second = await client.chat.completions.create(**CHAT, messages=history, tools=tools)
    assert second.choices[0].message.content == "It is: Rain", second
    print("chat tools")

    answer = await client.responses.create(**CHAT, input="say hello", instructions="Be brief.")
    assert answer.output_text == "hello"
    print("responses plain")
    async with client.responses.stream(**CHAT, input="say hello") as events:
        answer = await events.get_final_response()
    assert answer.output_text == "hello"
    print("responses stream")
    answer = await client.responses.parse(**CHAT, input="a city", text_format=City)
    assert answer.output_parsed == City(name="Ulm", size=3)
    print("responses structured")
    tools = [{"type": "function", **WEATHER}]
    first = await client.responses.create(**CHAT, input="weather", tools=tools)
    (call,) = [one for one in first.output if one.type == "function_call"]
    output = {"type": "function_call_output", "call_id": call.call_id, "output": "Rain"}
    second = await client.responses.create(
        **CHAT, input=[output], previous_response_id=first.id, tools=tools
    )
    assert second.output_text == "It is: Rain"
    print("responses tools")


asyncio.run(main(*sys.argv[1:3]))
