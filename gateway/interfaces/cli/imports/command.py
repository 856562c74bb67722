"""`talaria import`: shows the memory, skills and jobs of another assistant, and imports them."""

import argparse
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from agent_core.errors import SkillBroken, SkillConflict
from agent_core.skills.install.scan import scan_skill
from agent_core.skills.install.sources import open_source
from agent_core.skills.install.stage import clear_incoming, find_staged, stage_skill
from gateway.app.env_file import add_saved, change_env
from gateway.app.settings import Settings
from gateway.errors import Declined
from gateway.interfaces import client
from gateway.interfaces.cli.imports.arguments import HERMES, OPENCLAW
from gateway.interfaces.cli.imports.found import FoundHome
from gateway.interfaces.cli.imports.hermes import read_hermes
from gateway.interfaces.cli.imports.openclaw import read_openclaw
from gateway.interfaces.client import require_database
from gateway.interfaces.waiting import read_settings
from gateway.operations.import_types import FindHeir, Heir, Imported, ImportJob, ImportLine
from gateway.operations.skill_types import ChangedSkill, InstallSkill

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_Answer = TypeVar("_Answer", bound="DataclassInstance")
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


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Import, or only show what would be imported.

    Raises `StartError` and `Mistaken`, and then imports nothing.
    """
    found = _READERS[arguments.assistant](arguments.folder)
    if arguments.dry_run:
        _show(found, arguments.folder)
        return 0
    settings = read_settings(environ)
    require_database(settings.home)
    importer = _Importer(settings, environ, found, counts=Counter(), left=list(found.left))
    importer.import_all(arguments.person, takes_tokens=arguments.tokens)
    counts = importer.counts
    for kind, name in _NAMES.items():
        new, known = counts[kind, "new"], counts[kind, "known"]
        if new or known:
            print(f"{name}: {new} imported, {known} imported before")
    for sentence in importer.left:
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


@dataclass(frozen=True, slots=True)
class _Importer:
    """Imports a home, counts new and known entries, and explains in `left` what was left out."""

    settings: Settings
    environ: Mapping[str, str]
    found: FoundHome
    counts: Counter[tuple[str, str]]
    left: list[str]

    def import_all(self, wanted: str | None, *, takes_tokens: bool) -> None:
        """Import everything for a person, or for the owner. Raises `StartError`, `Mistaken`."""
        person = self._perform("imports.heir", FindHeir(person=wanted), Heir).person
        self._import_lines(person)
        self._import_jobs(person)
        for place in self.found.skills:
            self.counts["skill", self._import_skill(place)] += 1
        self._import_tokens(is_wanted=takes_tokens)

    def _import_lines(self, person: str) -> None:
        for line in self.found.lines:
            asked = ImportLine(
                person=person,
                target=line.target,
                text=line.text,
                origin=f"{self.found.name}: {line.origin}",
            )
            done = self._perform("imports.line", asked, Imported)
            place = done.place or line.target
            self.counts[place, done.state] += 1
            if done.state == "left":
                self.left.append(f"{line.origin}: {done.reason}.")
            elif place != line.target and done.state == "new":
                self.left.append(f"{line.origin} has no room there and is in the archive.")

    def _import_jobs(self, person: str) -> None:
        for job in self.found.jobs:
            asked = ImportJob(
                person=person,
                options=dict(job.options),
                origin=f"{self.found.name}: {job.origin}",
            )
            done = self._perform("imports.job", asked, Imported)
            self.counts["job", done.state] += 1
            if done.state == "left":
                self.left.append(f"The job {job.title!r}: {done.reason}")

    def _import_skill(self, place: Path) -> str:
        """Install a skill after a scan, unless the scan finds dangers; return "new", "known" or
        "left".
        """
        folder, _, _ = self.settings.skill_places
        token = ""
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            source, _ = open_source(str(place), "", place, self.environ, {})
            staged = stage_skill(folder, place.name, source.open_skill(place.name))
            token = staged.token
            report = scan_skill(find_staged(folder, token, staged.name))
            if any(one.severity == "danger" for one in report.findings):
                self.left.append(
                    f"The skill {place.name} looks dangerous;"
                    f" `talaria skills install {place}` shows why."
                )
                return "left"
            asked = InstallSkill(
                name=staged.name, token=token, address=source.address, tree=staged.tree
            )
            self._perform("skills.install", asked, ChangedSkill)
        except (SkillConflict, SkillBroken, Declined) as error:
            if "installed already" in str(error):
                return "known"
            self.left.append(f"The skill {place.name}: {error}")
            return "left"
        finally:
            if token:
                clear_incoming(folder, token)
        return "new"

    def _import_tokens(self, *, is_wanted: bool) -> None:
        """Put tokens into .env if the user agrees; never replaces a token that is set."""
        known, new = add_saved(self.environ, self.settings.home), {}
        for name, value in self.found.tokens.items():
            if not known.get(name):
                new[name] = value
            elif known[name] == value:
                self.counts["token", "known"] += 1
            else:
                self.left.append(f"{name}: Talaria has another one already.")
        if not new:
            return
        names = ", ".join(new)
        if not is_wanted and not (sys.stdin.isatty() and _confirm(names)):
            self.left.extend(f"{name}: --tokens puts it into Talaria's .env." for name in new)
            return
        change_env(self.settings.home, new)
        self.counts["token", "new"] = len(new)
        print(
            f"Stop {self.found.name} before you start Talaria: a bot answers from one place only."
        )

    def _perform(
        self, operation: str, asked: "DataclassInstance", answer: type[_Answer]
    ) -> _Answer:
        settings = self.settings
        return client.perform_typed(
            settings.home, operation, asked, answer, load_settings=lambda: settings
        )


def _confirm(names: str) -> bool:
    return input(f"Put {names} into Talaria's .env? [y/N]: ").strip().lower() in ("y", "yes")
