"""Confine this process: hide it from others, or limit it before it reads untrusted data.

Each part works only if the machine supports it. `find_protection` names the supported parts.
"""

import ctypes
import os
import resource
import socket
import sys
import sysconfig
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from errno import ENOSYS

from agent_core.execution.subprocesses import landlock, seccomp
from agent_core.execution.subprocesses.process_privacy import SET_DUMPABLE
from agent_core.execution.subprocesses.seccomp import Denial

_DROP_CAPABILITY = 24
"""`PR_CAPBSET_DROP` (prctl(2))."""
_REACHING = (2, 16, 17, 19, 21, 24, 38, 39, 40)
"""Capabilities that give access to other processes or to the kernel (`linux/capability.h`)."""
_OPEN_FILES = 1024
_SET_OWNER, _SET_OWNER_EX, _SET_SOCKET_OWNER, _SET_SOCKET_GROUP = 8, 15, 0x8901, 0x8902
"""Operations of fcntl and ioctl that choose a process that the kernel will signal."""
_NEW_THREAD = 0x0001_0000
"""`CLONE_THREAD`, which is set for a new thread, but not for a new process."""
_SYSTEM_FILES = (
    *("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache"),
    *("/etc/localtime", "/usr/share/zoneinfo", "/usr/share/fonts", "/usr/local/share/fonts"),
    *("/etc/fonts", "/dev/null", "/dev/urandom", "/proc/meminfo", "/proc/cpuinfo"),
)
"""Libraries, time zones and fonts; none of them holds a person's data."""

