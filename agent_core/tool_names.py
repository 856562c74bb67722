"""Old names of tools, which settings, agents, jobs and the switches of people may still hold."""

from collections.abc import Iterable, Mapping, Sequence

RENAMED: Mapping[str, Sequence[str]] = {"schedule": ("remind", "schedule_job", "manage_jobs")}
"""The tools that took the place of one, by its old name."""


def renew_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return names of tools with the present ones in the place of old ones, each once."""
    return tuple(dict.fromkeys(new for name in names for new in RENAMED.get(name, (name,))))
