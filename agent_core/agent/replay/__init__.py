"""Rebuild the requests of past turns from their records, and replay them."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from agent_core.agent.replay.context_report import ContextReport as ContextReport
    from agent_core.agent.replay.context_report import Source as Source
    from agent_core.agent.replay.context_report import report_context as report_context
    from agent_core.agent.replay.diff import compare as compare
    from agent_core.agent.replay.diff import differ_in_words as differ_in_words
    from agent_core.agent.replay.formats import TrajectoryFormat as TrajectoryFormat
    from agent_core.agent.replay.rebuild import RebuiltCall as RebuiltCall
    from agent_core.agent.replay.rebuild import rebuild_calls as rebuild_calls
    from agent_core.agent.replay.records import ANSWERS as ANSWERS
    from agent_core.agent.replay.records import TurnRecord as TurnRecord
    from agent_core.agent.replay.records import read_prompt_context as read_prompt_context
    from agent_core.agent.replay.records import read_record as read_record
    from agent_core.agent.replay.replayer import replay as replay
    from agent_core.agent.replay.session_log import SESSION_LOG_TASK as SESSION_LOG_TASK
    from agent_core.agent.replay.session_log import LogFiles as LogFiles
    from agent_core.agent.replay.session_log import SessionLog as SessionLog
    from agent_core.agent.replay.session_log import enqueue_log as enqueue_log
    from agent_core.agent.replay.session_log import remove_lines as remove_lines
    from agent_core.agent.replay.trajectories import Redaction as Redaction
    from agent_core.agent.replay.trajectories import Trajectory as Trajectory
    from agent_core.agent.replay.trajectories import read_trajectories as read_trajectories
    from agent_core.agent.replay.trajectories import render_trajectory as render_trajectory
else:
    __getattr__ = export_lazily(__name__, __file__)
