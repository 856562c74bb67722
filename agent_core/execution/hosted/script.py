"""The supervisor in a provider's sandbox: bash, with a reaper in Python.

Each sandbox belongs to one person, which keeps people apart. The supervisor enforces a command's
limits, and ends everything that the command started. It also ends the command if the gateway is
silent for too long, because most providers offer no lifeline.
"""

from dataclasses import dataclass

from agent_core.execution import git_guard
from agent_core.execution.contract import Command
from agent_core.execution.sandbox import ENVIRONMENT, PATH, SandboxLimits
from agent_core.execution.supervisor_script import BEGIN, END, MEASURE, make_setup

_OF_PLACE = ("HOME", "WORKSPACE", "PATH", "GIT_EXEC_PATH")
"""Variables with paths that are known only in the sandbox."""
_PLACE = r"""
case $place in /*) ;; '') place=$PWD ;; *) place=$HOME/$place ;; esac
command -v python3 > /dev/null || refuse 'backend the sandbox has no python3'
mkdir -p -m 700 -- "$place" || refuse "backend the workspace can't be made there"
top=$(realpath -e -- "$place") && there=$(realpath -e -- "$place/$folder") 2>/dev/null ||
    refuse 'folder does not exist'
case $there/ in "$top"/*) ;; *) refuse 'folder leads out of the workspace' ;; esac
[ -d "$there" ] && cd -- "$there" || refuse 'folder is no folder'
own=0
for file in /proc/[0-9]*/task/[0-9]*; do [ ! -O "$file" ] || own=$((own + 1)); done
ulimit -u $((own + 4 * processes)) 2>/dev/null || ulimit -S -u "$(ulimit -H -u)"
own_home=$(mktemp -d) || own_home=/nonexistent
guard=$(mktemp -d) && printf %s "$git" > "$guard/git" && chmod 555 "$guard/git" ||
    refuse 'backend temporary files can not be made there'
for name in "${links[@]}"; do ln -s git "$guard/$name"; done
launch=(env -i "${environment[@]}" "HOME=$own_home" "WORKSPACE=$top" "GIT_EXEC_PATH=$guard"
    "PATH=$guard:$path"
    python3 -I -S -c "$reaper" "$memory" "$largest" "$soft" "$hard" --) extra=1
kill_all() { kill -TERM $child; }
sweep() {
    rm -rf -- "$guard"
    # A volume keeps what was written once `sync` runs. Nobody waits for a killed command.
    [ $is_volume = 0 ] || [ $status = 137 ] || sync -- "$top"
}
count_kills() { kills=0; }
encode() {
    # What is there is sent at once; a line carries every byte.
    local piece
    while piece=$(dd bs=48000 count=1 status=none | base64 -w 0) && [ -n "$piece" ]; do
        printf '%s\n' "$piece"
    done
}
if [ $is_encoded = 1 ]; then
    exec 1> >(encode)
    encoder=$!
    finish() { exec 1>&-; wait $encoder; }
fi
"""
_REAPER = r"""
import ctypes, os, resource, signal, sys
memory, file, *cpu = map(int, sys.argv[1:5])
argv = sys.argv[6:]

def list_below():
    parents = {}
    for name in filter(str.isdecimal, os.listdir('/proc')):
        try:
            with open(f'/proc/{name}/stat', 'rb') as stat:
                words = stat.read().rpartition(b')')[2].split()
        except OSError:
            continue
        if words[0] not in (b'Z', b'X'):
            parents.setdefault(int(words[1]), []).append(int(name))
    found = [os.getpid()]
    for pid in found:
        found += parents.get(pid, [])
    return found[1:]

def end_all():
    before = None
    while pids := list_below():
        sign = signal.SIGKILL if pids == before else signal.SIGSTOP
        for pid in pids:
            try:
                os.kill(pid, sign)
            except OSError:
                pass
        before = pids

class Stop(Exception):
    pass

def stop(*_):
    raise Stop

def run():
    for kind, most in (('DATA', memory), ('FSIZE', file), ('CORE', 0)):
        number = getattr(resource, 'RLIMIT_' + kind)
        hard = resource.getrlimit(number)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(number, (most, most))
    if resource.getrlimit(resource.RLIMIT_CPU)[1] == resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_CPU, tuple(cpu))
    for sign in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(sign, signal.SIG_DFL)
    os.setsid()
    try:
        os.execvp(argv[0], argv)
    except (OSError, ValueError) as error:
        os.write(2, f"{argv[0]} can't be started: {error}\n".encode(errors='replace'))
    os._exit(127)

ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
status = 137
try:
    for sign in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(sign, stop)
    child = os.fork()
    if child == 0:
        run()
    os.closerange(0, 3)
    while True:
        pid, raw = os.waitpid(-1, 0)
        if pid == child:
            status = os.waitstatus_to_exitcode(raw)
            status = status if status >= 0 else 128 - status
            break
except Stop:
    pass
for sign in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(sign, signal.SIG_IGN)
end_all()
sys.exit(status)
"""
"""Runs a command, adopts its orphans, and ends all of them when the command ends."""

SCRIPT = BEGIN + _PLACE + MEASURE + END


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The layout of a provider's sandboxes.

    `place` is the workspace: absolute, or below the user's home there; "" for the folder in which
    the script starts. `is_text` means that the provider passes on text only, so output is sent as
    lines of base64. `is_volume` means that written files are kept only after `sync`.
    """

    place: str
    is_text: bool
    is_volume: bool


def make_hosted_setup(
    command: Command, folder: str, limits: SandboxLimits, layout: Layout, patience: int
) -> bytes:
    """Return the setup of a command.

    The command ends after `patience` seconds without a message from the gateway.
    """
    environment = [
        f"{name}={value}" for name, value in ENVIRONMENT.items() if name not in _OF_PLACE
    ]
    return make_setup(
        {
            "has_input": int(command.has_input),
            "is_encoded": int(layout.is_text),
            "is_volume": int(layout.is_volume),
            "patience": patience,
            "memory": limits.memory,
            "processes": limits.processes,
            "largest": limits.file,
            "soft": limits.cpu[0],
            "hard": limits.cpu[1],
            "disk": limits.workspace,
            "place": layout.place,
            "folder": folder,
            "reaper": _REAPER,
            "git": git_guard.SCRIPT,
            "path": PATH,
        },
        {"argv": command.argv, "environment": environment, "links": git_guard.LINKS},
    )
