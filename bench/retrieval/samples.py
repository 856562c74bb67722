"""Conversations with questions about them: their form, and readers of files."""

import gzip
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open domain", 4: "single-hop", 5: "adversarial"}
"""LoCoMo's numbers."""
_TURN = re.compile(r"D:?(\d+):(\d+)")
_SESSION = re.compile(r"session_(\d+)")
_DATE = re.compile(r"(\d+):(\d+) (am|pm) on (\d+) (\w+),? (\d{4})")
_SECOND = "%d.%m.%Y, %H:%M:%S"
"""REALTALK's form of a time."""
_MINUTE_MS = 60_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One message. `at` is in milliseconds since the epoch; `session` changes between sessions."""

    id: str
    session: str
    speaker: str
    role: Literal["user", "assistant"]
    at: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question with the ids of the messages that answer it."""

    text: str
    evidence: frozenset[str]
    category: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One conversation of a person with the assistant, or of several people in a room."""

    name: str
    is_room: bool
    messages: Sequence[Said]
    questions: Sequence[Question]


def read_samples(file: Path, *, with_captions: bool = True) -> list[Sample]:
    """Read LoCoMo's JSON, one chat of REALTALK, or JSON lines such as BEAM's; gzip is fine.

    Evidence that names no message is left out, and so is a question without any.
    """
    data = file.read_bytes()
    text = (gzip.decompress(data) if file.suffix == ".gz" else data).decode()
    if ".jsonl" in file.suffixes:
        return [_read_line(json.loads(line)) for line in text.splitlines()]
    found = json.loads(text)
    if isinstance(found, dict):
        found = [{"conversation": found, "qa": found["qa"], "sample_id": file.stem}]
    return [_read_locomo(one, with_captions=with_captions) for one in found]


def _read_line(fields: Mapping[str, Any]) -> Sample:
    messages = [
        Said(
            id=one["id"],
            session=str(one["session"]),
            speaker=one["speaker"],
            role="user" if one["role"] == "user" else "assistant",
            at=int(one["time"] * 1000),
            text=one["text"],
        )
        for one in fields["messages"]
    ]
    asked = ((one["text"], one["evidence"], one["category"]) for one in fields["questions"])
    return Sample(
        name=fields["id"],
        is_room=len({one.speaker for one in messages if one.role == "user"}) > 1,
        messages=messages,
        questions=_keep_answerable(asked, messages),
    )


def _read_locomo(fields: Mapping[str, Any], *, with_captions: bool) -> Sample:
    conversation = fields["conversation"]
    messages: list[Said] = []
    for number in sorted(int(one[1]) for one in map(_SESSION.fullmatch, conversation) if one):
        at = read_date(conversation.get(f"session_{number}_date_time", ""))
        for turn in conversation[f"session_{number}"]:
            at = read_date(turn["date_time"]) if "date_time" in turn else at + _MINUTE_MS
            caption = turn.get("blip_caption") if with_captions else None
            messages.append(
                Said(
                    id=turn["dia_id"],
                    session=str(number),
                    speaker=turn["speaker"],
                    role="user",
                    at=at,
                    text=turn["clean_text" if "clean_text" in turn else "text"]
                    + (f" [picture: {caption}]" if caption else ""),
                )
            )
    asked = (
        (
            one["question"],
            [
                f"D{int(session)}:{int(turn)}"
                for named in one.get("evidence") or ()
                for session, turn in _TURN.findall(named)
            ],
            CATEGORIES.get(one.get("category"), "other"),
        )
        for one in fields["qa"]
    )
    return Sample(
        name=fields["sample_id"],
        is_room=True,
        messages=messages,
        questions=_keep_answerable(asked, messages),
    )


def _keep_answerable(
    asked: Iterable[tuple[str, Iterable[str], str]], messages: Iterable[Said]
) -> list[Question]:
    known = {one.id for one in messages}
    questions = (
        Question(text=text, evidence=frozenset(evidence) & known, category=category)
        for text, evidence, category in asked
    )
    return [one for one in questions if one.evidence]


def read_date(text: str) -> int:
    """Parse `1:56 pm on 8 May, 2023` or `29.12.2023, 22:42:04` into milliseconds since the epoch;
    an empty text is 0.
    """
    if not text:
        return 0
    match = _DATE.search(text)
    if match:
        hour, minute, half, day, month, year = match.groups()
        clock = f"{int(hour) % 12 + 12 * (half == 'pm')}:{minute} {day} {month} {year}"
        moment = datetime.strptime(clock, "%H:%M %d %B %Y")
    else:
        moment = datetime.strptime(text, _SECOND)
    return int(moment.replace(tzinfo=UTC).timestamp() * 1000)
