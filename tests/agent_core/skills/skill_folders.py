"""Folders of skills."""

from pathlib import Path

from agent_core.skills.catalog import SKILL_FILE


def write_skill(
    folder: Path, name: str, body: str = "Do it.", described: str | None = None
) -> Path:
    """A skill in a folder; without a description, it is broken."""
    place = folder / name
    place.mkdir(parents=True)
    write_text(place, name, body, described)
    return place


def write_text(place: Path, called: str, body: str, described: str | None = None) -> str:
    """Let a skill in a folder read so; gives the whole text."""
    about = f"Does {called}." if described is None else described
    text = f"---\nname: {called}\ndescription: {about}\n---\n{body}\n"
    (place / SKILL_FILE).write_text(text)
    return text
