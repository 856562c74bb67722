"""The file of a batch's tasks: one JSON object per line. Pure."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

_LONGEST_LINE = 4_000_000
"""Bytes; a longer line is no task, but a file of another kind."""
_LONGEST_ID = 200
_SHOWN = 60
KNOWN = ("id", "prompt", "tools", "files", "check")

_NO_PLACE = (
    "it needs a place for its files or its check, and there is none; `talaria config set"
    " tools.backend local` gives one"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchTask:
    """Describes a task. `line` is its line in the file, from 1; it names the task within its run.

    `tools` are the only tools that it has; None for all of the run. `files` are put into its
    workspace first. `check` is a shell command there; the task succeeds only if it exits with 0.
    """

    line: int
    id: str
    prompt: str
    tools: tuple[str, ...] | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    check: str = ""

    def dump(self) -> dict[str, Any]:
        """Return the task as JSON takes it."""
        return {
            "line": self.line,
            "id": self.id,
            "prompt": self.prompt,
            "tools": None if self.tools is None else list(self.tools),
            "files": dict(self.files),
            "check": self.check,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LineFault:
    """A line that is no task; `fault` continues the sentence "Line 7: ..."."""

    line: int
    fault: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFile:
    """Lists what a file holds. `ignored` are fields that no task has."""

    tasks: tuple[BatchTask, ...]
    faults: tuple[LineFault, ...]
    ignored: tuple[str, ...] = ()


class _Bad(Exception):
    """A line is no task; the text is its fault."""


def load_task(given: Mapping[str, Any]) -> BatchTask:
    """Return a task that `BatchTask.dump` dumped."""
    tools = given["tools"]
    return BatchTask(**{**given, "tools": None if tools is None else tuple(tools)})


def read_task_file(data: bytes, tools: Sequence[str], *, has_place: bool) -> TaskFile:
    """Read the tasks of a file. `tools` are those that a task may name. Blank lines are skipped.

    Without a place for them (`has_place`), no task can have files or a check.
    """
    tasks: list[BatchTask] = []
    faults: list[LineFault] = []
    lines: dict[str, int] = {}
    ignored: dict[str, None] = {}
    for number, line in _split(data):
        try:
            given = _read_object(line)
            task = _read_task(number, given, tools)
            if (task.files or task.check) and not has_place:
                raise _Bad(_NO_PLACE)
            if first := lines.get(task.id):
                raise _Bad(f'its id "{task.id}" is that of line {first}, too; ids are unique')
        except _Bad as bad:
            faults.append(LineFault(line=number, fault=str(bad)))
            continue
        lines[task.id] = number
        ignored |= dict.fromkeys(name for name in given if name not in KNOWN)
        tasks.append(task)
    return TaskFile(tasks=tuple(tasks), faults=tuple(faults), ignored=tuple(ignored))


def _split(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Return the lines with their numbers; only a line feed ends one, as in JSON Lines."""
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if line.strip():
            yield number, line


def _read_object(line: bytes) -> dict[str, Any]:
    if len(line) > _LONGEST_LINE:
        raise _Bad(f"it has {len(line):,} bytes, and the most are {_LONGEST_LINE:,}")
    try:
        given = json.loads(line.decode("utf-8"))
        json.dumps(given, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise _Bad("it has half of a character, such as \\ud83d without its other half") from None
    except UnicodeDecodeError as error:
        raise _Bad(f"it is no UTF-8 text: byte {error.start + 1} can't be read") from None
    except json.JSONDecodeError as error:
        said = error.msg[:1].lower() + error.msg[1:]
        raise _Bad(f"it is no JSON: {said} at column {error.colno}") from None
    except (RecursionError, ValueError):
        raise _Bad("it is no JSON that can be read: it is nested too deeply") from None
    if not isinstance(given, dict):
        raise _Bad('it is no JSON object; a task looks like {"prompt": "..."}')
    return given


def _read_task(number: int, given: Mapping[str, Any], tools: Sequence[str]) -> BatchTask:
    prompt = given.get("prompt")
    if prompt is None:
        raise _Bad(f'it has no "prompt"; it has {_list(given) or "nothing"}')
    if not isinstance(prompt, str) or not prompt.strip():
        raise _Bad('its "prompt" has to be a text that is not empty')
    check = given.get("check") or ""
    if not isinstance(check, str):
        raise _Bad('its "check" has to be a shell command as a text')
    return BatchTask(
        line=number,
        id=_read_id(number, given.get("id")),
        prompt=prompt,
        tools=_read_tools(given.get("tools"), tools),
        files=_read_files(given.get("files")),
        check=check,
    )


def _read_id(number: int, given: object) -> str:
    if given is None:
        return str(number)
    if isinstance(given, bool) or not isinstance(given, str | int) or not str(given).strip():
        raise _Bad('its "id" has to be a text or a whole number')
    if len(str(given)) > _LONGEST_ID:
        raise _Bad(f'its "id" has more than {_LONGEST_ID} characters')
    return str(given)


def _read_tools(given: object, known: Sequence[str]) -> tuple[str, ...] | None:
    if given is None:
        return None
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        raise _Bad('its "tools" have to be a list of names, such as ["terminal"]')
    if unknown := [one for one in given if one not in known]:
        raise _Bad(f"there is no tool {unknown[0][:_SHOWN]} here; there are {', '.join(known)}")
    return tuple(given)


def _read_files(given: object) -> Mapping[str, str]:
    if given is None:
        return {}
    if not isinstance(given, dict) or not all(isinstance(one, str) for one in given.values()):
        raise _Bad('its "files" have to be an object of texts by path, such as {"a.txt": "1"}')
    for path in given:
        parts = PurePosixPath(path).parts
        if not parts or path.startswith("/") or ".." in parts or "\0" in path:
            raise _Bad(f'its file "{path[:_SHOWN]}" has to be a path below the workspace')
    return given


def _list(given: Mapping[str, Any]) -> str:
    return ", ".join(f'"{name[:_SHOWN]}"' for name in list(given)[:5])
