"""The shell of a conversation: its folder and exported variables persist between commands.

A file of the workspace holds them, as data that no shell runs. Anything in the workspace may have
written that file. So a shell takes over only variables that commands of its conversation have
exported by name, and that no program obeys.
"""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

from agent_core.execution.contract import Backend
from agent_core.ids import ConversationId
from agent_core.tools.policy.exports import Exports, list_exports

STATES = ".shell"
"""The workspace folder with the state of each conversation's shell."""
_MOST_SHELLS = 1_000
"""Conversations whose exported names are known; one of them takes a kilobyte at most."""
_MOST_NAMES = 100
_FRAGILE = re.compile(
    r"PYTHON(?!UNBUFFERED$|DONTWRITEBYTECODE$)|LC_ALL$|POSIXLY_CORRECT$|BASH_|GLIBC_|MALLOC_"
    r"|FUNCNEST$|EXECIGNORE$|GLOBIGNORE$"
)
"""Names whose wrong value breaks all later programs of the conversation, or fills their output."""
_LONGEST_STATE = 100_000
"""Characters; with a longer environment, programs could not start."""
_BASH = ("/bin/bash", "--norc", "--noprofile", "-c")
"""Bash that reads no start file, whatever its environment and its input are."""
_PYTHON = """\
import os, sys

sys.path[:] = [path for path in sys.path if path != os.path.dirname(__file__)]


def _is_here(path):
    try:
        return not path or os.path.samefile(path, ".")
    except OSError:
        return False


class _Last:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if sys.argv[:1] not in (["-c"], ["-m"], ["-"], [""]):
            return
        if sys.path and _is_here(sys.path[0]):
            sys.path.append(sys.path.pop(0))
            sys.meta_path.remove(_Last)


sys.meta_path.insert(0, _Last)
del sys.modules["sitecustomize"]
try:
    import sitecustomize
except ImportError:
    sys.modules["sitecustomize"] = None
"""
"""Moves the working directory to the end of Python's path, unless a script is run by its name.

Otherwise `python3 -m json.tool` would run a `json.py` that lies there. A later `sitecustomize` of
the system still runs.
"""
# A home of the command's own holds only what this shell puts there.
_PREPARE = f"""
if [[ $__flags = *home* ]]; then
    printf %s {shlex.quote(_PYTHON)} > "$HOME/sitecustomize.py"
    export PYTHONPATH=$HOME
fi 2>/dev/null
"""
# The state: the folder, and `name=value` of each variable, each with a NUL behind it.
_BEGIN = """
__state=$WORKSPACE/$1 __text=$2 __folder=$3 __flags=$4 __kept=$WORKSPACE __ended= __others=()
__names=("${@:6:$5}") __refused=("${@:6+$5}")
set --
__is_in() {
    local __one __wanted=$1
    shift
    for __one; do [ "$__one" != "$__wanted" ] || return 0; done
    return 1
}
__load() {
    local __record
    IFS= read -r -d '' -n 10000 __kept || { __kept=$WORKSPACE; return; }
    while IFS= read -r -d '' -n 100000 __record && [ ${#__others[@]} -lt 200 ]; do
        if __is_in "${__record%%=*}" "${__names[@]}"; then
            export "$__record"
        else
            __others+=("$__record") __ended+=" ${__record%%=*}"
        fi
    done
    [ -n "$__folder" ] || cd -- "$__kept" 2>/dev/null ||
        echo "The folder $__kept no longer exists; this is $PWD." >&3
    [[ $__flags != *first* ]] || [ -z "$__ended" ] ||
        echo "These exported variables have ended with a restart:${__ended:0:200}." >&3
}
if [ -f "$__state" ] && ! [ -L "$__state" ]; then __load 3>&2 2>/dev/null < "$__state"; fi
"""
# Most commands change no state. Then nothing is forked, because a fork would double their time.
_SAVE = f"""
__capture() {{
    local __one
    __all=()
    for __one in "${{__names[@]}}"; do
        [ -z "${{!__one+x}}" ] || [[ ${{!__one@a}} != *x* ]] || __all+=("$__one=${{!__one}}")
    done
}}
__capture
__before=("${{__all[@]}}") __begun=$PWD __path=$PATH __known=() __strangers=
if [[ $__flags = *others* ]]; then mapfile -t __known < <(compgen -e); fi
__complain() {{
    local __one
    [ "$PATH" = "$__path" ] || __refused+=(PATH)
    if [[ $__flags = *others* ]]; then
        for __one in $(compgen -e); do
            __is_in "$__one" "${{__known[@]}}" "${{__names[@]}}" "${{__refused[@]}}" ||
                __refused+=("$__one")
        done
    fi
    [ ${{#__refused[@]}} = 0 ] ||
        echo "Not kept for the next command: ${{__refused[*]}}." >&3
    [[ $__flags = *home* ]] && for __one in "$HOME"/*; do
        case $__one in */sitecustomize.py|*/__pycache__|*/'*') continue ;; esac
        echo 'Files in $HOME are not kept; keep them in $WORKSPACE.' >&3
        break
    done
}}
__save() {{
    local IFS=$' \\t\\n' __place=$PWD
    set +efu
    __complain
    __capture
    [ -z "$__folder" ] || __place=$__kept
    [ "${{__all[*]@Q}}" = "${{__before[*]@Q}}" ] &&
        [ -n "$__folder" -o "$PWD" = "$__begun" ] && return
    __all=("$__place" "${{__all[@]}}" "${{__others[@]}}")
    local __joined="${{__all[*]}}"
    if [ ${{#__joined}} -gt {_LONGEST_STATE} ]; then
        echo "The exported variables are too long to be kept." >&3
        return
    fi
    [ -d "${{__state%/*}}" ] || mkdir -p -- "${{__state%/*}}"
    local __new=$__state.$RANDOM$RANDOM  # commands of a conversation may end at one time
    printf '%s\\0' "${{__all[@]}}" > "$__new" && mv -f -- "$__new" "$__state"
}} 3>&2 2>/dev/null
trap __save EXIT
"""
_RUN = 'eval "$__text"\n'
# No workspace script runs before the command, and the shell writes the values to no file.
_RECEIVE = """
while IFS= read -r -d '' __record && [ -n "$__record" ]; do export "$__record"; done
exec < /dev/null
__text=$1 __flags=$2
set --
unset __record
"""
_KEPT, _USED = _BEGIN + _PREPARE + _SAVE + _RUN, _BEGIN + _PREPARE + _RUN
_SECRET = _RECEIVE + _PREPARE + _RUN


