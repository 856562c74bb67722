"""Find the program of a command, and the command that a program such as `env` runs."""

import posixpath
from collections.abc import Sequence

from agent_core.tools.policy import programs
from agent_core.tools.policy.shell import Word

_SAFE_FOLDERS = ("/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin")


def program_of(value: str | None) -> str | None:
    """The name of a program; None if it is unknown, or not in a folder of the system."""
    if not value:
        return None
    folder, name = posixpath.split(value)
    return name if not folder or folder in _SAFE_FOLDERS else None


def unfold(name: str, words: Sequence[Word]) -> Sequence[Word] | None:
    """Return the command that a program runs: () for none, None if it is unknown.

    An option that isn't known may take the next word, so nobody knows where the command begins.
    """
    runner = programs.RUNNERS[name]
    position, replaced = 1, ""
    while position < len(words):
        value = words[position].value
        if value is None:
            return None
        if value == "--":
            position += 1
            break
        if value.startswith("-") and value != "-":
            taken = _count_taken(runner, value)
            if not taken:
                return None
            replaced = _find_replaced(name, words[position : position + taken]) or replaced
            position += taken
        elif name in ("env", "sudo") and "=" in value:
            if programs.is_strange(value.partition("=")[0]):
                return None
            position += 1
        else:
            break
    inner = list(words[position + runner.skipped :])
    if name == "xargs":
        inner = [*(inner or [Word(source="echo", value="echo")]), Word(source="…", value=None)]
    return [_replace(word, replaced) for word in inner] if replaced else inner


def _count_taken(runner: programs.Runner, value: str) -> int:
    """Count the words that an option takes with its value; 0 for an unknown option."""
    if value.startswith("--"):
        option, is_given, _ = value.partition("=")
        if option in runner.long_valued:
            return 1 if is_given else 2
        return int(option in runner.long)
    for position, letter in enumerate(value[1:], 2):
        if letter in runner.valued:
            return 1 if value[position:] else 2
        if letter in runner.attached:
            return 1
        if letter not in runner.flags:
            return 0
    return 1


def _find_replaced(name: str, words: Sequence[Word]) -> str:
    """Return the text that `xargs` replaces by its input; "" if an option names none."""
    value = words[0].value or ""
    if name != "xargs":
        return ""
    if value.startswith("--"):
        return (value.partition("=")[2] or "{}") if value.startswith("--replace") else ""
    at = next((at for at, letter in enumerate(value) if letter in "InPdaLsEiel"), 0)
    if value[at] == "I":
        return value[at + 1 :] or (words[-1].value or "")
    return (value[at + 1 :] or "{}") if value[at] == "i" else ""


def _replace(word: Word, replaced: str) -> Word:
    """Return a word, without its value if a part of it is replaced."""
    is_known = word.value is not None and replaced not in word.value
    return Word(source=word.source, value=word.value if is_known else None)


def changes_path(name: str, words: Sequence[Word]) -> bool:
    """True if a runner or a shell may look for programs elsewhere than the shell does.

    The guard of git is found by the `PATH` that commands get.
    """
    if name in ("sudo", "doas", "chroot"):
        return True
    letters = {"env": "iu", "command": "p", "exec": "cl"}.get(name, "")
    if name in programs.SHELLS:
        letters = "li"
    longs = {"env": ("--i", "--u")}.get(name, ("--l",) if name in programs.SHELLS else ())
    for word in words[1:]:
        value = word.value
        if value is None or not value.startswith("-"):
            return False
        if value.startswith("--"):
            if value.startswith(longs):
                return True
        elif value == "-" or set(value) & set(letters):
            return True
    return False


_SHELL_LETTERS = frozenset("efuxvnlibhmBCEPT")
_SHELL_MODES = frozenset(("errexit", "nounset", "pipefail", "xtrace", "verbose", "noglob", "posix"))
_SHELL_LONG = frozenset(("--norc", "--noprofile", "--login", "--posix"))
_OTHER_GRAMMARS = frozenset(("zsh", "fish"))


def find_shell_text(name: str, values: Sequence[str | None]) -> str | None:
    """Return the script that a shell gets behind `-c`; None if it may run something else.

    In front of `-c`, the name of a file is a script, and other options may name one. `zsh` and
    `fish` read the same words otherwise than bash.
    """
    position = 0
    while position < len(values) and name not in _OTHER_GRAMMARS:
        value = values[position]
        if value is None or not value.startswith("-"):
            return None
        following = values[position + 1] if position + 1 < len(values) else None
        letters = set(value[1:])
        if letters - _SHELL_LETTERS == {"c"}:
            return following
        if letters - _SHELL_LETTERS == {"o"} and following in _SHELL_MODES:
            position += 1
        elif value not in _SHELL_LONG and not (letters and letters <= _SHELL_LETTERS):
            return None
        position += 1
    return None