_NETWORK_FILES = (
    *("/etc/hosts", "/etc/host.conf", "/etc/resolv.conf", "/etc/nsswitch.conf", "/etc/gai.conf"),
    *("/run/systemd/resolve", "/run/NetworkManager", "/run/resolvconf", "/etc/ssl", "/etc/pki"),
    *("/usr/share/ca-certificates", "/usr/local/share/ca-certificates"),
)
"""Files of name resolution, and the certificates of certificate authorities."""
_DENIALS_OF_NETWORK = (Denial(call="socket"), Denial(call="io_uring_setup"))
"""No socket of any kind: a local one may reach a service that has network access."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Protection:
    """Features of the kernel.

    `landlock` is its ABI version, 0 without it; `seccomp` tells whether it exists.
    """

    landlock: int
    seccomp: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderLimits:
    """Limits of a reader: bytes of memory and of a file, and seconds of processor time.

    With `has_network`, it may connect to other machines, but to no local socket.
    """

    memory: int
    cpu_seconds: int
    file: int = 0
    has_network: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptLimits:
    """Limits of a script: bytes of memory and of one file, and the number of processes at one time.

    Without `has_network`, it can open no socket if the kernel has seccomp. `cpu` holds the seconds
    of processor time until a process gets a signal, and until it ends.
    """

    memory: int
    file: int
    processes: int
    has_network: bool = True
    cpu: tuple[int, int] = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)


def find_protection() -> Protection:
    """Return the parts that this machine supports; change nothing."""
    return Protection(landlock=landlock.find_abi(), seccomp=seccomp.is_available())


def confine_reader(limits: ReaderLimits, folder: str | None = None) -> Protection:
    """Limit this process to its libraries, its pipes and one folder; call it before it reads.

    The process can then open no other file and access no other process. It can start no program
    and, unless its limits allow it, open no socket.
    """
    _limit(resource.RLIMIT_AS, limits.memory)
    _limit(resource.RLIMIT_CPU, limits.cpu_seconds)
    _limit(resource.RLIMIT_FSIZE, limits.file)
    _limit(resource.RLIMIT_CORE, 0)
    found = find_protection()
    paths = sysconfig.get_paths()
    own = [paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    packages = [os.path.join(path, "agent_core") for path in sys.path]  # noqa: PTH118 - no import
    network = _NETWORK_FILES if limits.has_network else ()
    if found.landlock:
        landlock.allow_files(
            [*_SYSTEM_FILES, *network, *own, *packages],
            [folder] if folder else [],
            has_network=limits.has_network,
        )
    if found.seccomp:
        seccomp.deny(_denials_of_readers(has_network=limits.has_network))
    return found


def confine_script(limits: ScriptLimits, guarded: Sequence[int], running: int) -> None:
    """Limit this process and its children; call it between `fork` and `exec`.

    They can then neither read nor signal the `guarded` processes and their groups. `running` is the
    number of the user's tasks; the kernel's limit counts these together with the script's tasks.
    """
    _limit(resource.RLIMIT_DATA, limits.memory)
    _limit(resource.RLIMIT_FSIZE, limits.file)
    if resource.getrlimit(resource.RLIMIT_CPU)[1] == resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_CPU, limits.cpu)
    _limit(resource.RLIMIT_NOFILE, _OPEN_FILES)
    # This slows down fast fork bombs. The reaper counts the processes, stops a bomb at half of this
    # limit, and reports it.
    _limit(resource.RLIMIT_NPROC, running + 2 * limits.processes)  # the kernel exempts root
    _limit(resource.RLIMIT_CORE, 0)
    if sys.platform != "linux":
        return
    # `exec` has not yet undone the parent's hiding, which also closes this process's own files in
    # /proc.
    ctypes.CDLL(None).prctl(SET_DUMPABLE, 1, 0, 0, 0)
    _expect_the_end()
    for capability in _REACHING:
        ctypes.CDLL(None).prctl(_DROP_CAPABILITY, capability, 0, 0, 0)
    with suppress(OSError):
        landlock.leave_others_alone()
    with suppress(OSError):
        offline = [] if limits.has_network else _DENIALS_OF_NETWORK
        seccomp.deny([*_denials_of_scripts(guarded), *offline])


def _limit(kind: int, most: int) -> None:
    """Lower a limit permanently, unless it is already lower."""
    _, hard = resource.getrlimit(kind)
    value = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (value, value))


def _expect_the_end() -> None:
    """Make the kernel kill the script, not the gateway, when memory runs out."""
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:  # noqa: PTH123
        file.write("1000")


def _denials_of_readers(*, has_network: bool) -> list[Denial]:
    sockets = ("socket", "socketpair", "connect", "bind")
    internet = Denial(call="socket", unless_equal=(socket.AF_INET, socket.AF_INET6))
    always = (
        *("execve", "execveat", "fork", "vfork"),
        *("unshare", "setns", "mount", "umount2", "chroot", "pivot_root", "open_by_handle_at"),
        *("io_uring_setup", "bpf", "perf_event_open", "userfaultfd", "keyctl", "add_key"),
        *("request_key", "ptrace", "process_vm_readv", "process_vm_writev", "pidfd_open"),
        *("pidfd_getfd", "kill", "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"),
        *("shmget", "msgget", "semget", "mq_open", "init_module", "finit_module"),
    )
    return [
        *([internet] if has_network else (Denial(call=call) for call in sockets)),
        *(Denial(call=call) for call in always),
        # No filter can read the flags of `clone3`; without it, libraries use `clone`.
        Denial(call="clone3", error=ENOSYS),
        Denial(call="clone", unless_bits=_NEW_THREAD),
        Denial(call="tgkill", unless_equal=(os.getpid(),)),  # `abort` signals its own process
        Denial(call="prlimit64", unless_equal=(0, os.getpid())),
    ]


def _denials_of_scripts(guarded: Sequence[int]) -> list[Denial]:
    groups = [-os.getpgid(pid) for pid in guarded]
    pids = tuple(dict.fromkeys([*guarded, *groups, -1]))  # -1 names every process of the user
    by_pid = ("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_open")
    return [
        *(Denial(call=call, equal=pids) for call in (*by_pid, "prlimit64")),
        *(Denial(call=call, equal=pids) for call in ("process_vm_readv", "process_vm_writev")),
        Denial(call="ptrace", argument=1, equal=pids),
        Denial(call="fcntl", argument=1, equal=(_SET_OWNER, _SET_OWNER_EX)),
        Denial(call="ioctl", argument=1, equal=(_SET_SOCKET_OWNER, _SET_SOCKET_GROUP)),
    ]
