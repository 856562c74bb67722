"""A question of the model to a person."""

from tests.fakes.chat import FakeChat, Shown
from tests.fakes.model import ask, call
from tests.integration.harness import Harness

ARGUMENTS = '{"question": "Which colour?", "options": ["Red", "Blue"]}'
QUESTION = ask(call("ask", ARGUMENTS))
ROOM = {"chat": "room", "direct": False}


async def asked(chat: FakeChat, text: str = "Which colour?") -> Shown:
    """Return the question's message once it can be answered."""
    return await chat.sees_text(text)


async def waiting(harness: Harness, text: str = "Which colour?") -> Shown:
    """Return the question once the turn waits for its answer."""
    await harness.until(lambda: bool(harness.gateway.questions.answers._futures))
    return await asked(harness.chat, text)
