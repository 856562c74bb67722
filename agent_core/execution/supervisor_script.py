"""The supervisor of a command in a container or on another machine.

The supervisor is a bash script that runs beside the command and talks to the gateway.
Its standard input is a lifeline: when it closes, because the gateway has ended or the connection is
lost, the supervisor kills the command. Its standard output is the command's output. On its standard
error it reports events. It also enforces the command's limits.
"""

import shlex
from base64 import b64encode
from collections.abc import Mapping, Sequence

MARK = "supervisor:"
"""The beginning of a line with a supervisor's report."""
_MOST_SENT = 240_000
"""Bytes of input in one line."""

# Each place sets `launch`, the words before the command, and `extra`, the number of processes that
# are not the command's. `kill_all` ends the command, and `sweep` ends what it left behind.
_HEAR = r"""
exec 3>&2 4<&0
say() { echo "supervisor: $*" >&3; }
refuse() { say "refused $*"; exit 0; }
finish() { :; }
pause() { read -r -t 0.02 <&4; }
IFS= read -r setup <&4 || exit 125
"""
# Killed processes count until the machine has removed them, and a command without room can't start
# its processes. So the supervisor starts none before there is room.
_ROOM = r"""
has_room() {
    local count most
    read -r most < /sys/fs/cgroup/pids.max && read -r count < /sys/fs/cgroup/pids.current ||
        { read -r most < /sys/fs/cgroup/pids/pids.max &&
        read -r count < /sys/fs/cgroup/pids/pids.current; } || return 0
    [ $most = max ] || [ $((count + 16)) -le $most ]
} 2>/dev/null
due=$((EPOCHSECONDS + 6))
until has_room; do
    [ $EPOCHSECONDS -lt $due ] ||
        refuse 'crowded other commands take all of its processes; wait until one ends, or stop one'
    pause
    [ $? -gt 128 ] || exit 125  # the gateway waits no longer
done
"""
_READ = r"""
eval "$(base64 -d <<< "$setup")"
extra=0 launch=() patience=${patience:-0} own_home=
below() {
    local at=0 file kids
    found=("$1")
    while [ $at -lt ${#found[@]} ] && [ ${#found[@]} -le 10000 ]; do
        for file in /proc/${found[at]}/task/*/children; do
            kids=()  # the process may have ended, and then nothing is read
            read -r -a kids < "$file"
            found+=("${kids[@]}")
        done
        at=$((at + 1))
    done
} 2>/dev/null
"""
BEGIN = _HEAR + _READ
_CONTAINER = r"""
# Each command has a home of its own. One for all would keep start files for the next command.
own_home=$(mktemp -d) || own_home=/nonexistent  # /tmp may be full
export HOME=$own_home
launch=("$init" -s --) extra=1
kill_all() { kill -KILL $child; }
list_left() {
    local pid first=
    below 1
    for pid in "${found[@]:1}"; do
        [ -n "$first" ] && [ $first -le $pid ] || first=$pid
    done
    left=()
    for pid in "${found[@]:1}"; do
        [ $pid = $first ] || left+=($pid)
    done
}
sweep() {
    local before= end=$((EPOCHSECONDS + 4))
    read -r -a kids < /proc/1/task/1/children
    [ ${#kids[@]} -gt 1 ] || return
    while [ $EPOCHSECONDS -lt $end ]; do
        list_left
        [ ${#left[@]} -gt 0 ] || return
        if [ "${left[*]}" = "$before" ]; then signal=KILL; else signal=STOP; fi
        kill -$signal "${left[@]}"
        before="${left[*]}"
        pause
    done
} 2>/dev/null
count_kills() {
    kills=0
    local name count
    while read -r name count; do
        [ "$name" = oom_kill ] && kills=$count
    done < /sys/fs/cgroup/memory.events || while read -r name count; do
        [ "$name" = oom_kill ] && kills=$count
    done < /sys/fs/cgroup/memory/memory.oom_control
} 2>/dev/null
"""
_REMOTE = r"""
# No limit holds root, and a bomb of processes grows faster than the watch below can look.
[ $EUID != 0 ] || refuse 'backend the account there is root; use another one'
own=0
for file in /proc/[0-9]*/task/[0-9]*; do [ ! -O "$file" ] || own=$((own + 1)); done
ulimit -u $((own + 4 * processes)) 2>/dev/null || ulimit -S -u "$(ulimit -H -u)"
command -v bwrap > /dev/null || refuse 'backend bubblewrap is not installed there'
mkdir -p -m 700 -- "$place" || refuse "backend the workspace can't be made there"
top=$(realpath -e -- "$place") && there=$(realpath -e -- "$place/$folder") 2>/dev/null ||
    refuse 'folder does not exist'
case $there/ in "$top"/*) ;; *) refuse 'folder leads out of the workspace' ;; esac
[ -d "$there" ] || refuse 'folder is no folder'
launch=(bwrap "${words[@]}") extra=2
for path in "${merged[@]}"; do
    if [ -L "$path" ]; then launch+=(--symlink "$(readlink "$path")" "$path")
    elif [ -d "$path" ]; then launch+=(--ro-bind "$path" "$path"); fi
done
for path in "${reports[@]}"; do
    [ ! -e "$path" ] || launch+=(--ro-bind /dev/null "$path")
done
launch+=(--ro-bind-data 10 /etc/passwd --ro-bind-data 11 /etc/group)
[ "$(uname -m)" != "$machine" ] || launch+=(--seccomp 12)
launch+=(--bind "$top" /workspace --remount-ro /dev --remount-ro / "${last[@]}")
kill_all() {
    local first=
    read -r first _ < /proc/$child/task/$child/children
    kill -KILL ${first:-$child} || kill -KILL $child
} 2>/dev/null
sweep() { :; }
count_kills() { kills=0; }
"""
MEASURE = r"""
# The kilobytes of a folder. A file counts four at least, so that their number has a limit, too.
measure() {
    local used files
    used=$(du -sk -- "$1" | cut -f 1) files=$(du -s --inodes -- "$1" | cut -f 1)
    echo $((4 * files > used ? 4 * files : used))
}
"""
"""A bash function that measures a workspace."""
END = r"""
is_over() {
    local pid label size resident sum=0 _
    below $child
    if [ ${#found[@]} -gt $((processes + extra)) ]; then limit=processes; return; fi
    for pid in "${found[@]}"; do
        resident=0
        while read -r label size _; do
            # Shared memory without a file counts, too: a command could hide in it. gVisor, which
            # some providers use, tells the parts of no process; then all of it counts.
            case $label in
                VmRSS:) resident=$size ;;
                RssAnon:) resident=0 sum=$((sum + size)) ;;
                RssShmem:|VmSwap:) sum=$((sum + size)) ;;
            esac
            [ $label != VmSwap: ] || break
        done < /proc/$pid/status
        sum=$((sum + resident))
    done
    if [ $sum -gt $((memory / 1024)) ]; then limit=memory; return; fi
    count_kills
    if [ $kills != $kills_before ]; then limit=memory; return; fi
    # In microseconds: a measurement across the border of a second would look like a long one.
    local started=${EPOCHREALTIME//[!0-9]/} ended used
    [ $disk != 0 ] && [ $started -ge $due ] || return 1
    used=$(measure "$place")
    ended=${EPOCHREALTIME//[!0-9]/}
    due=$((ended + 1000000 + 20 * (ended - started)))
    if [ $used -gt $most ]; then limit=disk; return; fi
    return 1
} 2>/dev/null
watch() {
    local buffer= part status limit= due=0 kills_before heard=$EPOCHSECONDS
    count_kills
    kills_before=$kills
    while :; do
        part=
        IFS= read -r -t 0.2 part <&4
        status=$?
        buffer+=$part
        if [ $status = 0 ]; then
            case $buffer in
                stop!) break ;;
                end) exec 5>&- ;;
                '') ;;
                # So many characters of input follow. A shell itself would read them one by one.
                # A complaint about a reader that has gone would tear the line with the status.
                *) head -c "$buffer" <&4 | { base64 -d >&5 2> /dev/null || cat > /dev/null; } ;;
            esac
            buffer= heard=$EPOCHSECONDS
        elif [ $status -le 128 ]; then
            break
        fi
        [ $patience = 0 ] || [ $((EPOCHSECONDS - heard)) -lt $patience ] || break
        if is_over; then say "limit $limit"; break; fi
    done
    kill_all
}
# Before the command begins, because it may fill the disk faster than the first look comes.
most=0
if [ $disk != 0 ]; then
    used=$(measure "$place")
    most=$((used + 1000 > disk / 1024 ? used + 1000 : disk / 1024))
fi
if [ $has_input = 1 ]; then
    exec 5> >(exec "${launch[@]}" "${argv[@]}" 2>&1 3>&- 4<&- 10<<< "$accounts" 11<<< "$groups" \
        12< <(base64 -d <<< "$filter") 13<<< "$guard")
    child=$!
else
    exec 5> /dev/null
    "${launch[@]}" "${argv[@]}" < /dev/null 2>&1 3>&- 4<&- 5>&- 10<<< "$accounts" \
        11<<< "$groups" 12< <(base64 -d <<< "$filter") 13<<< "$guard" &
    child=$!
fi
say "ready $child"
watch &
watcher=$!
exec 5>&-
wait $child 2>/dev/null
status=$?
kill $watcher 2>/dev/null
wait $watcher 2>/dev/null
sweep
[ -z "$own_home" ] || rm -rf -- "$own_home"
finish
say "status $status"
"""

