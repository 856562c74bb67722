"""LiteLLM: completions, and its builder of a streamed one."""

import json
import sys

import litellm
from pydantic import BaseModel


class City(BaseModel):
    name: str
    size: int


url, key = sys.argv[1:3]
CHAT = {"model": "openai/talaria", "api_base": url, "api_key": key, "num_retries": 0}
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    },
}


def user(text: str) -> list:
    return [{"role": "system", "content": "Be brief."}, {"role": "user", "content": text}]


done = litellm.completion(**CHAT, messages=user("say hello"))
assert done.choices[0].message.content == "hello"
print("plain")
pieces = litellm.completion(**CHAT, messages=user("say hello"), stream=True)
assert "".join(one.choices[0].delta.content or "" for one in pieces) == "hello"
print("stream")
done = litellm.completion(**CHAT, messages=user("a city"), response_format=City)
assert City(**json.loads(done.choices[0].message.content)) == City(name="Ulm", size=3)
print("structured")
for streams in (False, True):
    history = user("weather in ulm" if streams else "weather")
    first = litellm.completion(**CHAT, messages=history, tools=[WEATHER], stream=streams)
    if streams:
        first = litellm.stream_chunk_builder(list(first), messages=history)
    message = first.choices[0].message
    assert first.choices[0].finish_reason == "tool_calls", first
    history.append(message.model_dump())
    result = {"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": "Rain"}
    second = litellm.completion(**CHAT, messages=[*history, result], tools=[WEATHER])
    assert second.choices[0].message.content == "It is: Rain", second
print("tools")
