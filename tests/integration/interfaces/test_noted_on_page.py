"""A note of the page Memory is known in the open conversation of a chat at once."""

from agent_core.transcript import TextPart
from tests.integration.harness import is_settled
from tests.integration.interfaces.api_setup import ZEBRANA, Setup
from tests.integration.interfaces.console_setup import browse_as
from tests.patience import until

_NOTE = "My boat is Lina"


async def hear_news(setup: Setup, words: str) -> list[str]:
    """Say something in Zebrana's chat; return the lines that tell the model of the note."""
    seen, asked = len(setup.chat.shown), len(setup.model.requests)
    await setup.chat.says(words, user=ZEBRANA, chat=ZEBRANA, name="Zebrana", id=words)
    await setup.chat.until(lambda: len(setup.chat.shown) > seen)
    await until(lambda: is_settled(setup.served.gateway))
    request = next(one for one in setup.model.requests[asked:] if words in one.messages[-1].text)
    facts = request.messages[-1].parts[0]
    assert isinstance(facts, TextPart)
    assert facts.is_fact
    return [line for line in facts.text.split("\n") if _NOTE in line]


async def test_a_note_of_the_page_is_told_once_in_the_open_conversation(setup: Setup) -> None:
    assert await hear_news(setup, "hello") == []
    async with (
        browse_as(setup.served, setup.chat, ZEBRANA) as session,
        session.post("/memory/entries", data={"text": _NOTE}) as answer,
    ):
        assert answer.ok
    (told,) = await hear_news(setup, "what do you know about me?")
    assert told.startswith("New in ")
    assert await hear_news(setup, "and now?") == []
