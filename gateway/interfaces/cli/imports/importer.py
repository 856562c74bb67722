"""Shows what another assistant knows, and takes it over entry by entry."""

import argparse
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agent_core.errors import SkillBroken, SkillConflict
from agent_core.skills.install import (
    clear_incoming,
    find_staged,
    open_source,
    scan_skill,
    stage_skill,
)
from gateway.config import DATABASE, Settings, add_saved, change_env
from gateway.errors import Declined, StartError
from gateway.interfaces import operations
from gateway.interfaces.cli.imports.arguments import HERMES, OPENCLAW
from gateway.interfaces.cli.imports.found import FoundHome
from gateway.interfaces.cli.imports.hermes import read_hermes
from gateway.interfaces.cli.imports.openclaw import read_openclaw
from gateway.interfaces.waiting import read_settings

_READERS = {HERMES: read_hermes, OPENCLAW: read_openclaw}
_NAMES = {
    "memory": "memory entries",
    "user": "entries about you",
    "soul": "SOUL.md",
    "archive": "notes for the archive",
    "job": "jobs",
    "skill": "skills",
    "token": "tokens",
}


def import_home(arguments: argparse.Namespace, environ: Mapping[str, str], folder: Path) -> int:
    """Import, or only show. Raises `StartError` and `Mistaken`; nothing is imported then."""
    found = _READERS[arguments.assistant](folder)
    if arguments.dry_run:
        _show(found, folder)
        return 0
    settings = read_settings(environ)
    if not (settings.home / DATABASE).exists():
        raise StartError(f"{settings.home} has no database yet; `talaria run` creates it.")
    person = _perform(settings, "imports.person", person=arguments.person)["person"]
    counts: Counter[tuple[str, str]] = Counter()
    left = list(found.left)
    _import_lines(settings, person, found, counts, left)
    _import_jobs(settings, person, found, counts, left)
    for place in found.skills:
        counts["skill", _import_skill(settings, environ, place, left)] += 1
    _import_tokens(settings, environ, found, counts, is_wanted=arguments.tokens)
    for kind, name in _NAMES.items():
        new, known = counts[kind, "new"], counts[kind, "known"]
        if new or known:
            print(f"{name}: {new} imported, {known} imported before")
    for sentence in left:
        print(f"Left out: {sentence}")
    if counts["soul", "new"]:
        print("SOUL.md now has the imported character.")
    if any(state == "new" for _, state in counts):
        print("`talaria memory log` shows each entry with its origin, and `talaria memory undo`")
        print("takes one back.")
    return 0


def _show(found: FoundHome, folder: Path) -> None:
    for line in found.lines:
        head = line.text.splitlines()[0]
        target = "SOUL.md, which it replaces" if line.target == "soul" else line.target
        print(f"{target}: {head[:100]} ({line.origin})")
    for job in found.jobs:
        print(f"job: {job.title} ({job.origin})")
    for place in found.skills:
        print(f"skill: {place.name} ({place.relative_to(folder)})")
    for name in found.tokens:
        print(f"token: {name} (not shown)")
    for sentence in found.left:
        print(f"Left out: {sentence}")
    print("Nothing was imported. Leave out --dry-run to import it.")


def _import_lines(
    settings: Settings,
    person: str,
    found: FoundHome,
    counts: Counter[tuple[str, str]],
    left: list[str],
) -> None:
    for line in found.lines:
        done = _perform(
            settings,
            "imports.line",
            person=person,
            target=line.target,
            text=line.text,
            origin=f"{found.name}: {line.origin}",
        )
        place = done.get("place", line.target)
        counts[place, done["state"]] += 1
        if done["state"] == "left":
            left.append(f"{line.origin}: {done['reason']}.")
        elif place != line.target and done["state"] == "new":
            left.append(f"{line.origin} has no room there and is in the archive.")


def _import_jobs(
    settings: Settings,
    person: str,
    found: FoundHome,
    counts: Counter[tuple[str, str]],
    left: list[str],
) -> None:
    for job in found.jobs:
        done = _perform(
            settings,
            "imports.job",
            person=person,
            options=dict(job.options),
            origin=f"{found.name}: {job.origin}",
        )
        counts["job", done["state"]] += 1
        if done["state"] == "left":
            left.append(f"The job {job.title!r}: {done['reason']}")


def _import_skill(
    settings: Settings, environ: Mapping[str, str], place: Path, left: list[str]
) -> str:
    """Install a skill like one from elsewhere; one with dangers is left out. Return its state."""
    folder, _, _ = settings.skill_places
    token = ""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        source, _ = open_source(str(place), "", place, environ, {})
        staged = stage_skill(folder, place.name, source.open_skill(place.name))
        token = staged.token
        report = scan_skill(find_staged(folder, token, staged.name))
        if any(one.severity == "danger" for one in report.findings):
            left.append(
                f"The skill {place.name} looks dangerous;"
                f" `talaria skills install {place}` shows why."
            )
            return "left"
        operations.perform(
            settings.home,
            "skills.install",
            {
                "name": staged.name,
                "token": token,
                "address": source.address,
                "commit": "",
                "tree": staged.tree,
            },
            load_settings=lambda: settings,
        )
    except (SkillConflict, SkillBroken, Declined) as error:
        if "installed already" in str(error):
            return "known"
        left.append(f"The skill {place.name}: {error}")
        return "left"
    finally:
        if token:
            clear_incoming(folder, token)
    return "new"


def _import_tokens(
    settings: Settings,
    environ: Mapping[str, str],
    found: FoundHome,
    counts: Counter[tuple[str, str]],
    *,
    is_wanted: bool,
) -> None:
    """Put tokens into .env after a yes; one that is set stays."""
    known = add_saved(environ, settings.home)
    new = {name: value for name, value in found.tokens.items() if not known.get(name)}
    counts["token", "known"] = len(found.tokens) - len(new)
    if not new:
        return
    names = ", ".join(new)
    if not is_wanted and not (sys.stdin.isatty() and _confirm(names)):
        print(f"Not imported without --tokens: {names}")
        return
    change_env(settings.home, new)
    counts["token", "new"] = len(new)
    print(f"Stop {found.name} before you start Talaria: a bot answers from one place only.")


def _confirm(names: str) -> bool:
    return input(f"Put {names} into Talaria's .env? [y/N]: ").strip().lower() in ("y", "yes")


def _perform(settings: Settings, operation: str, **asked: Any) -> Mapping[str, Any]:
    return operations.perform(settings.home, operation, asked, load_settings=lambda: settings)
