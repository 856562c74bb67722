"""What a program that reads from strangers can't exceed."""

import resource

_MEMORY = 1_500_000_000
"""Bytes of address space; matplotlib and numpy take some 500 MB of it, the readers less."""
_CPU_SECONDS = 10


def limit_itself(*, most_file: int = 0) -> None:
    """Bound this process for good; `most_file` is in bytes, of the largest file it may write."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_file, most_file))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
