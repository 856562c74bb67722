"""Read a transcript: the entries of memory with later changes, and the time; pure."""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime

from agent_core.models.arguments import read_object
from agent_core.transcript import Message, TextPart, ToolCallPart, ToolResultPart

Notes = dict[str, list[str]]
"""The entries of a memory, by target."""

_SECTION = re.compile(r"^# Memory of this (?:person|room)\b", re.MULTILINE)
"""In a group, the room's notes are the only ones."""
_HEADING = re.compile(r"^## (?P<name>MEMORY|USER)\.md\b")
_CHANGED = re.compile(
    r"^(?P<what>New in|Gone from) (?P<target>memory|user): (?P<texts>\[.*\])$", re.MULTILINE
)
_FORGOT = re.compile(r"^Deleted for good from your memory: ", re.MULTILINE)
"""A line of the facts after `/forget`; see `agent.prompt.visibility`."""
_TARGETS = {"MEMORY": "memory", "USER": "user"}

_NOW = re.compile(r"^Now: \w+ (\d{4}-\d\d-\d\d \d\d:\d\d),", re.MULTILINE)
"""The line of the facts that tells the time; see `agent.prompt.message_facts`."""


def read_notes(system: str, messages: Sequence[Message]) -> Notes:
    """Return the current entries by target.

    They are the prompt's entries, with all later changes: of the memory tool, and those that the
    facts report.
    """
    notes = _read_prompt(system)
    prompted = {target: [*entries] for target, entries in notes.items()}
    results = {
        part.call_id: part
        for message in messages
        for part in message.parts
        if isinstance(part, ToolResultPart)
    }
    for message in messages:
        if _tells_forgotten(message):  # the prompt is a new one, and has what is left
            notes = {target: [*entries] for target, entries in prompted.items()}
        _apply_facts(notes, message)
        for call in message.calls:
            result = results.get(call.call_id)
            if call.name == "memory" and result is not None and not result.is_error:
                _apply(notes, call)
    return notes


def read_clock(message: Message) -> datetime | None:
    """Return the time in a message's facts, on the person's clock."""
    for part in message.parts:
        found = _NOW.search(part.text) if isinstance(part, TextPart) and part.is_fact else None
        if found:
            return datetime.fromisoformat(found[1])
    return None


def find_entries(words: str, notes: Notes) -> list[tuple[str, str]]:
    """Return the target and the text of each entry that contains the words, in any case."""
    wanted = words.casefold()
    return [
        (target, entry)
        for target, entries in notes.items()
        for entry in entries
        if wanted in entry.casefold()
    ]


def read_arguments(call: ToolCallPart) -> Mapping[str, str]:
    """Return the string arguments of a call; empty if its JSON is not an object."""
    found = read_object(call.arguments) or {}
    return {key: value for key, value in found.items() if isinstance(value, str)}


def _read_prompt(system: str) -> Notes:
    """Return the lists in the memory section, which ends at the next heading of its level."""
    notes: Notes = {"memory": [], "user": []}
    entries: list[str] | None = None
    section = _SECTION.search(system)
    for line in system[section.end() :].splitlines() if section else ():
        heading = _HEADING.match(line)
        if heading:
            entries = notes[_TARGETS[heading["name"]]]
        elif line.startswith("# "):
            break
        elif entries is not None and line.startswith("- "):
            entries.append(line[2:])
        elif entries and line.startswith("  "):
            entries[-1] += "\n" + line[2:]
    return notes


def _apply_facts(notes: Notes, message: Message) -> None:
    facts = (one.text for one in message.parts if isinstance(one, TextPart) and one.is_fact)
    for found in _CHANGED.finditer("\n".join(facts)):
        entries = notes[found["target"]]
        for text in _load_texts(found["texts"]):
            if found["what"] == "Gone from":
                entries[:] = [entry for entry in entries if entry != text]
            elif text not in entries:
                entries.append(text)


def _load_texts(listed: str) -> list[str]:
    """Read the entries of a line; none of one from which `/forget` took words."""
    try:
        return [str(text) for text in json.loads(listed)]
    except ValueError:
        return []


def _tells_forgotten(message: Message) -> bool:
    return any(
        _FORGOT.search(one.text)
        for one in message.parts
        if isinstance(one, TextPart) and one.is_fact
    )


def _apply(notes: Notes, call: ToolCallPart) -> None:
    given = read_arguments(call)
    entries = notes.get(given.get("target", ""))
    if entries is None:
        return
    old, text = given.get("old", ""), given.get("text", "")
    if given.get("action") == "add":
        if text not in entries:
            entries.append(text)
        return
    for place, entry in enumerate(entries):
        if old and old in entry:
            entries[place : place + 1] = [text] if given.get("action") == "replace" else []
            return
