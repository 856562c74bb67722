"""How often tasks succeed without and with a skill: `python -m bench.learning.skill_success`.

The replays and the verdict are those of the gateway; the tasks are held out: no skill names one.
The model is scripted: it follows the text of the skill in its prompt, and does the usual thing
without one. So this shows what the test sees of a skill, not how well a real model follows it.
"""

import asyncio
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from agent_core.ids import PersonId
from agent_core.models.contract import ModelAnswer, ModelRequest
from agent_core.skills.catalog import SkillCatalog
from agent_core.skills.evaluation.cases import Check, EvalCase
from agent_core.skills.evaluation.record import CaseRun, EvalRecord
from agent_core.skills.evaluation.replay import Replayer, ReplaySandbox
from agent_core.skills.evaluation.verdict import CaseVerdict, judge_runs
from agent_core.transcript import TextPart
from tests.agent_core.skills.skill_folders import write_skill
from tests.fakes.model import finish

SKILLS: Mapping[str, str] = {
    "right": "Add 20 % tax to a total, unless the request says net.",
    "careless": "Add 20 % tax to a total.",
    "useless": "Answer politely.",
}
_AMOUNTS = ((3, 450), (2, 1995), (7, 105), (12, 80), (5, 640), (9, 225))
"""Pieces, and the price of one in cents."""
_ASKED = re.compile(r"(\d+) x (\d+)\.(\d\d)")
_TAX = re.compile(r"Add (\d+) % tax")


def list_tasks() -> list[EvalCase]:
    """List the tasks: each amount with the tax that the person wants, then net."""
    return [
        EvalCase(
            id=f"{word}-{pieces}x{price}",
            prompt=f"The {word} of {pieces} x {price // 100}.{price % 100:02}, please.",
            checks=(Check(kind="exact", value=_show(pieces * price * percent)),),
        )
        for pieces, price in _AMOUNTS
        for word, percent in (("total", 120), ("net total", 100))
    ]


async def measure(home: Path, name: str) -> tuple[Sequence[CaseRun], CaseVerdict]:
    """Test a skill with the tasks, until the verdict."""
    write_skill(home, name, SKILLS[name])
    catalog = SkillCatalog(home)
    sandbox = ReplaySandbox(
        catalog=catalog,
        model="scripted",
        judge_model="none",
        tools=None,
        backend=None,
        find_words=lambda request: request,
        now=lambda: 1,
    )
    replayer = Replayer(sandbox, _answer, PersonId(1), "ada")
    entry = catalog.find(name)
    cases = {case.id: case for case in list_tasks()}
    record = EvalRecord(name=name, text_row=1, cases=tuple(cases))
    while (verdict := judge_runs(tuple(cases), record.runs)).result == "open":
        missing = record.find_next()
        assert missing
        run = await replayer.run(cases[missing[0]], None, missing[1], entry)
        record = record.add(run)
    return record.runs, verdict


def count_successes(runs: Sequence[CaseRun], arm: str) -> int:
    """Count the tasks that went well without or with the skill."""
    return sum(bool(run.passed) for run in runs if run.arm == arm)


async def _answer(request: ModelRequest) -> tuple[ModelAnswer, int]:
    """Add up what is asked for, with the tax that the prompt wants."""
    asked = request.messages[-1].text
    found = _ASKED.search(asked)
    assert found
    pieces, whole, cents = map(int, found.groups())
    tax = _TAX.search(request.system)
    is_net = "net" in asked and "unless the request says net" in request.system
    percent = 100 if tax is None or is_net else 100 + int(tax[1])
    text = _show(pieces * (whole * 100 + cents) * percent)
    return finish(TextPart(text=text)), 0


def _show(parts: int) -> str:
    """Show an amount that is given in hundredths of a cent."""
    cents = round(parts / 100)
    return f"{cents // 100}.{cents % 100:02}"


async def _report() -> None:
    with tempfile.TemporaryDirectory(prefix="talaria-skills-") as folder:
        for name, text in SKILLS.items():
            runs, verdict = await measure(Path(folder) / name, name)
            before, after = (count_successes(runs, arm) for arm in ("without", "with"))
            total = len(runs) // 2
            print(f"{name} ({text}): {before} of {total} without, {after} with: {verdict.result}")


if __name__ == "__main__":
    asyncio.run(_report())
