"""Computes when a turn's model calls began; the database records only when they ended."""

from collections.abc import Sequence

from agent_core.state.conversations.transcripts import TimedCall, TimedStep


def find_starts(
    begin: int, end: int, steps: Sequence[TimedStep], calls: Sequence[TimedCall]
) -> list[int]:
    """Return when each call began: at the end of the step or call before it.

    The turn lasted from `begin` to `end`; all times are in milliseconds UTC.
    """
    ends = sorted(step.ended_at or end for step in steps)
    starts = []
    for call in calls:
        starts.append(max((one for one in (begin, *ends) if one <= call.at), default=begin))
        ends = sorted([*ends, call.at])
    return starts
