"""Delay, and eventually abandon, a turn that was running when the process crashed.

A crash says little about one turn, because it ends all turns in flight. So the first crashes cost
nothing. After that the gateway has to run for a while before it resumes the turn, longer each
time. An innocent turn is answered as soon as the cause is gone. A guilty one leaves time to serve
everybody else between two crashes, and a supervisor that counts quick restarts (systemd: five in
ten seconds) does not give up.
"""

from agent_core.state.conversations.turns import Turn

CRASH_WAIT = 10.0
"""Seconds. Docker, for one, takes a process that runs for so long for a good start."""
_FREE_CRASHES = 3
_MOST_CRASHES = 6


def is_abandoned(crashes: int) -> bool:
    """Return whether a turn has crashed too often to be resumed again."""
    return crashes >= _MOST_CRASHES


def find_wait(turn: Turn, first_wait: float = CRASH_WAIT) -> float:
    """Return the seconds that the gateway has to run before it resumes a turn."""
    crashes = turn.attempts
    if crashes < _FREE_CRASHES or is_abandoned(crashes):
        return 0.0
    return first_wait * 2.0 ** (crashes - _FREE_CRASHES)
