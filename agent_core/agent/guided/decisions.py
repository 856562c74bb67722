"""List the intents that a person can have, as the schema of one forced decision; pure."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent_core.models.arguments import read_object
from agent_core.tools.schemas import make_object

CHAT = "chat"
REMIND, MANAGE_JOBS = "remind", "manage_jobs"
"""The tools for reminders."""
LANGUAGES = {
    "English": "en",
    "German": "de",
    "Spanish": "es",
    "French": "fr",
    "Italian": "it",
    "Portuguese": "pt",
    "Dutch": "nl",
    "Polish": "pl",
    "Turkish": "tr",
    "Russian": "ru",
    "Ukrainian": "uk",
    "Arabic": "ar",
    "Chinese": "zh",
    "Japanese": "ja",
}
_CLOCK = "([01][0-9]|2[0-3]):[0-5][0-9]"
_DAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_SPAN = "in [1-9][0-9]{0,2} (minutes|hours|days|weeks)"
_DAY = f"(today|tomorrow|the day after tomorrow|{_DAYS}|[1-3]?[0-9] ({_MONTHS}))"
_ONCE = f"{_SPAN}|{_DAY} at {_CLOCK}"
_EVERY = (
    f"every (day|weekday|weekend|({_DAYS})( and ({_DAYS}))?) at {_CLOCK}"
    f"|every [1-9][0-9]{{0,2}} (minutes|hours|days|weeks)"
    f"|on day [1-3]?[0-9] of every month at {_CLOCK}"
)
_TEXT: dict[str, object] = {"type": "string", "minLength": 1, "maxLength": 200}


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """The real entries that a decision may name."""

    jobs: Mapping[int, str] = field(default_factory=dict)
    """The titles of the jobs, by their numbers."""
    entries: Sequence[tuple[str, str]] = ()
    """The list and the text of each entry of memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """An intent that the model chose; `given` are the intent's fields."""

    intent: str
    given: Mapping[str, str] = field(default_factory=dict)

    def dump(self) -> str:
        """Return the decision as JSON text."""
        return json.dumps({"do": self.intent, **self.given}, ensure_ascii=False)


def list_intents(tools: set[str], known: Known) -> dict[str, dict[str, object]]:
    """Return the fields of each intent that is possible now, by its name."""
    jobs = [label_job(*one) for one in known.jobs.items()]
    entries = [label_entry(place, text) for place, (_, text) in enumerate(known.entries, start=1)]
    intents: dict[str, dict[str, object]] = {}
    if REMIND in tools:
        intents["remind_once"] = {"text": _TEXT, "when": _match(_ONCE)}
        intents["remind_every"] = {"text": _TEXT, "when": _match(_EVERY)}
    if MANAGE_JOBS in tools:
        intents["list_reminders"] = {}
        if jobs:
            which = {"enum": jobs}
            intents["delete_reminder"] = {"which": which}
            intents["pause_reminder"] = {"which": which}
            when = _match(f"{_ONCE}|{_EVERY}|at {_CLOCK}")
            intents["move_reminder"] = {"which": which, "when": when}
    if "memory" in tools:
        intents["remember"] = {"fact": _TEXT}
        if entries:
            intents["correct_memory"] = {"fact": _TEXT, "old": {"enum": entries}}
            intents["forget"] = {"old": {"enum": entries}}
    if "recall" in tools:
        intents["search_past"] = {"words": _TEXT}
    if "settings" in tools:
        intents["set_language"] = {"language": {"enum": list(LANGUAGES)}}
        intents["set_time_zone"] = {"city": _TEXT}
        intents["set_quiet_hours"] = {"hours": _match(f"{_CLOCK}-{_CLOCK}|none")}
    intents[CHAT] = {}
    return intents


def make_schema(intents: Mapping[str, Mapping[str, object]]) -> str:
    """Return the JSON schema of a decision between intents, as JSON text."""
    options = [
        make_object(("do", *fields), **{"do": {"const": name}, **fields})
        for name, fields in intents.items()
    ]
    return json.dumps({"anyOf": options}, ensure_ascii=False, separators=(",", ":"))


def read_decision(text: str, intents: Mapping[str, Mapping[str, object]]) -> Decision | None:
    """Return the decision in an answer; None if it fits no intent."""
    start, end = text.find("{"), text.rfind("}")
    value: dict[str, Any] | None = read_object(text[start : end + 1])
    fields = intents.get(str(value.get("do"))) if value else None
    if value is None or fields is None:
        return None
    given = {name: value.get(name) for name in fields}
    if not all(isinstance(one, str) and one.strip() for one in given.values()):
        return None
    return Decision(intent=str(value["do"]), given={name: str(one) for name, one in given.items()})


def label_job(number: int, title: str) -> str:
    """Return how a decision names a job."""
    return f"{number} {title}"


def label_entry(place: int, text: str) -> str:
    """Return how a decision names an entry of memory."""
    return f"{place} {text}"


def _match(pattern: str) -> dict[str, object]:
    return {"type": "string", "pattern": f"^({pattern})$"}
