"""`talaria skills install` and `scan`: show what a skill from elsewhere contains, and ask."""

import argparse
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from agent_core.errors import SkillBroken, SkillConflict
from agent_core.skills.catalog import SkillCatalog, read_skill_folder, show_name
from agent_core.skills.install.contract import Finding, ScanReport, StagedSkill
from agent_core.skills.install.scan import scan_skill
from agent_core.skills.install.sources import open_source
from agent_core.skills.install.stage import clear_incoming, find_staged, stage_skill
from gateway.app.named_backends import list_used
from gateway.app.settings import Settings
from gateway.errors import Declined, Mistaken
from gateway.interfaces import client
from gateway.interfaces.parser import read_path
from gateway.operations.skill_types import ChangedSkill, InstallSkill

_SIGNS = {"danger": "DANGER", "caution": "caution", "note": "note"}
_MOST_NAMED = 50
_MOST_SHOWN = 60


def install(arguments: argparse.Namespace, settings: Settings, environ: Mapping[str, str]) -> int:
    """Stage a skill, show its scan, and install it after a yes. Raises `Declined`."""
    folder, _, _ = settings.skill_places
    with _staged(arguments, settings, environ) as staged:
        report = _show(settings, staged)
        dangers = [one for one in report.findings if one.severity == "danger"]
        if arguments.yes and dangers:
            raise Declined("The scan found dangers, so --yes is not enough; leave it out.")
        has_scripts = (find_staged(folder, staged.token, staged.name) / "scripts").is_dir()
        if not arguments.yes and not _confirm(staged.name, has_scripts=has_scripts):
            raise Declined("Nothing was installed.")
        asked = InstallSkill(
            name=staged.name,
            token=staged.token,
            address=staged.address,
            commit=staged.commit,
            tree=staged.tree,
            agrees=True,
        )
        client.perform_typed(
            settings.home, "skills.install", asked, ChangedSkill, load_settings=lambda: settings
        )
    print(f"The skill {staged.name} is installed; new conversations list it.")
    print("Your yes holds for these files; after a change, its scripts wait for `skills agree`.")
    return 0


def scan(arguments: argparse.Namespace, settings: Settings, environ: Mapping[str, str]) -> int:
    """Show the scan of a skill, and install nothing. Raises `Declined`."""
    with _staged(arguments, settings, environ) as staged:
        report = _show(settings, staged)
    return 1 if any(one.severity == "danger" for one in report.findings) else 0


@contextmanager
def _staged(
    arguments: argparse.Namespace, settings: Settings, environ: Mapping[str, str]
) -> Iterator[StagedSkill]:
    """Yield a staged copy of the skill in the arguments. Deletes the copy at the end, unless it was
    moved.
    """
    folder, _, _ = settings.skill_places
    with TemporaryDirectory(prefix="talaria-skill-") as scratch:
        try:
            source, name = open_source(
                _expand(arguments.source),
                arguments.ref,
                Path(scratch),
                environ,
                _read_hubs(settings),
            )
            name = arguments.skill or name or _choose(source.list_skills(), source.address)
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            staged = stage_skill(folder, name, source.open_skill(name))
        except (SkillConflict, SkillBroken) as error:
            raise Declined(str(error)) from error
        except OSError as error:
            raise Declined(f"The skill can't be copied: {error.strerror or error}.") from error
    try:
        yield staged
    finally:
        clear_incoming(folder, staged.token)


def _choose(names: Any, address: str) -> str:
    """Return the only skill. Raises `Declined` if there are none, or several."""
    if not names:
        raise Declined(f"There is no skill in {address}.")
    if len(names) > 1:
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        shown = ", ".join(names[:_MOST_NAMED])
        raise Declined(f"{address} has several skills; add --skill NAME: {shown}{more}.")
    return str(names[0])


def _read_hubs(settings: Settings) -> Mapping[str, str]:
    """Return the addresses of the hubs, by name. Raises `Mistaken`."""
    found = {}
    for line in settings.skills.hubs:
        name, _, address = line.partition("=")
        if not name or not address:
            raise Mistaken(f"The hub {line} of `skills.hubs` must read NAME=ADDRESS.")
        found[name] = _expand(address)
    return found


def _expand(address: str) -> str:
    """Replace the `~` in front of a folder; an address of Git has none. Raises `Mistaken`."""
    return str(read_path(address)) if address.startswith("~") else address


def _show(settings: Settings, staged: StagedSkill) -> ScanReport:
    """Print a skill and its scan. Raises `Declined`."""
    catalog = SkillCatalog(*settings.skill_places, backends=list_used(settings.tools))
    place = find_staged(catalog.folder, staged.token, staged.name)
    try:
        skill, report = read_skill_folder(place), scan_skill(place)
    except SkillBroken as error:
        raise Declined(str(error)) from error
    commit = f" at {staged.commit[:12]}" if staged.commit else ""
    print(f"{staged.name}: {show_name(' '.join(skill.description.split()))}")
    print(f"From {staged.address}{commit}")
    licence = show_name(report.licence) or "none"
    files = "1 file" if report.files == 1 else f"{report.files:,} files"
    print(f"{files}, {report.size:,} bytes; licence: {licence}")
    if fault := catalog.find_backend_fault(skill):
        print(f"Its commands will be refused: {fault}.")
    elif skill.backend:
        print(f"It works in the backend {skill.backend}, for people who may use it.")
    if skill.note:
        print(f"Breaks a rule of Agent Skills: {show_name(skill.note)}")
    for one in report.findings[:_MOST_SHOWN]:
        print(_describe(one))
    if (more := len(report.findings) - _MOST_SHOWN) > 0:
        print(f"  and {more} more")
    if not report.findings:
        print("The scan found nothing. Read the skill all the same: a scan is no proof.")
    return report


def _describe(one: Finding) -> str:
    where = f"{one.path}:{one.line}" if one.line else one.path
    count = f" ({one.count} places)" if one.count > 1 else ""
    return f"  {_SIGNS[one.severity]:<8}{one.kind}: {one.what}, {where}{count}"


def _confirm(name: str, *, has_scripts: bool) -> bool:
    """Ask for a yes; return whether it was given. Raises `Declined` without a terminal."""
    if not sys.stdin.isatty():
        raise Declined("A skill needs your approval. Run this in a terminal, or add --yes.")
    wanted = f"{name}, and let the assistant run its scripts" if has_scripts else name
    return input(f"Install {wanted}? [y/N] ").strip().lower() in ("y", "yes")
