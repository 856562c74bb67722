"""/model: the choices, for a person and for a job, and which model answers."""

from pathlib import Path
from typing import Any

from agent_core.state.jobs.jobs import Options
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, say
from tests.integration.accounts import ChatAccount
from tests.integration.clock import Clock
from tests.integration.harness import Harness, running
from tests.integration.jobs_support import find, give_job, greet, greeted, over

SETTINGS: dict[str, Any] = {
    "TALARIA_MODEL__PROVIDER": "anthropic",
    "ANTHROPIC_API_KEY": "key",
    "OPENAI_API_KEY": "key",
    "TALARIA_MODEL__CHOICES": "openai:gpt-5.4-mini,claude-opus-5-5,openai:my-own",
}


async def says(harness: Harness, text: str) -> str:
    return await ChatAccount(harness, "1", "Ana").says(text)


async def test_every_configured_model_is_shown_with_price_and_abilities(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, FakeModel(), **SETTINGS) as harness:
        lines = (await says(harness, "/model")).splitlines()
        labels = harness.chat.shown[-1].labels
    assert lines[0] == "**Your model**: claude-sonnet-5-5 (default)"
    assert lines[2] == (
        "- claude-sonnet-5-5: $2.00 per million tokens read, $10.00 per million written;"
        " sees pictures, reads files"
    )
    assert lines[5] == "- openai:my-own: price unknown; might see pictures; reads files"
    assert labels == [
        "claude-sonnet-5-5",
        "openai:gpt-5.4-mini",
        "claude-opus-5-5",
        "openai:my-own",
        "claude-haiku-5-5",
        "Default",
    ]


async def test_a_chosen_model_answers_until_reset(tmp_path: Path) -> None:
    model = FakeModel(*[say("Hi.")] * 3)
    async with running(tmp_path, model, **SETTINGS) as harness:
        await says(harness, "one")
        await says(harness, "/model openai:gpt-5.4-mini")
        assert "**Your model**: openai:gpt-5.4-mini" in harness.chat.shown[-1].text
        await says(harness, "two")
        await says(harness, "/model default")
        await says(harness, "three")
    names = [request.model for request in model.requests]
    assert names == ["claude-sonnet-5-5", "openai:gpt-5.4-mini", "claude-sonnet-5-5"]


async def test_a_button_chooses(tmp_path: Path) -> None:
    model = FakeModel(say("Hi."))
    async with running(tmp_path, model, **SETTINGS) as harness:
        await says(harness, "/model")
        await ChatAccount(harness, "1", "Ana").presses("claude-opus-5-5")
        await says(harness, "one")
    assert model.requests[0].model == "claude-opus-5-5"


async def test_a_removed_model_is_no_choice(tmp_path: Path) -> None:
    chat, model = FakeChat(), FakeModel(say("Hi."))
    async with running(tmp_path, FakeModel(), chat=chat, **SETTINGS) as harness:
        await says(harness, "/model openai:my-own")
    later = {name: value for name, value in SETTINGS.items() if not name.endswith("CHOICES")}
    async with running(tmp_path, model, chat=chat, **later) as harness:
        await says(harness, "one")
    assert model.requests[0].model == "claude-sonnet-5-5"


async def test_an_unknown_name_changes_nothing(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(), **SETTINGS) as harness:
        assert "I don't know that model" in await says(harness, "/model gpt-99")
        assert "(default)" in await says(harness, "/model")
        assert "You have no reminder with that number" in await says(harness, "/model job 7")


async def test_a_job_gets_a_model_of_its_own(tmp_path: Path) -> None:
    clock, model = Clock(2026, 11, 22, 12), greeted(say("Rain."))
    async with running(tmp_path, model, now=clock, **SETTINGS) as harness:
        await greet(harness)
        job = await give_job(harness, "weather", "every 3600", kind="prompt")
        shown = await says(harness, f"/model job {job.id} claude-opus-5-5")
        assert shown.startswith("**Model of weather**: claude-opus-5-5")
        clock.move(harness, seconds=3601)
        (run,) = await over(harness, job, 1)
        assert run.state == "done"
    assert [request.model for request in model.requests][-1] == "claude-opus-5-5"


async def test_a_job_whose_model_was_removed_uses_the_default(tmp_path: Path) -> None:
    clock, model = Clock(2026, 11, 22, 12), greeted(say("Rain."))
    async with running(tmp_path, model, now=clock, **SETTINGS) as harness:
        await greet(harness)
        job = await give_job(harness, "weather", "every 3600", kind="prompt")
        await says(harness, f"/model job {job.id} openai:my-own")
    later = {name: value for name, value in SETTINGS.items() if not name.endswith("CHOICES")}
    model = FakeModel(say("Rain."))
    async with running(tmp_path, model, now=clock, **later) as harness:
        clock.move(harness, seconds=3601)
        (run,) = await over(harness, job, 1)
        assert run.state == "done"
    assert [request.model for request in model.requests] == ["claude-sonnet-5-5"]


async def test_a_limit_in_dollars_needs_a_price(tmp_path: Path) -> None:
    limited = Options(day_micro_dollars=10)
    async with running(tmp_path, greeted(), **SETTINGS) as harness:
        await greet(harness)
        job = await give_job(harness, "weather", "every 3600", kind="prompt", options=limited)
        shown = await says(harness, f"/model job {job.id} openai:my-own")
        assert "don't know the price of that model" in shown
        assert (await find(harness, job)).options.model == ""
