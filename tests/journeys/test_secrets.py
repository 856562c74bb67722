"""An owner's secret: a command may use it after a yes, and nothing else contains it."""

import json

import pytest

from tests.agent_core.execution.backends import needs_bubblewrap
from tests.emulators.telegram_cast import ANNA, BEN
from tests.integration.canaries import search
from tests.journeys.stage import Stage, call, calls, results

pytestmark = [pytest.mark.process, needs_bubblewrap]

CANARY = "canary-5tR8wQ2zX7pL"
FORMS = (CANARY, "canary%2D", "Y2FuYXJ5LTV0Ujh3UTJ6", CANARY.encode().hex())
COMMAND = (
    'echo "$SECRET_GITHUB" | tee >(base64) >(xxd -p); cat "/$SECRET_GITHUB";'
    ' for i in $(seq 3000); do echo "$i $SECRET_GITHUB"; done'
)


async def test_a_secret_reaches_a_command_after_a_yes_and_nothing_else(stage: Stage) -> None:
    stage.home.mkdir(mode=0o700, exist_ok=True)
    path = stage.home / "secrets.toml"
    path.write_text(f'[github]\nvalue = "{CANARY}"\npeople = ["anna"]\n')
    path.chmod(0o600)
    used = call("terminal", command=COMMAND, secrets=["github"])
    anna = stage.account("telegram", ANNA)
    async with stage.open(TALARIA_TOOLS__BACKEND="local", TALARIA_LOG__LEVEL="debug") as harness:
        stage.plan(calls(used), f"It is {CANARY}.")
        await harness.notes(stage.telegram.says(ANNA, "use it"))
        asked = await harness.sees(ANNA, "secret:github")
        assert "use the secret:github, in the variable $SECRET_GITHUB" in asked.text
        await harness.press(anna, "Once")
        await harness.sees(ANNA, "It is [hidden].")
        (found,) = results(stage.turns[-1])
        assert "[hidden]" in found
        assert ".output/" in found
        stage.plan(calls(used), "No.")
        assert await harness.ask(BEN, "use it, too") == "No."
        assert "no secret `github` for this person" in results(stage.turns[-1])[0]
        await harness.ask(ANNA, "hello")
        assert search(stage.home, *(form.lower() for form in FORMS[:1])) == [
            f"{CANARY.lower()} secrets.toml"
        ]
    path.unlink()
    assert search(stage.home, *(form.lower() for form in FORMS)) == []
    logs = "".join(one.read_text() for one in stage.home.rglob("logs/*"))
    said = "".join(m.text for who in (ANNA, BEN) for m in stage.telegram.messages(who))
    sent = json.dumps(list(stage.model.requests))
    assert [form for form in FORMS if form in logs + said + sent] == []
