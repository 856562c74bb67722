"""The files with the tokens of people's accounts, and how each of them ends.

A row in `mcp_accounts` names each file. A file that no row names is nobody's: its tokens are
revoked at their server, and it is deleted. So ending a sign-in, erasing a person and removing a
server only delete rows, and a crash in between leaves nothing behind.
"""

import asyncio
import json
import secrets
import shutil
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_core.tools.mcp.contract import AccountFiles, McpServer

_CLIENT = "client"
_ENDING = ".json"

FindServer = Callable[[str, str], McpServer]
"""Returns the server with a name and an address, as it is or was configured."""
Revoke = Callable[[McpServer, Mapping[str, Any]], Awaitable[None]]
"""Revokes the tokens of a file at their server, as far as that works. Takes a limited time."""


def make_key() -> str:
    """Return a new name of a file, which nobody can guess and no one else ever has."""
    return secrets.token_hex(16)


def read_tokens(path: Path) -> dict[str, Any]:
    """Read a file; a missing or damaged one is empty, and a sign-in replaces it. Blocks."""
    try:
        found = json.loads(path.read_text())
    except (FileNotFoundError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def write_tokens(path: Path, content: dict[str, Any]) -> None:
    """Replace a file that only this user can read. Blocks."""
    for folder in (path.parent.parent, path.parent):
        folder.mkdir(mode=0o700, exist_ok=True)
    draft = path.with_suffix(".part")
    draft.unlink(missing_ok=True)
    draft.touch(mode=0o600)
    draft.write_text(json.dumps(content))
    draft.replace(path)


@dataclass(frozen=True, slots=True)
class TokenFolder:
    """The folder with a folder for each server that people sign in to."""

    path: Path

    def name_files(self, server: str, key: str) -> AccountFiles:
        """Return the files of an account."""
        return AccountFiles(
            tokens=self.path / server / f"{key}{_ENDING}",
            client=self.path / server / f"{_CLIENT}{_ENDING}",
        )

    def _name_former(self, server: str) -> Path:
        """Return the file in which earlier versions kept the one account of a server."""
        return self.path / f"{server}{_ENDING}"

    def list_loose(self, known: Collection[str]) -> list[tuple[str, Path]]:
        """List the servers and the files of tokens that no key names. Blocks."""
        return [
            (path.parent.name, path)
            for path in sorted(self.path.glob(f"*/*{_ENDING}"))
            if path.stem not in known and path.stem != _CLIENT
        ]

    def list_moved(self, server: McpServer) -> list[str]:
        """List the keys of tokens that another address of a server gave. Blocks."""
        found = {
            path.stem: read_tokens(path).get("url")
            for path in sorted((self.path / server.name).glob(f"*{_ENDING}"))
            if path.stem != _CLIENT
        }
        return [key for key, url in found.items() if url and url != server.url]

    def has_former(self, server: str) -> bool:
        """Return whether an earlier version left a sign-in at a server. Blocks."""
        return self._name_former(server).exists()

    def take_over(self, server: McpServer, key: str) -> None:
        """Make the file of an earlier version that of an account, and repeat it safely. Blocks."""
        former, files = self._name_former(server.name), self.name_files(server.name, key)
        found = read_tokens(former)
        if found.get("client"):
            write_tokens(files.client, {"url": found.get("url"), "client": found["client"]})
        if found.get("tokens") and not files.tokens.exists():
            write_tokens(files.tokens, found)
        former.unlink(missing_ok=True)

    def remove(self, server: str) -> None:
        """Delete everything about a server that was removed. Blocks."""
        shutil.rmtree(self.path / server, ignore_errors=True)
        self._name_former(server).unlink(missing_ok=True)

    async def clear(
        self, list_keys: Callable[[], Awaitable[Collection[str]]], find: FindServer, revoke: Revoke
    ) -> None:
        """Revoke and delete every file that no row names. Raises `StoreError` and `OSError`."""
        # A row is older than its file, so keys that are read after the files name all in use.
        found = await asyncio.to_thread(self.list_loose, ())
        known = await list_keys() if found else ()
        for name, path in found:
            if path.stem in known:
                continue
            content = await asyncio.to_thread(read_tokens, path)
            if content.get("tokens"):
                await revoke(find(name, str(content.get("url", ""))), content)
            for one in (path, path.with_suffix(".lock"), path.with_suffix(".part")):
                await asyncio.to_thread(one.unlink, missing_ok=True)
