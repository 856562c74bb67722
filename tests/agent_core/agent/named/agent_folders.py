"""Folders of named agents."""

from pathlib import Path


def write(home: Path, name: str, table: str = "", soul: str = "You are {}.") -> Path:
    place = home / "agents" / name
    place.mkdir(parents=True)
    place.joinpath("agent.toml").write_text(table)
    place.joinpath("SOUL.md").write_text(soul.format(name))
    return place