IN_CONTAINER = _HEAR + _ROOM + _READ + _CONTAINER + END
"""The supervisor in a container whose first process reaps orphans."""
REMOTE = BEGIN + _REMOTE + MEASURE + END
"""The supervisor on a remote machine, which starts the sandbox on that machine."""


def make_setup(values: Mapping[str, str | int], lists: Mapping[str, Sequence[str]]) -> bytes:
    """Return the first line for a supervisor: the values of its variables."""
    lines = [f"{name}={shlex.quote(str(value))}" for name, value in values.items()]
    lines += [f"{name}=({' '.join(map(shlex.quote, words))})" for name, words in lists.items()]
    return b64encode("\n".join(lines).encode(errors="surrogateescape")) + b"\n"


STOP = b"stop!\n"
"""The line that ends a command if the lifeline can't be closed; no other line equals it."""
BEAT = b"\n"
"""The line that only reports that the gateway is alive."""


def make_input(data: bytes) -> bytes:
    """Return the lines that send input to a command; b"" closes the input."""
    if not data:
        return b"end\n"
    pieces = [
        b64encode(data[at : at + _MOST_SENT]) + b"\n" for at in range(0, len(data), _MOST_SENT)
    ]
    return b"".join(b"%d\n%b" % (len(piece), piece) for piece in pieces)
