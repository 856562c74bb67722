"""Gates of prompt jobs: cheap checks that decide whether a run calls the model. Pure."""

import re
import shlex
from dataclasses import dataclass
from typing import Literal

from agent_core.localization import Text

GateKind = Literal["feed", "page", "calendar", "script"]
_KINDS: tuple[GateKind, ...] = ("feed", "page", "calendar", "script")
Test = Literal["new", "contains", "lacks", "above", "below"]
LONGEST_GATE = 1000
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
_COMPARED = re.compile(r"(-?\d+(?:\.\d+)?)(?:\s+after\s+(.+))?", re.IGNORECASE)
_NEW = Text("Only if there is something new: “{path}”")
_CHANGED = Text("Only if it has changed: “{path}”")
_EVENTS = Text("Only on days with an event in the calendar “{path}”")
_CONTAINS = Text("Only if “{path}” contains “{value}”")
_LACKS = Text("Only if “{path}” doesn't contain “{value}”")
_ABOVE = Text("Only if the number in “{path}” is above {value}")
_BELOW = Text("Only if the number in “{path}” is below {value}")
_SCRIPT = Text("Only if this command succeeds: {command}")
_USAGE = (
    "a gate is `feed URL` (has news), `page URL` (changed), `page URL contains WORDS`,"
    " `page URL lacks WORDS`, `page URL above NUMBER` or `page URL below NUMBER`, either with"
    " `after WORDS` behind it, or `calendar URL` or `calendar FILE` (an event that day)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobGate:
    """A check before a run. `at` is an address, a file name or a command line.

    A test of a number reads the first number behind the words `after`, or else the first one of the
    page.
    """

    kind: GateKind
    at: str
    test: Test = "new"
    value: str = ""
    after: str = ""

    @property
    def words(self) -> list[str]:
        """The words of a command line."""
        return shlex.split(self.at)


def read_gate(text: str) -> JobGate:
    """Parse a gate. Raises `ValueError` with a clause."""
    if len(text) > LONGEST_GATE:
        raise ValueError(f"a gate has at most {LONGEST_GATE} characters")
    kind, _, rest = " ".join(text.split()).partition(" ")
    known = next((one for one in _KINDS if one == kind.casefold()), None)
    if known is None or not rest:
        raise ValueError(_USAGE)
    if known == "script":
        if not shlex.split(rest):
            raise ValueError(_USAGE)
        return JobGate(kind=known, at=rest)
    at, _, test = rest.partition(" ") if known != "calendar" else (rest, "", "")
    if known != "calendar" and not at.startswith(("http://", "https://")):
        raise ValueError(f"{at!r} is not an address; {_USAGE}")
    return _read_test(known, at, test)


def _read_test(kind: GateKind, at: str, test: str) -> JobGate:
    if not test:
        return JobGate(kind=kind, at=at)
    word, _, value = test.partition(" ")
    if kind != "page" or not value:
        raise ValueError(_USAGE)
    match word.casefold():
        case "contains":
            return JobGate(kind=kind, at=at, test="contains", value=value)
        case "lacks":
            return JobGate(kind=kind, at=at, test="lacks", value=value)
        case "above" | "below" as name:
            found = _COMPARED.fullmatch(value)
            if found is None:
                raise ValueError(f"{value!r} is not a number; {_USAGE}")
            return JobGate(
                kind=kind,
                at=at,
                test="above" if name == "above" else "below",
                value=found[1],
                after=found[2] or "",
            )
    raise ValueError(_USAGE)


def describe_gate(text: str) -> str:
    """Describe a stored gate in a line."""
    gate = read_gate(text)
    if gate.kind == "script":
        return _SCRIPT(command=gate.at)
    if gate.test == "new":
        sentence = {"feed": _NEW, "page": _CHANGED}.get(gate.kind, _EVENTS)
        return sentence(path=gate.at)
    tests = {"contains": _CONTAINS, "lacks": _LACKS, "above": _ABOVE, "below": _BELOW}
    return tests[gate.test](path=gate.at, value=gate.value)


def passes(gate: JobGate, text: str) -> bool:
    """Return whether a page's text meets the condition of a gate. Raises `ValueError`."""
    if gate.test == "contains":
        return gate.value.casefold() in text.casefold()
    if gate.test == "lacks":
        return gate.value.casefold() not in text.casefold()
    begin = text.casefold().find(gate.after.casefold())
    found = _NUMBER.search(text, begin + len(gate.after)) if begin >= 0 else None
    if found is None:
        raise ValueError("the page holds no such number")
    number = float(found[0].replace(",", ""))
    return number > float(gate.value) if gate.test == "above" else number < float(gate.value)
