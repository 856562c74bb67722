"""Resource limits of a reader process."""

import resource

_MEMORY = 1_500_000_000
"""Bytes of address space; matplotlib and numpy need about 500 MB, the readers less."""
_CPU_SECONDS = 10


def limit_itself(*, most_file: int = 0) -> None:
    """Limit this process; `most_file` is the largest file that it may write, in bytes."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_file, most_file))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
