"""The verbs of `talaria skills`: list skills, show and undo changes, archive and restore."""

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from difflib import unified_diff
from functools import partial
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from gateway.app.config_file import read_zone
from gateway.home import open_home
from gateway.interfaces import client
from gateway.interfaces.cli.skills.arguments import CHANGES, LOCAL
from gateway.interfaces.client import require_database
from gateway.interfaces.waiting import load_settings
from gateway.operations.curator_types import (
    CuratorPlan,
    RestoredSkills,
    RestoreSkills,
    RunCurator,
    ShowPlan,
    StartedRun,
)
from gateway.operations.skill_types import (
    ChangedSkill,
    ListSkills,
    PickSkill,
    RollBack,
    RolledBack,
    ShowSkillLog,
    SkillChangeRow,
    SkillDetail,
    SkillLine,
    SkillList,
    SkillLog,
    SkillVersion,
    SkillVersions,
    UndoneSkill,
    UndoSkillChange,
)
from gateway.operations.wire import load_known

_HASH = re.compile(r"[0-9a-f]{40,64}")
_HEADS = {
    "list": "Skills of {home}:",
    "show": "Reading the skill {name} ...",
    "log": "Changes of the skills of {home}:",
    "versions": "Versions of the skill {name}:",
}
_LONGEST = 100
"""Most characters of a description in a list."""


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Run the verb in the running gateway or on its database, and print the result."""
    verb = arguments.verb
    if verb == "check":
        print("Checking skills ...", flush=True)
    if verb in LOCAL:
        from gateway.interfaces.cli.skills.local import run_locally

        return run_locally(verb, arguments, environ)
    asked = vars(arguments)
    home = open_home(environ)
    if verb in _HEADS:
        require_database(home)
        print(_HEADS[verb].format(home=home, name=asked.get("name")), flush=True)
    if verb == "curate":
        print("\n".join(_curate(home, arguments, environ)))
        return 0
    kind, answer, describe = _VERBS.get(verb, (PickSkill, ChangedSkill, None))
    done = client.perform_typed(
        home,
        f"skills.{verb}",
        load_known(kind, asked),
        answer,
        load_settings=partial(load_settings, environ),
    )
    if describe is None:
        print(f"The skill {done.name} {CHANGES[verb][1].format(kept=done.kept)}")
    else:
        print("\n".join(describe(done, read_zone(environ, home))))
    return 0


def _list(answer: SkillList, zone: ZoneInfo) -> list[str]:
    width = max((len(one.name) for one in answer.skills), default=0)
    lines = [
        f"{one.name:<{width}}  {_origin(one):<10} {_describe_use(one, zone)}"
        f"{_describe_state(one, answer.wanted)}  {_report(one)}"
        for one in answer.skills
    ]
    return [*lines, *(f"In the archive: {name}" for name in answer.away)]


def _show(answer: SkillDetail, zone: ZoneInfo) -> list[str]:
    from agent_core.skills.catalog import show_name

    fields = (
        ("License", answer.license),
        ("Needs", answer.compatibility),
        ("Tools", " ".join(answer.allowed_tools)),
        *((one.name, one.value) for one in answer.metadata),
        ("Not known to Agent Skills", ", ".join(answer.unknown)),
    )
    wanted = [answer.name] if answer.is_wanted else []
    return [
        f"{answer.name}: {show_name(' '.join(answer.description.split()))}",
        f"{_origin(answer)}, {_describe_use(answer, zone)}{_describe_state(answer, wanted)}",
        *(show_name(f"{key}: {value}") for key, value in fields if value),
        "",
        *(show_name(line.expandtabs()) for line in answer.body.split("\n")),
    ]


def _curate(home: Path, arguments: argparse.Namespace, environ: Mapping[str, str]) -> list[str]:
    load = partial(load_settings, environ)
    if arguments.dry_run:
        found = client.perform_typed(
            home, "curator.plan", ShowPlan(), CuratorPlan, load_settings=load
        )
        return list(found.lines)
    if arguments.restore:
        back = client.perform_typed(
            home, "curator.restore", RestoreSkills(), RestoredSkills, load_settings=load
        )
        done = [f"restored: {name}" for name in back.restored]
        done += [f"archived, as the curator wrote it since: {name}" for name in back.archived]
        head = f"The skills are as they were at {back.snapshot} (UTC)."
        return [head, *done, "What they replaced is in skills/.archive/."]
    started = client.perform_typed(
        home, "curator.run", RunCurator(), StartedRun, load_settings=load
    )
    look = f"`talaria jobs show {started.job}` shows the result."
    return [f"The curator runs now, or when Talaria starts; {look}"]


def _log(answer: SkillLog, zone: ZoneInfo) -> list[str]:
    return [_describe_row(row, zone) for row in answer.changes] or ["No skill has changed yet."]


def _versions(answer: SkillVersions, zone: ZoneInfo) -> list[str]:
    return [_describe_version(one, zone) for one in answer.versions]


def _rollback(answer: RolledBack, zone: ZoneInfo) -> list[str]:
    scope = "with its files" if answer.kept else "only its SKILL.md changes"
    return [f"The skill {answer.name} is at the text of version {answer.number}, {scope}."]


def _describe_version(one: SkillVersion, zone: ZoneInfo) -> str:
    moment = datetime.fromtimestamp(one.at / 1000, UTC).astimezone(zone)
    state = "  current" if one.is_current else f"  files in the archive: {one.kept}"
    why = f": {_HASH.sub(lambda found: found[0][:12], one.evidence)}" if one.evidence else ""
    return (
        f"{one.number:>4}  {moment:%Y-%m-%d %H:%M:%S}  {one.actor:<8}"
        f" {_measure(one.text)}{why}{state if one.is_current or one.kept else ''}"
    )


def _undo(answer: UndoneSkill, zone: ZoneInfo) -> list[str]:
    derived = [_describe_row(row, zone) for row in answer.derived]
    lost = ["Only its SKILL.md was restored: its other files were not in the archive."]
    return [
        "Taken back:",
        _describe_row(answer.undone, zone),
        *(["Later changes:", *derived] if derived else []),
        "This row records it; `talaria skills undo` reverts it:",
        _describe_row(answer.row, zone),
        *(lost if answer.is_text_only else []),
    ]


def _describe_row(row: SkillChangeRow, zone: ZoneInfo) -> str:
    moment = datetime.fromtimestamp(row.at / 1000, UTC).astimezone(zone)
    undoes = f" (undoes {row.undoes})" if row.undoes else ""
    why = f": {row.evidence}" if row.evidence else ""
    return (
        f"{row.row:>6}  {moment:%Y-%m-%d %H:%M:%S}  {row.name:<16} {row.actor:<8}"
        f" {_describe_change(row.before, row.after)}{why}{undoes}"
    )


def _describe_change(before: str | None, after: str | None) -> str:
    if before == after:
        return "no new text"
    if before is None:
        return f"added ({_measure(after or '')})"
    if after is None:
        return f"removed ({_measure(before)})"
    rows = list(unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm=""))[2:]
    more, less = (sum(row.startswith(sign) for row in rows) for sign in "+-")
    return f"changed (+{more} -{less} lines)"


def _measure(text: str) -> str:
    from agent_core.skills.snapshots import is_whole

    return text[1:-1] if not is_whole(text) else f"{len(text.splitlines())} lines"


def _origin(one: SkillLine) -> str:
    return str(one.origin)


def _describe_use(one: SkillLine, zone: ZoneInfo) -> str:
    if one.last_used_at is None:
        return "never used"
    last = datetime.fromtimestamp(one.last_used_at / 1000, UTC).astimezone(zone)
    judged = one.successes + one.failures
    went = f", {one.successes:,} of {judged:,} went well" if judged else ""
    return f"used {one.uses:,} times, last {last:%Y-%m-%d %H:%M}{went}"


def _describe_state(one: SkillLine, wanted: Sequence[str]) -> str:
    reported = {"draft": ", a draft", "trial": ", on trial"}.get(one.state, "")
    if one.name in wanted:
        reported += ", used by a job"
    if one.is_pinned:
        reported += ", pinned"
    if one.idle_days:
        reported += f", stale: not used for {one.idle_days} days"
    return reported


def _report(one: SkillLine) -> str:
    from agent_core.skills.catalog import show_name

    if one.fault:
        return f"broken: {one.fault}"
    line = show_name(" ".join(one.description.split()))
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


_VERBS: Mapping[str, tuple[Any, Any, Callable[[Any, ZoneInfo], list[str]]]] = {
    "list": (ListSkills, SkillList, _list),
    "show": (PickSkill, SkillDetail, _show),
    "log": (ShowSkillLog, SkillLog, _log),
    "undo": (UndoSkillChange, UndoneSkill, _undo),
    "versions": (PickSkill, SkillVersions, _versions),
    "rollback": (RollBack, RolledBack, _rollback),
}
"""The request, the answer and its lines, by verb; the others change the state of a skill."""
