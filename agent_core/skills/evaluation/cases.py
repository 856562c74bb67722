"""The cases that test a skill: turns of a person, and a file of cases beside its SKILL.md.

A case that was drawn from a turn is only the turn's number. The turn's words stay in the
transcript, where `/forget` finds them. The file is `evals/evals.json`, as Agent Skills have it. It
counts only if a person wrote it, or has agreed to it as it is: no author tests their own work.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import re2

from agent_core.errors import SkillBroken
from agent_core.ids import TurnId
from agent_core.skills.agreements import agree, hash_folder, read_agreements
from agent_core.skills.catalog import EVALS
from agent_core.skills.states import has_added
from agent_core.state.engine.database import Connection

_FILE = f"{EVALS}/evals.json"
LEAST_CASES = 3
"""The fewest cases of a test; fewer prove nothing about a skill."""
_MOST_CASES = 50
_MOST_BYTES = 1_000_000
_LONGEST_PATTERN = 500
_DRAWN = re.compile(r"turn-(\d{1,18})")
"""The id of a case that was drawn from a turn."""

CheckKind = Literal[
    "exact", "contains", "lacks", "matches", "calls", "does_not_call", "exit_status"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A property of an answer that code can judge.

    The answer is exactly `value`, contains or lacks it, or matches it; it calls a tool of that
    name, or does not; or its last command ends with that status.
    """

    kind: CheckKind
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalCase:
    """A request and the expected answer; a drawn case has the number of its turn.

    A model judges `expected` and `assertions`, but only if there are no `checks`.
    """

    id: str
    prompt: str = ""
    turn_id: TurnId | None = None
    expected: str = ""
    checks: tuple[Check, ...] = ()
    assertions: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    """Files of the skill that are in the workspace at the start, under their own names."""


def read_cases(place: Path) -> list[EvalCase]:
    """Read the cases of a skill's folder; none without the file. Blocks. Raises `SkillBroken`."""
    return [_read_case(one, place) for one in _read_evals(place)["evals"]][:_MOST_CASES]


def may_test(connection: Connection, folder: Path, name: str) -> bool:
    """Return whether the file of cases of a skill in the home counts. Blocks.

    What the agent wrote itself counts once a person has agreed to it, until it changes.
    """
    cases = folder / name / EVALS
    if not has_added(connection, name, EVALS):
        return True
    agreed = read_agreements(folder).get(str(cases.absolute()))
    return agreed is not None and agreed == hash_folder(cases)


def agree_to_cases(folder: Path, name: str) -> None:
    """Record that an owner agrees to a skill's cases as they are. Blocks. Raises as `agree`."""
    agree(folder, folder / name / EVALS)


def name_drawn(turn_id: TurnId) -> str:
    """Return the id of the case that is drawn from a turn."""
    return f"turn-{turn_id}"


def find_drawn(case_id: str) -> EvalCase | None:
    """Return the case that was drawn from a turn; None for a case of a file."""
    found = _DRAWN.fullmatch(case_id)
    return EvalCase(id=case_id, turn_id=TurnId(int(found[1]))) if found else None


def _read_evals(place: Path) -> dict[str, Any]:
    path = place / _FILE
    try:
        if path.is_symlink() or (path.exists() and path.stat().st_size > _MOST_BYTES):
            raise SkillBroken(f"{path} is a link, or larger than {_MOST_BYTES:,} bytes")
        found = json.loads(path.read_text()) if path.exists() else {"evals": []}
    except (OSError, ValueError, RecursionError) as error:
        raise SkillBroken(f"{path} can't be read as JSON: {error}") from error
    if not isinstance(found, dict) or not isinstance(found.get("evals"), list):
        raise SkillBroken(f'{path} must be an object with a list "evals"')
    return found


def _read_case(given: object, place: Path) -> EvalCase:
    """Parse a case. Raises `SkillBroken`."""
    where = place / _FILE
    if not isinstance(given, dict) or not isinstance(given.get("id"), int | str):
        raise SkillBroken(f'each case in {where} must be an object with an "id"')
    turn, prompt = given.get("turn"), given.get("prompt", "")
    if not isinstance(prompt, str) or (not prompt.strip() and type(turn) is not int):
        raise SkillBroken(f'case {given["id"]} in {where} needs a "prompt" or a "turn"')
    drawn = _DRAWN.fullmatch(str(given["id"]))
    if drawn and str(turn) != drawn[1]:
        raise SkillBroken(f'the id {given["id"]} in {where} names another turn than its "turn"')
    lists = [given.get(key, []) for key in ("checks", "assertions", "files")]
    if not all(isinstance(one, list) for one in lists):
        raise SkillBroken(
            f'"checks", "assertions" and "files" of case {given["id"]} in {where} must be lists'
        )
    checks, assertions, files = lists
    return EvalCase(
        id=str(given["id"]),
        prompt=prompt,
        turn_id=TurnId(turn) if type(turn) is int else None,
        expected=str(given.get("expected_output", "")),
        checks=tuple(_read_check(one, where) for one in checks),
        assertions=tuple(str(one) for one in assertions),
        files=tuple(str(one) for one in files),
    )


def find_pattern(pattern: str, text: str) -> bool:
    """Return whether a pattern is found in a text. Raises `ValueError` for an invalid pattern.

    Strangers' skills contain patterns, so RE2 searches: its time is linear in the text.
    """
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options).search(text) is not None
    except re2.error as error:
        raise ValueError(error.args[0].decode() if error.args else "it can't be read") from error


def _read_check(given: object, where: Path) -> Check:
    """Parse a check, such as {"kind": "contains", "value": "42"}. Raises `SkillBroken`."""
    kinds: tuple[CheckKind, ...] = get_args(CheckKind)
    found = given if isinstance(given, Mapping) else {}
    kind = next((one for one in kinds if one == found.get("kind")), None)
    if kind is None or "value" not in found:
        raise SkillBroken(
            f'each check in {where} needs a "value" and a "kind": one of {", ".join(kinds)}'
        )
    value = str(found["value"])
    if kind == "matches":
        if len(value) > _LONGEST_PATTERN:
            raise SkillBroken(f"{where} has a pattern over {_LONGEST_PATTERN} characters")
        try:
            find_pattern(value, "")
        except ValueError as error:
            raise SkillBroken(f"{where} has an invalid pattern {value[:60]!r}: {error}") from error
    return Check(kind=kind, value=value)
