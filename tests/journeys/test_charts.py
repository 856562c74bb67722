"""A chart in a conversation: a picture with a caption, silently behind the answer."""

import pytest

from agent_core.tools.pictures.descriptions import read_description
from tests.emulators.telegram_cast import ANNA
from tests.journeys.platforms import in_every_app
from tests.journeys.stage import Stage, call, calls

CHART = call(
    "chart",
    kind="pie",
    title="Ausgaben im Mai",
    labels=["Miete", "Essen"],
    values=[1250, 412.5],
    unit="€",
)
ANSWER = "Die Miete macht drei Viertel aus."


@pytest.mark.thorough
@in_every_app
async def test_a_chart_comes_with_the_answer(apps: Stage, platform: str) -> None:
    anna = apps.account(platform, ANNA)
    async with apps.open() as harness:
        await harness.notes(anna.says("/settings language de"))
        apps.plan(calls(CHART), ANSWER)
        await anna.says("Zeichne meine Ausgaben: Miete 1250, Essen 412,50")
        await harness.until(lambda: any(one.file for one in anna.seen()))
        await harness.at_rest()
        answer, picture = anna.seen()[-2:]
    assert answer.text == ANSWER
    assert picture.text == "Ausgaben im Mai"
    assert picture.file
    if platform != "whatsapp":  # its pictures have no names
        assert picture.file[0] == "Ausgaben-im-Mai.png"
    assert "Miete  ████████████████████████ 1.250" in read_description(picture.file[1])
