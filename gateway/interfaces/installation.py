"""Finds out how this Talaria was installed, and the commands that upgrade and remove it."""

import json
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import unquote, urlsplit

_IMAGE = Path("/opt/talaria")
"""The environment of the container image; another one in a container is somebody's own."""
_CONTAINER = (Path("/.dockerenv"), Path("/run/.containerenv"))
_WHEEL = "Download the wheel of the newest release first; docs/always-on.md shows where."


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """A way in which Talaria was installed."""

    kind: str
    """What somebody would say: `a checkout in ~/talaria`, `pipx`."""
    upgrade: tuple[str, ...]
    remove: tuple[str, ...]
    is_here: bool = True
    """False if the commands run elsewhere: at the host of a container."""
    note: str = ""
    """What a person has to do before the upgrade."""


def find_installation(
    prefix: Path, origin: str, *, is_contained: bool, extras: Sequence[str] = ()
) -> Installation:
    """Tell the installation from the environment's folder and from the package's origin.

    `origin` is the package's `direct_url.json`, or "" if it came from a registry. pipx and uv
    remember the extras of a folder, but not those of a file.
    """
    source = json.loads(origin) if origin else {}
    folder = unquote(urlsplit(source.get("url", "")).path) if "dir_info" in source else ""
    place = shlex.quote(folder)
    pull = (f"git -C {place} pull",) if folder else ()
    if source.get("dir_info", {}).get("editable"):
        return Installation(
            kind=f"a checkout in {folder}",
            upgrade=(*pull, f"make -C {place} setup"),
            remove=(f"rm -rf {place}",),
        )
    if is_contained and prefix == _IMAGE:
        return Installation(
            kind="Docker",
            upgrade=("git pull", "docker compose up -d --build"),
            remove=("docker compose down",),
            is_here=False,
        )
    is_file = "archive_info" in source
    chosen = f"[{','.join(extras)}]" if extras else ""
    wheel = shlex.quote(f"WHEEL{chosen}")
    note = _WHEEL if is_file else ""
    for tool, middle, verb in (
        ("pipx", ("pipx", "venvs"), "pipx"),
        ("uv", ("uv", "tools"), "uv tool"),
    ):
        if prefix.parts[-3:-1] == middle:
            again = f"{verb} install --force {wheel}" if is_file else f"{verb} upgrade talaria"
            return Installation(
                kind=f"{tool} from {folder}" if folder else tool,
                upgrade=(*pull, again),
                remove=(f"{verb} uninstall talaria",),
                is_here=not is_file,
                note=note,
            )
    pip = f"{shlex.quote(sys.executable)} -m pip"
    package = wheel if is_file else shlex.quote(f"{folder or 'talaria'}{chosen}")
    return Installation(
        kind=f"pip in {prefix}",
        upgrade=(*pull, f"{pip} install --upgrade {package}"),
        remove=(f"{pip} uninstall talaria",),
        is_here=not is_file,
        note=note,
    )


def list_extras(requires: Sequence[str]) -> Iterator[str]:
    """Yield the extras of a package whose requirements are all installed."""
    needed: dict[str, list[str]] = {}
    for one in requires:
        if found := re.search(r"extra == ['\"]([\w-]+)", one):
            needed.setdefault(found[1], []).append(re.split(r"[^\w.-]", one, maxsplit=1)[0])
    for extra, names in needed.items():
        if all(map(_is_installed, names)):
            yield extra


def _is_installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


def find_own_installation() -> Installation:
    """Tell how the Talaria that runs was installed."""
    try:
        package = distribution("talaria")
    except PackageNotFoundError:
        origin, extras = "", []
    else:
        origin = package.read_text("direct_url.json") or ""
        extras = list(list_extras(package.requires or ()))
    is_contained = any(path.exists() for path in _CONTAINER)
    return find_installation(Path(sys.prefix), origin, is_contained=is_contained, extras=extras)
