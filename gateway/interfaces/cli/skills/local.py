"""The verbs of `talaria skills` that read folders themselves: check, agree, install, eval."""

import argparse
from collections.abc import Mapping
from pathlib import Path

from agent_core.errors import SkillBroken, SkillConflict, SkillMissing
from agent_core.skills.agreements import agree
from agent_core.skills.catalog import (
    SKILL_FILE,
    SkillCatalog,
    list_skill_folders,
    read_skill_folder,
)
from agent_core.skills.parser import Skill
from agent_core.skills.tools.scripts import TOOLS
from gateway.app.named_backends import list_used
from gateway.app.settings import Settings
from gateway.commands.catalog import OWN_NAMES
from gateway.errors import Declined, Mistaken
from gateway.interfaces.cli.skills import evaluate, install
from gateway.interfaces.waiting import read_settings

_LOCAL = {"eval": evaluate.evaluate, "install": install.install, "scan": install.scan}


def run_locally(verb: str, arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Run a verb that needs no gateway, and print the result: `check`, `agree` or one of `_LOCAL`.

    Raises `Declined` and `Mistaken`.
    """
    settings = read_settings(environ)
    if verb == "check":
        return _check(arguments.path) if arguments.path else _check_all(settings)
    if verb == "agree":
        return _agree(SkillCatalog(*settings.skill_places), arguments.name)
    return _LOCAL[verb](arguments, settings, environ)


def _agree(catalog: SkillCatalog, name: str) -> int:
    """Agree to a skill; the gateway uses it from the next session on."""
    try:
        entry = catalog.find(name)
        if entry.skill is None or entry.place is None:
            raise Declined(entry.fault)
        offers = entry.origin == "home" and entry.skill.metadata.get(TOOLS)
        if entry.origin != "project" and not offers:
            raise Declined(
                f"The skill {name} needs no agreement: it isn't in the working folder, and offers"
                " no script as a tool."
            )
        agree(catalog.folder, entry.place)
    except (SkillMissing, SkillBroken, SkillConflict) as error:
        raise Declined(str(error)) from error
    print(f"The skill {name} is used from now on, until one of its files changes.")
    return 0


def _check_all(settings: Settings) -> int:
    """Check every skill that could be used, without a gateway, and name the hidden skills."""
    catalog = SkillCatalog(*settings.skill_places, backends=list_used(settings.tools))
    try:
        entries = [one for one in catalog.list_all() if one.origin != "bundled" or one.fault]
        collisions = catalog.list_collisions()
    except SkillBroken as error:
        raise Declined(str(error)) from error
    if not entries and not collisions:
        raise Declined(f"There are no skills in {catalog.folder}.")
    for one in entries:
        state = f"broken: {one.fault}" if one.skill is None else _describe_good(one.skill)
        waits = "" if one.is_trusted else "; not used: `talaria skills agree` uses it"
        print(f"{one.name}: {state}{waits}")
        if one.skill and (fault := catalog.find_backend_fault(one.skill)):
            print(f"warning: {fault}")
    for collision in collisions:
        print(f"warning: {collision.hidden} is hidden by {collision.used}")
    for name in sorted(OWN_NAMES & {one.name for one in entries}):
        print(f"warning: /{name} is a command of Talaria; the skill {name} has none")
    return 1 if any(one.fault for one in entries) else 0


def _check(path: Path) -> int:
    """Check skills in a folder, without a gateway."""
    place = path.parent if path.name == SKILL_FILE else path
    if not place.is_dir():
        raise Mistaken(f"{place} is not a folder of skills.")
    try:
        places = [place] if (place / SKILL_FILE).exists() else list_skill_folders(place)
    except SkillBroken as error:
        raise Declined(str(error)) from error
    if not places:
        raise Declined(f"There are no skills in {place}.")
    is_broken = False
    for one in places:
        try:
            print(f"{one.name}: {_describe_good(read_skill_folder(one))}")
        except SkillBroken as error:
            is_broken = True
            print(f"{one.name}: broken: {error}")
    return 1 if is_broken else 0


def _describe_good(skill: Skill) -> str:
    note = f"; breaks a rule of Agent Skills: {skill.note}" if skill.note else ""
    unknown = ", ".join(skill.unknown)
    return f"good{note}{f'; fields unknown to Agent Skills: {unknown}' if unknown else ''}"
