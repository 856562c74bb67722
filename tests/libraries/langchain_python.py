"""LangChain: a chat model, and its agent."""

import sys

from langchain.agents import create_agent
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import BaseModel


class City(BaseModel):
    """A city."""

    name: str
    size: int


@tool
def get_weather(city: str) -> str:
    """The weather of a city."""
    return f"Rain in {city}"


url, key = sys.argv[1:3]
for is_response in (False, True):
    model = ChatOpenAI(
        model="talaria", base_url=url, api_key=key, max_retries=0, use_responses_api=is_response
    )
    name = "responses" if is_response else "chat"
    asked = [SystemMessage("Be brief."), HumanMessage("say hello")]
    assert model.invoke(asked).text == "hello"
    print(name, "plain")
    assert "".join(one.text for one in model.stream(asked)) == "hello"
    print(name, "stream")
    methods = ("json_schema", "function_calling", "json_mode")
    for method in methods:
        shaped = model.with_structured_output(City, method=method)
        found = shaped.invoke([SystemMessage("As JSON."), HumanMessage("a city")])
        assert found == City(name="Ulm", size=3), (method, found)
    print(name, "structured")
    agent = create_agent(model, tools=[get_weather], system_prompt="Be brief.")
    done = agent.invoke({"messages": [HumanMessage("weather")]})
    assert done["messages"][-1].text == "It is: Rain in Ulm", done
    pieces = list(agent.stream({"messages": [HumanMessage("weather")]}, stream_mode="messages"))
    assert pieces
    print(name, "tools")
