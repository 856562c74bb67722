"""A job that Anna asks for and confirms."""

from tests.journeys.accounts import Account, texts
from tests.journeys.stage import Harness, call, calls


async def make_job(harness: Harness, anna: Account, said: str, **asked: str) -> str:
    """Have Anna make and confirm a job; return the question that she read."""
    harness.stage.plan(calls(call("schedule", action="create", **asked)), "Made.")
    await harness.notes(anna.says(said))
    await harness.asks(anna, "Yes, do that")
    question = next(text for text in texts(anna)[::-1] if "shall I" in text)
    await harness.press(anna, "Yes, do that")
    return question
