"""OpenAI's Agents SDK: both APIs, with a handoff."""

import asyncio
import sys

from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from openai import AsyncOpenAI
from pydantic import BaseModel


class City(BaseModel):
    name: str
    size: int


@function_tool
def get_weather(city: str) -> str:
    """The weather of a city."""
    return f"Rain in {city}"


async def main(url: str, key: str) -> None:
    set_tracing_disabled(True)
    client = AsyncOpenAI(api_key=key, base_url=url, max_retries=0)
    for name, kind in (("chat", OpenAIChatCompletionsModel), ("responses", OpenAIResponsesModel)):
        model = kind(model="talaria", openai_client=client)
        agent = Agent(name="Helper", instructions="Be brief.", model=model)
        assert (await Runner.run(agent, "say hello")).final_output == "hello"
        print(name, "plain")
        streamed = Runner.run_streamed(agent, "say hello")
        async for _ in streamed.stream_events():
            pass
        assert streamed.final_output == "hello"
        print(name, "stream")
        shaped = Agent(name="Shaped", model=model, output_type=City)
        assert (await Runner.run(shaped, "a city")).final_output == City(name="Ulm", size=3)
        print(name, "structured")
        helper = Agent(name="Helper", instructions="Be brief.", model=model, tools=[get_weather])
        done = await Runner.run(helper, "weather")
        assert done.final_output == "It is: Rain in Ulm"
        more = [*done.to_input_list(), {"role": "user", "content": "say hello"}]
        assert (await Runner.run(helper, more)).final_output == "hello"
        streamed = Runner.run_streamed(helper, "weather")
        async for _ in streamed.stream_events():
            pass
        assert streamed.final_output == "It is: Rain in Ulm"
        front = Agent(name="Front", instructions="Hand over.", model=model, handoffs=[helper])
        done = await Runner.run(front, "hand over to the weather")
        assert done.final_output == "It is: Rain in Ulm", done.final_output
        assert done.last_agent.name == "Helper"
        print(name, "tools")


asyncio.run(main(*sys.argv[1:3]))
