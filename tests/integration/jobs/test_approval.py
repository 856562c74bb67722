"""Jobs of owners also need approval for changes of shared prompts."""

import json
from pathlib import Path

import pytest

from gateway.texts import general
from tests.fakes.model import Play, ask, call, say
from tests.integration.accounts import make_owner
from tests.integration.clock import Clock
from tests.integration.harness import Harness, running
from tests.integration.jobs_support import give_job, greet, greeted, over
from tests.integration.model_requests import results

NOON = (2026, 11, 20, 12, 0)
TEAM = ask(call("memory", json.dumps({"action": "add", "target": "team", "text": "Rent is due"})))
SOUL = ask(call("propose_identity", json.dumps({"text": "You are Ada."})))
QUESTION = ask(call("ask", json.dumps({"question": "Shall I?", "options": ["Yes", "No"]})))


async def asked(harness: Harness) -> None:
    """Return once the run waits for an owner, who sees the question whole."""
    await harness.until(lambda: bool(harness.gateway.questions.answers._futures))
    await harness.chat.until(lambda: any(one.labels for one in harness.chat.shown))


@pytest.mark.parametrize("answer", ["Approve", "Refuse"])
@pytest.mark.parametrize(
    ("play", "wish", "path", "text"),
    [
        (
            TEAM,
            "A reminder by Ana wants to change the notes that",
            "memories/team/MEMORY.md",
            "Rent is due",
        ),
        (SOUL, "A reminder by Ana wants to change my character", "SOUL.md", "You are Ada."),
    ],
)
async def test_a_job_of_an_owner_proposes_and_the_owner_decides(
    tmp_path: Path, answer: str, play: Play, wish: str, path: str, text: str
) -> None:
    clock = Clock(*NOON)
    async with running(tmp_path, greeted(play, say("That was all.")), now=clock) as harness:
        await greet(harness)
        await make_owner(harness)
        job = await give_job(harness, "Look around.", "2026-11-20T14:00", kind="prompt")
        clock.move(harness, hours=1)
        await asked(harness)
        assert any(one.text.startswith(wish) for one in harness.chat.shown)
        file = tmp_path / path
        assert not file.exists() or text not in file.read_text()
        assert general.OWNER_ASKED() not in [one.text for one in harness.chat.shown]
        await harness.chat.press(answer)
        (run,) = await over(harness, job, 1)
        assert run.state == "done"
        assert (file.exists() and text in file.read_text()) == (answer == "Approve")
        assert ("an owner refused it" in results(harness.model)[0]) == (answer == "Refuse")
        await harness.chat.sees_text("That was all.")


async def test_a_job_of_a_member_asks_nobody(tmp_path: Path) -> None:
    clock = Clock(*NOON)
    async with running(tmp_path, greeted(QUESTION, say("That was all.")), now=clock) as harness:
        await greet(harness)
        await make_owner(harness)
        job = await give_job(harness, "Look around.", "2026-11-20T14:00", kind="prompt")
        clock.move(harness, hours=1)
        (run,) = await over(harness, job, 1)
        assert run.state == "done"
        await harness.chat.sees_text("That was all.")
        assert not any(one.labels for one in harness.chat.shown)
