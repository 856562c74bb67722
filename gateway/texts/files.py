"""Sentences about changes of files in a workspace that `/undo` takes back."""

from collections.abc import Mapping, Sequence

from agent_core.execution.file_changes import Entry, FileChange
from agent_core.execution.file_states import MOST_ENTRIES
from agent_core.localization import Plural, Text
from agent_core.tools.workspace.versions import Gap
from agent_core.transcript import strip_controls

_MOST_NAMED = 10
_LONGEST_NAME = 80
_SEPARATOR = ", "

GONE = Text("No change to your files has the number {number}. /undo takes back your last change.")
UNREADABLE = Text(
    "I can't read the earlier versions of your files now, so I changed nothing. Try again later."
)
_TOOK_BACK = Plural(
    "{n} file is as it was before: {files}.", "{n:,} files are as they were before: {files}."
)
_TOOK_NOTHING = Text("I took nothing back.")
_REMOVED = Text("{file} removed")
_RESTORED = Text("{file} restored")
_MORE = Plural("{n:,} more", "{n:,} more")
_KEPT = Plural(
    "I left this file as it is, because it was changed later: {files}",
    "I left these files as they are, because they were changed later: {files}",
)
_LOST = Plural(
    "I have no copy of {files}, so I left it as it is.",
    "I have no copies of {files}, so I left them as they are.",
)
_GAPS: Mapping[Gap, Text] = {
    "elsewhere": Text(
        "I can't take back changes to files, because your files are on another machine."
    ),
    "many": Text(
        "I can't take back changes to files, because your workspace has more than {most:,}"
        " files and folders."
    ),
}


def describe_taken_back(made: FileChange) -> str:
    """Say what an undo did to files, and what it left."""
    shown = _choose(made.entries)
    names = [_name_entry(path, made.entries[path]) for path in shown]
    lines = [_TOOK_BACK(n=len(shown), files=_join(names)) if shown else _TOOK_NOTHING()]
    if made.kept:
        lines.append(_KEPT(n=len(made.kept), files=_join([_name(path) for path in made.kept])))
    if made.lost:
        lines.append(_LOST(n=len(made.lost), files=_join([_name(path) for path in made.lost])))
    return "\n".join(lines)


def name_change(change: FileChange) -> str:
    """Name the files that a change is about."""
    return _join([_name(path) for path in _choose(change.entries)])


def describe_gap(gap: Gap) -> str:
    """Say why changes of files can't be taken back."""
    return _GAPS[gap](most=MOST_ENTRIES)


def _choose(entries: Mapping[str, Entry]) -> list[str]:
    """Return the paths that are named: files and links, and folders that are alone."""
    return [
        path
        for path in sorted(entries)
        if not _is_folder(entries[path])
        or not any(other.startswith(f"{path}/") for other in entries)
    ]


def _is_folder(entry: Entry) -> bool:
    return all(state is None or state.kind == "folder" for state in entry)


def _name_entry(path: str, entry: Entry) -> str:
    before, after = entry
    if after is None:
        return _REMOVED(file=_name(path))
    return _RESTORED(file=_name(path)) if before is None else _name(path)


def _name(path: str) -> str:
    shown = strip_controls(path.encode("utf-8", "replace").decode())
    return shown if len(shown) <= _LONGEST_NAME else f"…{shown[-_LONGEST_NAME:]}"


def _join(names: Sequence[str]) -> str:
    left = len(names) - _MOST_NAMED
    more = [_MORE(n=left)] if left > 0 else []
    return _SEPARATOR.join([*names[:_MOST_NAMED], *more])
