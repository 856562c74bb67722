"""The shell of a conversation: its folder and exported variables persist between commands.

A file of the workspace holds them. Only shells in the sandbox read and write it. So the state
survives a restart, and a command's changes to it can't leave the sandbox.
"""

from agent_core.ids import ConversationId

STATES = ".shell"
"""The workspace folder with the state of each conversation's shell."""
_LONGEST_STATE = 100_000
"""Characters; with a longer environment, programs could not start."""
_BEGIN = """
__state=$WORKSPACE/$1 __place=$WORKSPACE __text=$2 __folder=$3 __here=$PWD
set --
__go() {
    cd -- "$1" 2>/dev/null && return
    echo "The folder $1 no longer exists; this is $PWD." >&3
}
[ -f "$__state" ] && ! [ -L "$__state" ] && . "$__state" 3>&2 2>/dev/null
[ -z "$__folder" ] || cd -- "$__here"
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.bareRepository GIT_CONFIG_VALUE_0=explicit
"""
# A folder of a cloned repository can look like a bare one, whose config names programs for git.
_OWN = (
    "PWD OLDPWD SHLVL HOME WORKSPACE TMPDIR"
    " http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY"
    " GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_CONFIG_VALUE_0"
)
"""Variables that each command gets new: the next may have other folders, or no network."""
# Most commands change no state. Then nothing is forked, because a fork would double their time.
_SAVE = f"""
__capture() {{
    __all=
    export -n {_OWN}
    declare -px > "$TMPDIR/.exports" && IFS= read -r -d '' __all < "$TMPDIR/.exports"
    export {_OWN}
    [ -n "$__all" ] || __all=$(export -n {_OWN}; declare -px)$'\\n'
}} 2>/dev/null
__capture
__before=$__all __begun=$PWD
__save() {{
    __capture
    [ "$__all" = "$__before" ] && [ -n "$__folder" -o "$PWD" = "$__begun" ] && return
    if [ -n "$__folder" ]; then
        __all+=$(grep '^__go ' "$__state")
    elif [ "$PWD" != "$__place" ]; then
        __all+="__go ${{PWD@Q}}"
    fi
    if [ ${{#__all}} -gt {_LONGEST_STATE} ]; then
        echo "The exported variables are too long to be kept." >&3
        return
    fi
    [ -d "${{__state%/*}}" ] || mkdir -p -- "${{__state%/*}}"
    printf '%s\\n' "$__all" > "$__state.new" && mv -f -- "$__state.new" "$__state"
}} 3>&2 2>/dev/null
trap __save EXIT
"""
_RUN = 'eval "$__text"\n'
# No workspace script runs before the command, and the shell writes the values to no file.
_RECEIVE = """
while IFS= read -r -d '' __record && [ -n "$__record" ]; do export "$__record"; done
exec < /dev/null
__text=$1
set --
unset __record
"""
_KEPT, _USED = _BEGIN + _SAVE + _RUN, _BEGIN + _RUN


def make_shell_command(
    text: str, conversation_id: ConversationId, folder: str, *, keeps: bool = True
) -> tuple[str, ...]:
    """Return the program that runs a command in the shell of a conversation.

    With a `folder`, only this command runs there; the shell's own folder does not change. Unless it
    `keeps` the state, the command only reads it.
    """
    state = f"{STATES}/{conversation_id}"
    return ("/bin/bash", "-c", _KEPT if keeps else _USED, "bash", state, text, folder)


def make_secret_command(text: str) -> tuple[str, ...]:
    """Return the program that runs a command in a fresh shell, with the secrets from its input.

    It neither reads nor writes the conversation's state, because the state is stored in a file.
    """
    return ("/bin/bash", "-c", _RECEIVE + _RUN, "bash", text)
