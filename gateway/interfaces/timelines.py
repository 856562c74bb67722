"""When the model calls of a turn began, from what is recorded when they end."""

from collections.abc import Sequence

from agent_core.state.conversations.transcripts import TimedCall, TimedStep


def find_starts(
    begin: int, end: int, steps: Sequence[TimedStep], calls: Sequence[TimedCall]
) -> list[int]:
    """Return when each call began: where the step or the call before it ended.

    The turn lasted from `begin` to `end`; all times are in milliseconds UTC.
    """
    ends = sorted(step.ended_at or end for step in steps)
    starts = []
    for call in calls:
        starts.append(max((one for one in (begin, *ends) if one <= call.at), default=begin))
        ends = sorted([*ends, call.at])
    return starts
