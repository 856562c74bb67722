"""The emulated platforms to try Talaria by hand."""

import aiohttp

from tools.emulate import emulate


async def test_a_person_writes_through_the_controls() -> None:
    async with emulate("discord") as (address, environ), aiohttp.ClientSession() as client:
        assert environ["DISCORD_API_BASE_URL"].startswith("http://127.0.0.1:")
        async with client.post(f"{address}/says", json={"number": 1, "text": "hello"}) as answer:
            said = await answer.json()
        async with client.post(f"{address}/message", json={"message_id": said}) as answer:
            assert (await answer.json())["content"] == "hello"
        async with client.get(address) as answer:
            told = await answer.text()
        assert "curl ADDRESS/says" in told
        assert "\nsays(number: int, text: str" in told
