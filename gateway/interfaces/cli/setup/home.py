"""The home directory that a setup writes: its files, and its owner."""

import asyncio
import sys
from collections.abc import Mapping
from itertools import chain, count
from pathlib import Path

from agent_core.agent.prompt.persona import make_soul
from agent_core.state.backups.switching import finish_switch
from agent_core.state.engine.database import Database
from gateway.app.config_file import change_config
from gateway.app.env_file import add_saved, change_env
from gateway.app.settings import load
from gateway.errors import StartError
from gateway.home import CONFIG_NAME, DATABASE, find_home, make_home
from gateway.interfaces.client import is_served, perform
from gateway.interfaces.dialogue import confirm
from gateway.interfaces.model_connection import KEY

_SOUL, _OLD_SOUL = "SOUL.md", "SOUL.md.old"


class SetupHome:
    """The home directory that a setup writes.

    Every method raises `StartError` if a file can't be written. `environ` has the process's
    variables, those of `.env`, and those that this setup has saved.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.path = find_home(environ)
        self.environ = add_saved(environ, self.path)
        self._process = dict(environ)
        make_home(self.path)
        finish_switch(self.path, DATABASE)

    def is_running(self) -> bool:
        """True if a gateway serves the home."""
        return is_served(self.path)

    def save_secrets(self, values: Mapping[str, str]) -> list[str]:
        """Save keys and tokens in `.env`; return those that the environment overrides."""
        change_env(self.path, values)
        self.environ.update(values)
        return [one for one in values if self._process.get(one, values[one]) != values[one]]

    def give_up_key(self, server: str) -> dict[str, str]:
        """Ask whether the present key may go, and return the change that removes it.

        It is for another server than `server`, which would get it. Raises `StartError` without a
        yes.
        """
        if self._process.get(KEY):
            raise StartError(
                f"{KEY} in the environment is for another server, and {server} would get it."
                " Remove it there first."
            )
        question = f"The key in .env is for another server. Remove it, so that {server} gets none?"
        is_asked = sys.stdin.isatty() and sys.stdout.isatty()
        if not (is_asked and confirm(question, default=False)):
            raise StartError(
                f"{KEY} in .env is for another server, and {server} would get it. Nothing is"
                " changed; remove it there first."
            )
        return {KEY: ""}

    def save_settings(self, table: str, values: Mapping[str, str | bool | int]) -> None:
        """Save settings in a table of `config.toml`."""
        change_config(self.path / CONFIG_NAME, {table: values})

    def has_soul(self) -> bool:
        """True if the assistant already has a SOUL.md."""
        return (self.path / _SOUL).exists()

    def save_soul(self, name: str, voice: str) -> None:
        """Write SOUL.md; keep an earlier one as `SOUL.md.old`, or `SOUL.md.old2` and so on."""
        path, text = self.path / _SOUL, make_soul(name, voice)
        try:
            if path.exists():
                if path.read_bytes() == text.encode():
                    return
                path.replace(self._find_free(_OLD_SOUL))
            path.write_text(text, "utf-8")
        except OSError as error:
            raise StartError(f"{path} can't be written: {error.strerror}.") from error

    def _find_free(self, name: str) -> Path:
        """Return a path in the home that does not exist yet, by adding a number to a name."""
        names = chain([name], (f"{name}{number}" for number in count(2)))
        return next(path for one in names if not (path := self.path / one).exists())

    def name_owner(self, name: str) -> None:
        """Save the owner's name. Raises `StoreError` and `Declined`, too."""
        if not (self.path / DATABASE).exists():
            asyncio.run(_create(self.path / DATABASE))
        perform(
            self.path, "people.name_owner", {"name": name}, load_settings=lambda: load(self.environ)
        )


async def _create(path: Path) -> None:
    database = await Database.open(path)
    await database.close()
