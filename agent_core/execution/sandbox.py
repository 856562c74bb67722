"""The sandbox of local commands: bubblewrap's arguments, and the files that it reads.

A command gets its own namespaces for users, mounts, processes, network, IPC and host name. It sees
the system's programs, read-only, its workspace, and its own temporary folders.
"""

import json
import os
import stat
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from errno import EACCES, ENOSYS
from pathlib import Path

from agent_core.execution import git_guard
from agent_core.execution.disk import RESERVE
from agent_core.execution.subprocesses import seccomp
from agent_core.execution.subprocesses.mode_changes import CHANGES
from agent_core.execution.subprocesses.pid_limit import limit_pids
from agent_core.execution.subprocesses.seccomp import Denial

MOST_SECONDS = 3600
"""The longest time that any command may take in the foreground, in seconds."""
WORKSPACE = "/workspace"
"""The path of the workspace inside the sandbox."""
HOME = "/tmp/home"  # noqa: S108 - a folder of the sandbox
"""The home of a command: its own, empty at its start, gone at its end.

Programs look there for start files and settings. So none of them obeys a file that an earlier
command, or `write_file`, has left in the workspace.
"""
_USER = 1000
_ACCOUNTS = f"assistant:x:{_USER}:{_USER}::{HOME}:/bin/bash\n".encode()
_GROUPS = f"assistant:x:{_USER}:\n".encode()
HOSTS_FILE, HOSTS = "/etc/hosts", b"127.0.0.1 localhost\n::1 localhost\n"
"""The only names of machines in a sandbox."""
PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
"""The folders of programs in a sandbox."""
ENVIRONMENT = {
    **git_guard.make_environment(git_guard.FOLDER, PATH),
    "HOME": HOME,
    "WORKSPACE": WORKSPACE,
    "USER": "assistant",
    "LOGNAME": "assistant",
    "SHELL": "/bin/bash",
    "LANG": "C.UTF-8",
    "TERM": "dumb",
    "PAGER": "cat",
    "TMPDIR": "/tmp",  # noqa: S108 - a folder of the sandbox
    # Programs that run a start file of the working directory without being told. A command can name
    # the file, as with `R_PROFILE_USER=.Rprofile Rscript x.R`.
    "IRBRC": "/dev/null",
    "PERL5DB": (
        'BEGIN { require Cwd; my $d = Cwd::getcwd(); chdir "/"; require "perl5db.pl"; chdir $d }'
    ),
    "R_PROFILE_USER": "/dev/null",
    "R_ENVIRON_USER": "/dev/null",
    "YARN_IGNORE_PATH": "1",
    "RUSTC": "rustc",
    "RUSTC_WRAPPER": "",
    "RUSTC_WORKSPACE_WRAPPER": "",
    "HGRCSKIPREPO": "1",
    "OCTAVE_INITFILE": "/dev/null",
    "npm_config_browser": "false",
    "npm_config_init_module": "/nonexistent/init.js",
    "npm_config_viewer": "man",
}
_MERGED = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
"""Folders that are links into /usr on most systems."""
_SETTINGS = (
    *("/etc/alternatives", "/etc/ld.so.cache", "/etc/ssl/certs", "/etc/ca-certificates.conf"),
    *("/etc/localtime", "/etc/mime.types", "/etc/fonts", "/etc/java-17-openjdk"),
    "/etc/manpath.config",
)
"""Settings of programs; none of them holds a secret. /etc/shadow and similar files are left out."""
_KERNEL_SETTINGS = (
    *("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/acpi"),
    *("/proc/scsi", "/proc/mtrr", "/proc/driver", "/proc/asound"),
)
"""Files that are not separated by namespaces. A sandbox that root started would own them and could
write them: `core_pattern` there names a program that the kernel runs outside.
"""
_KERNEL_REPORTS = (
    *("/proc/kcore", "/proc/keys", "/proc/key-users", "/proc/timer_list", "/proc/sched_debug"),
    *("/proc/latency_stats", "/proc/kpagecount", "/proc/kpageflags", "/proc/kpagecgroup"),
    *("/proc/kallsyms", "/proc/kmsg", "/proc/vmallocinfo", "/proc/slabinfo"),
)
"""Files about the whole machine that root may read."""
REMOTE_GUARD = 13
"""The descriptor from which bubblewrap on another machine reads the guard of git."""
_LIMITS = (
    '{ ulimit -c 0; ulimit -n 1024; ulimit -u "$1"; ulimit -d "$2"; ulimit -f "$3";'
    ' ulimit -S -t "$4"; ulimit -H -t "$5"; } 2>/dev/null; shift 5; exec "$@"'
)
"""Sets the limits inside the sandbox, because only there its processes are counted separately.

If a limit can't be set, it is already lower.
"""
_CPU_GRACE = 1
_NEW_NAMESPACE = 0x7E02_0000
"""The flags `CLONE_NEW*`, without that for time: `clone` does not know it (`linux/sched.h`)."""
_ORDINARY_SOCKETS = (1, 2, 10, 16)
"""Unix, IPv4, IPv6, netlink. Network namespaces don't confine others, such as the host's vsock."""
_TERMINAL_INPUT = (0x5412, 0x541C)
"""`TIOCSTI` and `TIOCLINUX`, which type into a terminal."""


