"""Seccomp: system calls that the kernel refuses to this process and its children (Linux 3.17)."""

import ctypes
import errno
import os
import struct
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_ARCHITECTURES = {"x86_64": (0xC000_003E, 0), "aarch64": (0xC000_00B7, 1)}
"""Machine -> its number in `linux/audit.h`, and its column in `_TABLE`."""
_FOREIGN = 0x4000_0000
"""The first system call number of the x32 ABI; other machines have no numbers this high."""

_TABLE = """
socket 41 198; socketpair 53 199; connect 42 203; bind 49 200; execve 59 221; execveat 322 281;
clone 56 220; clone3 435 435; unshare 272 97; setns 308 268; mount 165 40; umount2 166 39;
chroot 161 51; pivot_root 155 41; open_by_handle_at 304 265; io_uring_setup 425 425;
bpf 321 280; perf_event_open 298 241; userfaultfd 323 282; keyctl 250 219; add_key 248 217;
request_key 249 218; ptrace 101 117; process_vm_readv 310 270; process_vm_writev 311 271;
pidfd_open 434 434; pidfd_getfd 438 438; kill 62 129; tkill 200 130; tgkill 234 131;
rt_sigqueueinfo 129 138; rt_tgsigqueueinfo 297 240; prlimit64 302 261; shmget 29 194;
msgget 68 186; semget 64 190; mq_open 240 180; fcntl 72 25; ioctl 16 29; init_module 175 105;
finit_module 313 273; prctl 157 167; seccomp 317 277; landlock_create_ruleset 444 444;
chmod 90 -; fchmodat 268 53; fork 57 -; vfork 58 -; memfd_create 319 279;
memfd_secret 447 447; syslog 103 116; fchmodat2 452 452; chown 92 -; lchown 94 -; fchownat 260 54;
setxattr 188 5; lsetxattr 189 6; removexattr 197 14; lremovexattr 198 15; setxattrat 463 463;
removexattrat 466 466; file_setattr 469 469; inotify_add_watch 254 27; fanotify_init 300 262;
fchmod 91 52; open 2 -; openat 257 56; creat 85 -; mknod 133 -; mknodat 259 33; openat2 437 437;
setpriority 141 140; ioprio_set 251 30; sched_setaffinity 203 122; sched_setscheduler 144 119;
sched_setparam 142 118; sched_setattr 314 274
"""
"""Calls with their numbers on x86_64 (`asm/unistd_64.h`) and aarch64 (`asm-generic/unistd.h`)."""
_NUMBERS = {name: numbers for name, *numbers in map(str.split, _TABLE.split(";"))}

_LOAD, _EQUAL, _ABOVE, _BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
"""Offsets in `struct seccomp_data`; an argument takes 8 bytes, of which the filter reads the lower
4.
"""
_ALLOW, _REFUSE, _KILL, _ASK = 0x7FFF_0000, 0x0005_0000, 0x8000_0000, 0x7FC0_0000
_NO_NEW_PRIVS, _GET_SECCOMP, _SET_SECCOMP = 38, 21, 22
_FILTER, _ALL_THREADS = 1, 1
_NEW_LISTENER = 1 << 3

_INSTRUCTION = struct.Struct("=HBBI")
"""`struct sock_filter` (`linux/filter.h`)."""

_libc = ctypes.CDLL(None, use_errno=True)
_Instruction = tuple[int, int, int, int]
"""Code, steps to skip if true, steps to skip if false, operand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Denial:
    """A refused call: always, or depending on the lower half of one argument.

    With `equal`, only these values are refused; with `unless_equal`, all values but these; with
    `if_bits`, values with any of these bits; with `unless_bits`, values with none of them. With
    `asks`, the call is not refused, but waits for the process with the filter's listener.
    `only_with` adds a condition to `if_bits`: an argument, and bits of which it must have one.
    """

    call: str
    argument: int = 0
    equal: tuple[int, ...] = ()
    unless_equal: tuple[int, ...] = ()
    if_bits: int = 0
    only_with: tuple[int, int] | None = None
    unless_bits: int = 0
    error: int = errno.EPERM
    asks: bool = False


def is_available() -> bool:
    """Return whether the kernel supports filters, and Talaria knows this machine's calls."""
    is_known = sys.platform == "linux" and os.uname().machine in _ARCHITECTURES
    return is_known and _libc.prctl(_GET_SECCOMP, 0, 0, 0, 0) >= 0


