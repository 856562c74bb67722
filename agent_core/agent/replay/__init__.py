"""Rebuild the requests of past turns from their records, and replay them."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

# mypy: implicit-reexport
if TYPE_CHECKING:
    from agent_core.agent.replay.context_report import ContextReport, Source, report_context
    from agent_core.agent.replay.diff import compare, differ_in_words
    from agent_core.agent.replay.formats import TrajectoryFormat
    from agent_core.agent.replay.rebuild import RebuiltCall, rebuild_calls
    from agent_core.agent.replay.records import (
        ANSWERS,
        TurnRecord,
        read_prompt_context,
        read_record,
    )
    from agent_core.agent.replay.replayer import replay
    from agent_core.agent.replay.session_log import (
        SESSION_LOG_TASK,
        LogFiles,
        SessionLog,
        enqueue_log,
        remove_lines,
    )
    from agent_core.agent.replay.trajectories import (
        Redaction,
        Trajectory,
        read_trajectories,
        render_trajectory,
    )
else:
    __getattr__ = export_lazily(__name__, __file__)
