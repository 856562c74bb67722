"""Decide from a path's text alone whether it is in the workspace."""

import posixpath
from collections.abc import Iterable
from fnmatch import fnmatchcase

WORKSPACE = "workspace"
"""The place of a person's own files."""
SYSTEM = "system"
"""The place of the system files of a sandbox, which nobody can change."""
OUTSIDE = "outside"
"""The place of files that are not in the workspace."""
ANYWHERE = "anywhere"
"""The place of data that may go to anybody."""
LISTED = "allowed hosts"
"""The place of data that may go to the hosts which the owner lists, and to no others."""
ROOT = "/workspace"
"""The folder of the workspace, as commands see it."""
_SCRATCH = ("/tmp", "/var/tmp")  # noqa: S108 - a name to compare with, never opened
_DEVICES = frozenset(("null", "zero", "full", "random", "urandom", "tty", "stdin", "stdout"))
_INERT = frozenset(
    (
        *(".gitignore", ".gitkeep", ".keep", ".dockerignore", ".editorconfig", ".npmignore"),
        *(".eslintignore", ".prettierignore", ".helmignore", ".gcloudignore", ".mailmap"),
        *(".nvmrc", ".node-version", ".python-version", ".ruby-version", ".nojekyll"),
        *(".tmp", ".output", ".processes", ".cache", ".github"),
    )
)
"""Hidden names from which no program takes a command to run here."""
_OBEYED = (
    *("sitecustomize.py", "usercustomize.py", "*.pth", "ansible.cfg", "ipython_config.py"),
    *("_vimrc", "_irbrc", "irb.rc", "_netrc", "bunfig.toml", "php.ini", "pip.conf", "pip.ini"),
    *("pg_service.conf", "npmrc"),
)
"""Names without a dot of files that programs obey without being told."""
_GLOB = frozenset("*?[")


def is_obeyed(path: str) -> bool:
    """True for a file that later commands may obey, so that writing it is like running it.

    Programs look for their start files and settings under hidden names, in whatever folder they
    run. So every hidden name counts, unless it is known as harmless. A glob counts as the names
    that it may match.
    """
    return any(map(_is_obeyed_name, path.split("/")))


def _is_obeyed_name(name: str) -> bool:
    if name.startswith(".") and not name.startswith("..") and name != ".":
        return name not in _INERT
    folded = name.casefold()
    if set(name) & _GLOB and name.strip("*"):
        return any(fnmatchcase(one, folded) for one in _OBEYED)
    return any(fnmatchcase(folded, one) for one in _OBEYED)


def resolve(value: str, folder: str, *, home: str = ROOT) -> str:
    """Return the absolute path of a word; `folder` is the working directory."""
    if value == "~" or value.startswith("~/"):
        value = home + value[1:]
    elif value.startswith("~"):
        value = f"/home/{value[1:]}"
    joined = posixpath.normpath(posixpath.join(folder, value))
    return "/" + joined.lstrip("/")


def is_inside(path: str) -> bool:
    """True for a path in the workspace, a temporary one, or a harmless device."""
    if any(path == root or path.startswith(f"{root}/") for root in (ROOT, *_SCRATCH)):
        return True
    device = path.removeprefix("/dev/")
    return device != path and (
        device in _DEVICES or device == "stderr" or device.startswith(("fd/", "shm/"))
    )


def place_of(value: str | None, folders: Iterable[str], *, home: str = ROOT) -> tuple[str, str]:
    """Return the path of a word and its place; an unknown place counts as outside.

    `folders` are the possible working directories. A glob that may lead to a parent folder is
    outside.
    """
    if value is None:
        return "", OUTSIDE
    paths = [resolve(value, folder, home=home) for folder in folders]
    if not paths:
        return value, OUTSIDE
    outside = [path for path in paths if not is_inside(path)]
    return (outside[0], OUTSIDE) if outside else (paths[0], WORKSPACE)
