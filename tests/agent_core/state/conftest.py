"""A database in a folder of its own, and Python processes beside the test."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from agent_core.state.engine.database import Database
from tests.agent_core.state.schema import create_schema
from tests.databases import open_database

ROOT = Path(__file__).parents[3]

RunScript = Callable[..., subprocess.CompletedProcess[str]]
StartScript = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "state.db"


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """A bare connection to a migrated database, for queries one at a time."""
    connection = sqlite3.connect(tmp_path / "bare.db", isolation_level=None)
    create_schema(connection)
    yield connection
    connection.close()


@pytest.fixture
async def database(path: Path) -> AsyncIterator[Database]:
    database = await open_database(path)
    yield database
    await database.close()


def read_file(path: Path) -> bytes:
    """The bytes of a database that nobody has open."""
    return path.read_bytes()


def write_file(path: Path, content: bytes) -> None:
    """Put something in the place of a database that nobody has open."""
    path.write_bytes(content)


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


@pytest.fixture
def run_script() -> RunScript:
    """Run Python text with arguments to its end; stderr shows up in a failure."""

    def run(script: str, *arguments: object, prefix: tuple[str, ...] = ()) -> object:
        return subprocess.run(
            [*prefix, sys.executable, "-c", script, *map(str, arguments)],
            env=_environment(),
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )

    return run


@pytest.fixture
def start_script() -> StartScript:
    """Start Python text and go on; whoever starts it ends it."""

    def start(script: str, *arguments: object) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", script, *map(str, arguments)],
            env=_environment(),
            stdout=subprocess.PIPE,
            text=True,
        )

    return start