@dataclass(slots=True)
class ShellNames:
    """The variables that commands of each conversation have exported by name, in this process.

    Only a command's text counts, because a program in the sandbox can write anything else.
    """

    _names: dict[ConversationId, Mapping[str, None]] = field(default_factory=dict)

    def add(self, conversation_id: ConversationId, text: str) -> "ShellExports":
        """Add the names of a command; return what its shell takes over."""
        found = list_exports(text)
        known = self._names.pop(conversation_id, None)
        plain = [name for name in found.plain if not _FRAGILE.match(name)]
        names = dict.fromkeys([*(known or {}), *plain][:_MOST_NAMES])
        self._names[conversation_id] = names
        if len(self._names) > _MOST_SHELLS:
            del self._names[next(iter(self._names))]
        return ShellExports(names=tuple(names), found=found, is_first=known is None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellExports:
    """The names that a shell takes over and keeps, and what its command exports.

    `is_first` is true for the first command of a conversation in this process.
    """

    names: tuple[str, ...] = ()
    found: Exports = field(default_factory=Exports)
    is_first: bool = False


def is_fresh(backend: Backend, workspace: str, conversation_id: ConversationId) -> bool:
    """Return whether a conversation's shell is still in the workspace's own folder.

    No state means that no command has changed the folder.
    """
    place = backend.find_place(workspace)
    return place is not None and not (place / STATES / str(conversation_id)).exists()


def make_shell_command(
    text: str,
    conversation_id: ConversationId,
    folder: str,
    exports: ShellExports,
    *,
    keeps: bool = True,
    has_own_home: bool = True,
) -> tuple[str, ...]:
    """Return the program that runs a command in the shell of a conversation.

    With a `folder`, only this command runs there; the shell's own folder does not change. Unless it
    `keeps` the state, the command only reads it. `has_own_home` means that its home ends with it.
    """
    state = f"{STATES}/{conversation_id}"
    flags = {
        "first": exports.is_first,
        "others": exports.found.has_others,
        "home": has_own_home,
    }
    refused = [name for name in exports.found.strange if name != "PATH"]  # the shell compares it
    refused += [name for name in exports.found.plain if name not in exports.names]
    words = [state, text, folder, " ".join(name for name, is_set in flags.items() if is_set)]
    words += [str(len(exports.names)), *exports.names, *refused]
    return (*_BASH, _KEPT if keeps else _USED, "bash", *words)


def make_secret_command(text: str, *, has_own_home: bool = True) -> tuple[str, ...]:
    """Return the program that runs a command in a fresh shell, with the secrets from its input.

    It neither reads nor writes the conversation's state, because the state is stored in a file.
    """
    return (*_BASH, _SECRET, "bash", text, "home" if has_own_home else "")
