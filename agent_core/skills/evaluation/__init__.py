"""Tests of skills: cases from recorded turns, replayed with and without the skill."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from agent_core.skills.evaluation.cases import LEAST_CASES as LEAST_CASES
    from agent_core.skills.evaluation.cases import EvalCase as EvalCase
    from agent_core.skills.evaluation.cases import add_cases as add_cases
    from agent_core.skills.evaluation.cases import read_cases as read_cases
    from agent_core.skills.evaluation.draw import Recorded as Recorded
    from agent_core.skills.evaluation.draw import draw_cases as draw_cases
    from agent_core.skills.evaluation.draw import load_recorded as load_recorded
    from agent_core.skills.evaluation.record import EvalRecord as EvalRecord
    from agent_core.skills.evaluation.record import Run as Run
    from agent_core.skills.evaluation.record import dump_record as dump_record
    from agent_core.skills.evaluation.record import load_record as load_record
    from agent_core.skills.evaluation.replay import Replayer as Replayer
    from agent_core.skills.evaluation.replay import Sandbox as Sandbox
    from agent_core.skills.evaluation.verdict import Verdict as Verdict
    from agent_core.skills.evaluation.verdict import judge_runs as judge_runs
else:
    __getattr__ = export_lazily(__name__, __file__)
