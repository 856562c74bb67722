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
    """Return the command that a program runs: () for none, None if it is unknown."""
    with_word, skipped = programs.RUNNERS[name]
    position = 1
    while position < len(words):
        value = words[position].value
        if value is None:
            return None
        if value == "--":
            position += 1
            break
        if name == "env" and value.startswith(("-S", "--split-string", "-C", "--chdir")):
            return None
        if name == "time" and value.startswith("-") and value != "-p":
            return None  # it may write any text to any file
        if value.startswith("-") and value != "-":
            position += 2 if value in with_word else 1
        elif name in ("env", "sudo") and "=" in value:
            if programs.is_strange(value.partition("=")[0]):
                return None
            position += 1
        else:
            break
    inner = list(words[position + skipped :])
    if name == "xargs":
        inner = [*(inner or [Word(source="echo", value="echo")]), Word(source="…", value=None)]
    return inner


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
