"""Pydantic AI."""

import asyncio
import sys

from pydantic import BaseModel
from pydantic_ai import Agent, NativeOutput, PromptedOutput, ToolOutput
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider


class City(BaseModel):
    name: str
    size: int


async def main(url: str, key: str) -> None:
    provider = OpenAIProvider(base_url=url, api_key=key)
    for name, kind in (("chat", OpenAIChatModel), ("responses", OpenAIResponsesModel)):
        model = kind("talaria", provider=provider)
        agent = Agent(model, instructions="Be brief.")
        assert (await agent.run("say hello")).output == "hello"
        print(name, "plain")
        async with agent.run_stream("say hello") as streamed:
            assert await streamed.get_output() == "hello"
        print(name, "stream")
        for form in (NativeOutput, ToolOutput, PromptedOutput):
            found = await Agent(model, output_type=form(City)).run("a city")
            assert found.output == City(name="Ulm", size=3), form
        print(name, "structured")
        helper = Agent(model, instructions="Be brief.")

        @helper.tool_plain
        def get_weather(city: str) -> str:
            """The weather of a city."""
            return f"Rain in {city}"

        done = await helper.run("weather")
        assert done.output == "It is: Rain in Ulm", done
        again = await helper.run("say hello", message_history=done.all_messages())
        assert again.output == "hello"
        async with helper.run_stream("weather") as streamed:
            assert await streamed.get_output() == "It is: Rain in Ulm"
        print(name, "tools")


asyncio.run(main(*sys.argv[1:3]))
