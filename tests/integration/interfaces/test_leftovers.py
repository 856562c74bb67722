"""A message to the API or on the page leaves nothing that only the collector could take apart."""

import asyncio
from collections import Counter
from pathlib import Path

import aiohttp
import pytest

from tests.cycles import noting_cycles, ours
from tests.integration.interfaces.api_setup import chat_of, make_token
from tests.integration.interfaces.console_setup import browse
from tests.integration.served import served
from tests.patience import PATIENCE


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
async def test_a_request_that_the_stand_in_answers_leaves_no_cycle(
    streams: bool, home: Path
) -> None:
    found: Counter[str] = Counter()
    async with served(home) as gateway:
        head = {"Authorization": f"Bearer {await make_token(home, 'olga')}"}
        url = f"{gateway.address.origin()}/v1/chat/completions"
        async with aiohttp.ClientSession(headers=head) as session:

            async def complete() -> None:
                asked = {**chat_of("Hello!"), "stream": streams}
                async with session.post(url, json=asked) as reply:
                    assert reply.status == 200, await reply.text()
                    await reply.read()

            for _ in range(2):
                await complete()
            with noting_cycles(found):
                for _ in range(3):
                    await complete()
    assert not ours(found), found


async def test_a_message_on_the_page_leaves_no_cycle(tmp_path: Path) -> None:
    found: Counter[str] = Counter()
    async with (
        served(tmp_path) as gateway,
        browse(gateway) as browser,
        browser.ws_connect("/console") as page,
    ):

        async def write(number: int) -> None:
            await page.send_json({"type": "message", "id": f"m{number}", "text": "Hello!"})
            async with asyncio.timeout(PATIENCE):
                while (news := await page.receive_json())["type"] != "message":
                    pass
            await page.send_json({"type": "got", "key": news["key"]})

        await page.send_json({"type": "hello"})
        for number in range(2):
            await write(number)
        with noting_cycles(found):
            for number in range(2, 5):
                await write(number)
    assert not ours(found), found