_SET_ID = stat.S_ISUID | stat.S_ISGID
_MAKES_FILE = os.O_CREAT | 0o20000000
"""Flags with which `open` uses a mode: `O_CREAT` and `__O_TMPFILE` (`asm-generic/fcntl.h`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxLimits:
    """Limits of one command with all its processes, and of a workspace.

    All are in bytes, except `processes`. `cpu_seconds` is the processor time of each process; 0
    means no limit. `seconds` is the longest time of a command. `reserve` is what stays free on the
    disk of the workspaces.
    """

    memory: int
    processes: int
    file: int
    workspace: int
    cpu_seconds: int = 0
    seconds: int = MOST_SECONDS
    reserve: int = RESERVE

    @property
    def cpu(self) -> tuple[int, int]:
        """Processor seconds until a process gets a signal, and until it ends; -1 for no limit."""
        seconds = self.cpu_seconds
        return (seconds, seconds + _CPU_GRACE) if seconds else (-1, -1)


@contextmanager
def prepare(
    program: str,
    place: Path,
    folder: str,
    limits: SandboxLimits,
    hidden: Sequence[Path],
    more: Sequence[str] = (),
) -> Iterator[tuple[list[str], list[int]]]:
    """Give the words in front of a command, and the descriptors that bubblewrap reads.

    `place` becomes the workspace. `hidden` are folders that stay empty in the sandbox, even below
    /usr. `more` are bubblewrap arguments that open the sandbox further, or set its environment.
    """
    files: list[int] = []
    with limit_pids(limits.processes) as (limiting, inherited):
        try:
            words = [program, *limiting, *_list_namespaces(), *_list_mounts(limits)]
            own = [(_ACCOUNTS, "/etc/passwd"), (_GROUPS, "/etc/group")]
            for data, target in own if HOSTS_FILE in more else [*own, (HOSTS, HOSTS_FILE)]:
                files.append(_store(data))
                words += ["--ro-bind-data", str(files[-1]), target]
            files.append(_store(git_guard.SCRIPT.encode()))
            words += _list_guard(str(files[-1]))
            for path in hidden:
                if any(path.is_relative_to(shown) for shown in ("/usr", *_MERGED, *_SETTINGS)):
                    words += ["--tmpfs", str(path), "--remount-ro", str(path)]
            if seccomp.is_available():
                files.append(_store(seccomp.make_program(_list_denials())))
                words += ["--seccomp", str(files[-1])]
            words += [*more, "--bind", str(place), WORKSPACE]
            words += ["--remount-ro", "/dev", "--remount-ro", "/"]
            words += ["--chdir", f"{WORKSPACE}/{folder}" if folder else WORKSPACE]
            words += ["--", "/bin/bash", "-c", _LIMITS, "limits", *_list_limits(limits)]
            yield words, [*files, *inherited]
        finally:
            for file in files:
                os.close(file)


def make_remote_values() -> dict[str, str]:
    """Return the data for a sandbox on another machine: accounts, and the seccomp filter.

    The filter holds numbers of this machine's architecture, and is not used on others.
    """
    has_filter = seccomp.is_available()
    program = seccomp.make_program(_list_denials()) if has_filter else b""
    return {
        "accounts": _ACCOUNTS.decode().strip(),
        "groups": _GROUPS.decode().strip(),
        "filter": b64encode(program).decode(),
        "guard": git_guard.SCRIPT,
        "machine": os.uname().machine if has_filter else "",
    }


def list_remote_words(limits: SandboxLimits, folder: str) -> dict[str, list[str]]:
    """Return bubblewrap's arguments on another machine.

    `merged` and `reports` are paths to check on that machine.
    """
    words = [*_list_namespaces(), "--ro-bind", "/usr", "/usr", "--proc", "/proc", "--dev", "/dev"]
    for name in (*_SETTINGS, *_KERNEL_SETTINGS):
        words += ["--ro-bind-try", name, name]
    words += _list_memory_folders(limits)
    words += _list_guard(str(REMOTE_GUARD))
    last = ["--chdir", f"{WORKSPACE}/{folder}", "--"]
    last += ["/bin/bash", "-c", _LIMITS, "limits", *_list_limits(limits)]
    return {"words": words, "merged": [*_MERGED], "reports": [*_KERNEL_REPORTS], "last": last}


def make_profile() -> str:
    """Return the same denials as a Docker profile, as JSON.

    Calls of other architectures end the process. Docker's own profile differs by version, and older
    ones allow io_uring and sockets to the host of a virtual machine.
    """
    rules = [rule for denial in _list_denials() for rule in _list_rules(denial)]
    known = {"x86_64": "SCMP_ARCH_X86_64", "aarch64": "SCMP_ARCH_AARCH64"}
    machine = known.get(os.uname().machine)
    profile = {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": rules}
    return json.dumps(profile | ({"architectures": [machine]} if machine else {}))


def make_landlock_filter() -> bytes:
    """Return the seccomp filter for commands that Landlock confines, without namespaces.

    It refuses calls that Landlock allows on files and processes of the same user. Calls that change
    file modes wait for the command's reaper.
    """
    metadata = ("chown", "lchown", "fchownat", "setxattr", "lsetxattr", "removexattr")
    newer = ("fchmodat2", "setxattrat", "removexattrat", "file_setattr")
    others = ("inotify_add_watch", "fanotify_init", "syslog", "msgget", "semget", "mq_open")
    priority = ("setpriority", "ioprio_set")
    scheduling = ("sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr")
    asked = {change.call for change in CHANGES}
    return seccomp.make_program(
        [
            *(denial for denial in _list_denials() if denial.call not in asked),
            *CHANGES,
            *(Denial(call=call) for call in (*metadata, "lremovexattr", *others)),
            *(Denial(call=call, error=ENOSYS) for call in newer),
            *(Denial(call=call, error=EACCES) for call in priority),
            *(Denial(call=call, unless_equal=(0,)) for call in scheduling),
        ]
    )


def _list_rules(denial: Denial) -> Iterator[dict[str, object]]:
    """Yield the rules of one denial: Docker joins conditions of one argument with "or"."""
    conditions = [("SCMP_CMP_EQ", value, 0) for value in denial.equal]
    if denial.unless_equal:
        most = max(denial.unless_equal)
        others = set(range(most)) - set(denial.unless_equal)
        conditions += [("SCMP_CMP_EQ", value, 0) for value in sorted(others)]
        conditions.append(("SCMP_CMP_GT", most, 0))
    bits = [1 << at for at in range(32) if denial.if_bits >> at & 1]
    conditions += [("SCMP_CMP_MASKED_EQ", bit, bit) for bit in bits]
    rule = {"names": [denial.call], "action": "SCMP_ACT_ERRNO", "errnoRet": denial.error}
    if not conditions:
        yield rule
    for operation, value, masked in conditions:
        compared = {"index": denial.argument, "value": value, "valueTwo": masked, "op": operation}
        for further in _list_further(denial):
            yield rule | {"args": [compared, *further]}


def _list_further(denial: Denial) -> Iterator[list[dict[str, object]]]:
    """Yield the second conditions of a denial, one of which must hold."""
    if denial.only_with is None:
        yield []
        return
    argument, bits = denial.only_with
    for bit in (1 << at for at in range(32) if bits >> at & 1):
        yield [{"index": argument, "value": bit, "valueTwo": bit, "op": "SCMP_CMP_MASKED_EQ"}]


def _list_namespaces() -> Iterator[str]:
    yield from ("--unshare-all", "--uid", str(_USER), "--gid", str(_USER))
    yield from ("--hostname", "workspace", "--cap-drop", "ALL")
    yield from ("--die-with-parent", "--new-session", "--clearenv")
    for name, value in ENVIRONMENT.items():
        yield from ("--setenv", name, value)


def _list_mounts(limits: SandboxLimits) -> Iterator[str]:
    yield from ("--ro-bind", "/usr", "/usr")
    for path in map(Path, _MERGED):
        if path.is_symlink():
            yield from ("--symlink", str(path.readlink()), str(path))
        elif path.is_dir():
            yield from ("--ro-bind", str(path), str(path))
    for name in _SETTINGS:
        yield from ("--ro-bind-try", name, name)
    yield from ("--proc", "/proc", "--dev", "/dev")
    for name in _KERNEL_SETTINGS:
        yield from ("--ro-bind-try", name, name)
    for name in filter(os.path.exists, _KERNEL_REPORTS):
        yield from ("--ro-bind", "/dev/null", name)
    yield from _list_memory_folders(limits)


def _list_memory_folders(limits: SandboxLimits) -> Iterator[str]:
    for folder in ("/tmp", "/dev/shm"):  # noqa: S108 - folders of the sandbox, in memory
        yield from ("--size", str(limits.memory // 4), "--tmpfs", folder)
    yield from ("--dir", HOME)


def _list_guard(descriptor: str) -> Iterator[str]:
    """List the words that put the guard in front of git; `descriptor` holds its script."""
    yield from ("--perms", "0555", "--ro-bind-data", descriptor, f"{git_guard.FOLDER}/git")
    for name in git_guard.LINKS:
        yield from ("--symlink", "git", f"{git_guard.FOLDER}/{name}")


def _list_limits(limits: SandboxLimits) -> Iterator[str]:
    """List processes, kilobytes of data and of a file, and seconds, as `ulimit` reads them."""
    yield str(limits.processes)
    yield str(limits.memory // 1024)
    yield str(limits.file // 1024)
    yield from ("unlimited" if seconds < 0 else str(seconds) for seconds in limits.cpu)


def _list_denials() -> list[Denial]:
    always = (
        *("unshare", "setns", "mount", "umount2", "pivot_root", "chroot", "open_by_handle_at"),
        *("io_uring_setup", "bpf", "perf_event_open", "userfaultfd", "init_module"),
        *("finit_module", "ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd"),
        # Keys belong to the user, in the sandbox and outside of it.
        *("keyctl", "add_key", "request_key"),
        # No process shows this memory as its own, so no limit would count it.
        *("shmget", "memfd_secret"),
    )
    return [
        *(Denial(call=call) for call in always),
        Denial(call="memfd_create", error=ENOSYS),
        # No filter can read the flags of `clone3`; without it, libraries use `clone`.
        Denial(call="clone3", error=ENOSYS),
        Denial(call="clone", if_bits=_NEW_NAMESPACE),
        Denial(call="socket", unless_equal=_ORDINARY_SOCKETS),
        Denial(call="ioctl", argument=1, equal=_TERMINAL_INPUT),
        *_list_set_id(),
    ]


def _list_set_id() -> Iterator[Denial]:
    """Yield what would set the bits for another user or group on a file.

    They mean nothing in the sandbox. On the machine, whoever reaches the file would run it as the
    owner of all workspaces.
    """
    modes = {"chmod": 1, "fchmod": 1, "fchmodat": 2, "fchmodat2": 2}
    makers = {"creat": 1, "mknod": 1, "mknodat": 2}
    for call, argument in (modes | makers).items():
        yield Denial(call=call, argument=argument, if_bits=_SET_ID)
    for call, flags in (("open", 1), ("openat", 2)):
        yield Denial(call=call, argument=flags + 1, if_bits=_SET_ID, only_with=(flags, _MAKES_FILE))
    # No filter can read its mode; without it, libraries use `openat`.
    yield Denial(call="openat2", error=ENOSYS)


def _store(data: bytes) -> int:
    """Put bytes into an unnamed file, and rewind it for reading."""
    file = os.memfd_create("sandbox")
    os.write(file, data)
    os.lseek(file, 0, os.SEEK_SET)
    return file
