"""What a turn has to put up with over which processes died: a wait, and an end at last.

A death says little about one turn: whatever killed the process, all turns in flight were there.
So nobody waits for the first deaths. Then the house lives for a while, longer each time, before
it takes the turn up: if it is innocent, it is answered as soon as whatever kills the house lets
it live; if it is guilty, everybody else is served between two deaths, and a supervisor that
counts quick restarts (systemd: five in ten seconds) sees none.
"""

from agent_core.state.conversations.turns import Turn

_BEYOND_SUSPICION = 3
_MOST_DEATHS = 6
"""Processes that may die over one turn before it is set aside."""
_FIRST_WAIT = 10.0
"""Seconds; Docker, for one, takes a process that lived so long for a good start."""


def is_convicted(deaths: int) -> bool:
    """True for a turn that is not taken up again."""
    return deaths >= _MOST_DEATHS


def wait_before(turn: Turn) -> float:
    """Seconds that the house has to live before it takes up a turn of an earlier process."""
    deaths = turn.attempts
    if deaths < _BEYOND_SUSPICION or is_convicted(deaths):
        return 0.0
    return _FIRST_WAIT * 2.0 ** (deaths - _BEYOND_SUSPICION)