def deny(denials: Iterable[Denial]) -> None:
    """Refuse calls in all threads of this process, permanently. Raises `OSError`."""
    if not is_available():
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    code = make_program(denials)
    buffer = ctypes.create_string_buffer(code, len(code))
    head = struct.pack("@HP", len(code) // _INSTRUCTION.size, ctypes.addressof(buffer))
    _libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0)
    number = _find_number("seccomp")
    if _libc.syscall(ctypes.c_long(number or 0), _FILTER, _ALL_THREADS, head):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def load(program: bytes) -> int:
    """Filter calls of this process's only thread permanently; return the filter's listener.

    Calls that ask wait for an answer on that descriptor (Linux 5.0). Raises `OSError`.
    """
    buffer = ctypes.create_string_buffer(program, len(program))
    head = struct.pack("@HP", len(program) // _INSTRUCTION.size, ctypes.addressof(buffer))
    _libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0)
    number = ctypes.c_long(_find_number("seccomp") or 0)
    listener = int(_libc.syscall(number, _FILTER, _NEW_LISTENER, head))
    if listener < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return listener


def make_program(denials: Iterable[Denial]) -> bytes:
    """Return the filter as bytes, for another program to load. The machine must be known."""
    return b"".join(_INSTRUCTION.pack(*instruction) for instruction in _assemble(denials))


def _assemble(denials: Iterable[Denial]) -> list[_Instruction]:
    """Build the filter in the packet filter language (BPF)."""
    architecture, _ = _ARCHITECTURES[os.uname().machine]
    program: list[_Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),  # a call of another architecture has other numbers
        (_LOAD, 0, 0, _NUMBER),
        (_ABOVE, 0, 1, _FOREIGN),
        (_RETURN, 0, 0, _KILL),
    ]
    for denial in denials:
        number = _find_number(denial.call)
        if number is not None:
            block = _make_block(denial)
            program += [(_EQUAL, 0, len(block), number), *block]
    return [*program, (_RETURN, 0, 0, _ALLOW)]


def _make_block(denial: Denial) -> Sequence[_Instruction]:
    """Return the instructions that decide one call."""
    refuse: _Instruction = (_RETURN, 0, 0, _ASK if denial.asks else _REFUSE | denial.error)
    allow: _Instruction = (_RETURN, 0, 0, _ALLOW)
    load: _Instruction = (_LOAD, 0, 0, _ARGUMENTS + 8 * denial.argument)
    if denial.if_bits:
        block = load, (_BITS, 0, 1, denial.if_bits), refuse, allow
        if denial.only_with is None:
            return block
        argument, bits = denial.only_with
        skipped = len(block) - 1  # to the last instruction
        return (_LOAD, 0, 0, _ARGUMENTS + 8 * argument), (_BITS, 0, skipped, bits), *block
    if denial.unless_bits:
        return load, (_BITS, 1, 0, denial.unless_bits), refuse, allow
    values = denial.equal or denial.unless_equal
    if not values:
        return (refuse,)
    tests = [
        (_EQUAL, len(values) - place, 0, value & 0xFFFF_FFFF) for place, value in enumerate(values)
    ]
    found, other = (refuse, allow) if denial.equal else (allow, refuse)
    return load, *tests, other, found


def _find_number(call: str) -> int | None:
    _, column = _ARCHITECTURES[os.uname().machine]
    number = _NUMBERS[call][column]
    return None if number == "-" else int(number)
