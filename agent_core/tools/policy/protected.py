"""Find targets that no rule and no approval permits: Talaria's data, and other people's."""

import posixpath
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from urllib.parse import unquote

from agent_core.tools.policy.contract import Action
from agent_core.tools.policy.paths import ROOT

_TOKEN = re.compile(r"[^\s'\"`=,;()<>|&]+")
_ALTERNATIVE = re.compile(r"^\{([^{}]*)$|^([^{}]*)\}$")
"""The first or the last alternative of a brace expansion; a variable has both braces."""
_HOME = re.compile(r"^(?:~|\$HOME|\$\{HOME\})(?=/|$)")
_NAMES = ("state.db", "state.db-*", ".env", ".env.*")
_PROCESS = re.compile(
    r"/proc/(?!self(?:/|$))(?:[^/]+/)+(?:environ|mem|root|cwd|fd|maps|exe)(?:/|$)"
)
_SECRET_PLACES = ("/run/secrets", "/var/run/docker.sock", "/run/docker.sock")
_CLIMBING = re.compile(r"\.\./+([^/\s'\"]+)")
"""A step up, and then down into a folder with this name."""
_CHANGES = frozenset(("write", "delete"))
_GLOB = frozenset("*?[")


@dataclass(frozen=True, slots=True, kw_only=True)
class Protected:
    """The protected paths. `home` is Talaria's folder; `user_home` is its account's home."""

    home: str = ""
    user_home: str = ""

    def find(self, action: Action, slug: str, others: Collection[str] = ()) -> str:
        """Return an action's first protected target; "" if it has none.

        `slug` is the person's own workspace, and `others` are the workspaces of other people.
        """
        for found in _CLIMBING.finditer(action.target):
            if found[1] in others:
                return found[0]
        for path in self._paths(action.target):
            is_above = action.kind in _CHANGES and _is_above(path, self.home)
            if is_above or self._is_closed(path, slug):
                return path
        return ""

    def _paths(self, text: str) -> Iterator[str]:
        """Yield every path that a text names, as an absolute path if possible."""
        for found in _TOKEN.findall(text):
            token = _ALTERNATIVE.sub(r"\1\2", unquote(found))
            token = token.partition("://")[2] if token.startswith("file://") else token
            if "://" in token:
                continue
            for part in dict.fromkeys((token, *token.split(":"))):
                path = _HOME.sub(self.user_home or "/root", part.removeprefix("@"))
                if "/" in path:
                    yield _normalize(path)

    def _is_closed(self, path: str, slug: str) -> bool:
        if path == ROOT or path.startswith((f"{ROOT}/", "/tmp/")):  # noqa: S108 - never opened
            return False
        if self.home and slug and _is_below(path, f"{self.home}/workspaces/{slug}"):
            return False
        if self.home and _is_below(path, self.home):
            return True
        if any(fnmatchcase(posixpath.basename(path), name) for name in _NAMES):
            return True
        if _PROCESS.match(path) or any(_is_below(path, place) for place in _SECRET_PLACES):
            return True
        parts = path.split("/")
        if "workspaces" in parts[:-1]:
            owner = parts[parts.index("workspaces") + 1]
            return owner != slug
        return False


def _normalize(path: str) -> str:
    return "/" + posixpath.normpath(posixpath.join(ROOT, path)).lstrip("/")


def _is_below(path: str, folder: str) -> bool:
    """True for a folder and everything in it; a glob counts as everything that it may match."""
    parts, wanted = path.split("/"), folder.rstrip("/").split("/")
    if len(parts) < len(wanted):
        return False
    return all(
        fnmatchcase(name, part) if set(part) & _GLOB else part == name
        for part, name in zip(parts, wanted, strict=False)
    )


def _is_above(path: str, folder: str) -> bool:
    """True for a folder that holds `folder`, so that a change of it would change both."""
    if not folder:
        return path == "/"
    return path == "/" or folder.startswith(path.rstrip("/") + "/") or folder == path
