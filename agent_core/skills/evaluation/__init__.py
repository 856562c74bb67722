"""Tests of skills: cases from recorded turns, replayed in a scratch workspace, with and without."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

# mypy: implicit-reexport
if TYPE_CHECKING:
    from agent_core.skills.evaluation.cases import (
        LEAST_CASES,
        EvalCase,
        add_cases,
        read_cases,
    )
    from agent_core.skills.evaluation.draw import Recorded, draw_cases, load_recorded
    from agent_core.skills.evaluation.record import EvalRecord, Run, dump_record, load_record
    from agent_core.skills.evaluation.replay import Replayer, Sandbox
    from agent_core.skills.evaluation.verdict import Verdict, judge_runs
else:
    __getattr__ = export_lazily(__name__, __file__)
