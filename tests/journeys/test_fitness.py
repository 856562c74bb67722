"""A model of this machine is tested by command, and reviews only once it may."""

import asyncio
from pathlib import Path

from aiohttp import web

from agent_core.fitness.card import LEAST
from agent_core.fitness.run import EVERY_TASK
from gateway.home import DATABASE
from gateway.interfaces.contexts import open_context
from gateway.operations.registry import find_operation
from tests.agent_core.fitness.scripted_models import answer_rightly, print_calls, script
from tests.architecture.source import ROOT
from tests.databases import place_database
from tests.emulators.openai import OpenAIEmulator
from tests.emulators.telegram_cast import ANNA
from tests.integration.processes import talaria_beside
from tests.journeys.stage import Stage
from tests.patience import PATIENCE

REVIEW = "You review a finished conversation"


class OllamaEmulator(OpenAIEmulator):
    """A server that tells the digest of its model."""

    digest = "sha256:1"

    async def respond(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one HTTP request."""
        if request.path == "/api/tags":
            models = [{"name": "gpt-5-mini:latest", "digest": self.digest}]
            return web.json_response({"models": models})
        return await super().respond(request)


async def test_the_command_prints_a_card_which_is_shown_until_the_files_change(
    tmp_path: Path,
) -> None:
    place_database(tmp_path / DATABASE)
    async with OllamaEmulator() as api:
        given = {"TALARIA_MODEL__PROVIDER": "openai", "OPENAI_BASE_URL": api.base_url}
        api.answer = script(print_calls)
        done = await talaria_beside(tmp_path, "models", "test", **given)
        assert done.code == 0, done
        assert f"  1 of {len(EVERY_TASK)}  language-english " in done.out
        assert "fit for chat, guided mode; not for tools, jobs, reviews, skills" in done.out
        shown = await talaria_beside(tmp_path, "models", **given)
        assert "  works in the guided mode (fitness test of " in shown.out
        assert "  is fit for chat, guided mode; not for" in shown.out
        assert "older files" not in shown.out
        doctor = await talaria_beside(tmp_path, "doctor", **given)
        assert "gpt-5-mini has not passed it, so it does not review conversations" in doctor.out
        api.digest = "sha256:2"
        shown = await talaria_beside(tmp_path, "models", **given)
        assert "The card is of older files of this model" in shown.out
        trusted = await talaria_beside(tmp_path, "models", "trust", "gpt-5-mini", **given)
        assert trusted.code == 0
        doctor = await talaria_beside(tmp_path, "doctor", **given)
        assert "gpt-5-mini may review conversations and write skills" in doctor.out


async def test_a_model_of_this_machine_reviews_only_once_it_has_passed(stage: Stage) -> None:
    async with OpenAIEmulator() as api:
        settings = {
            "TALARIA_MODEL__PROVIDER": "openai",
            "OPENAI_BASE_URL": api.base_url,
            "TALARIA_LEARNING__TURNS": "1",
        }
        async with stage.open(**settings) as harness:
            context = open_context(harness.gateway)
            await harness.ask(ANNA, "I moved to Graz in May.")
            async with asyncio.timeout(PATIENCE):
                while not await harness.count("tasks", "kind = 'review' AND state = 'done'"):
                    await asyncio.sleep(0.01)
            assert not any(REVIEW in str(body["messages"][0]) for body in api.requests)
            for command in ("/learned", "/learn"):
                told = await harness.ask(ANNA, command)
                assert "talaria models test" in told
                assert "How I learn" not in told
                assert "I haven't learned" not in told
            assert not harness.gateway.trust.may("reviews")
            step = find_operation("fitness.step")
            assert step
            api.answer = script(answer_rightly)
            done = await step(context, {"begins": True})
            while not done["facts"]:
                done = await step(context, {})
            api.answer = None
            assert done["done"] == len(EVERY_TASK)
            assert harness.gateway.trust.may("reviews")
            assert harness.gateway.trust.may("skills")
            assert "fitness test" not in await harness.ask(ANNA, "/learned")
            assert "fitness test" not in await harness.ask(ANNA, "/learn")


def test_the_page_names_each_threshold() -> None:
    page = (ROOT / "docs/fitness-test.md").read_text("utf-8")
    for area, least in LEAST.items():
        assert f"\n| {area} | {least * 100:.0f} % |" in page
    assert f"The test has {len(EVERY_TASK)} small tasks." in page
