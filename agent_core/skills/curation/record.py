"""The record of a look at skills or at a memory: a model's proposals, and their outcomes."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Literal

from agent_core.ids import TaskId

Subject = Literal["skills", "memory"]
ProposalState = Literal["open", "accepted", "declined", "outdated"]
TidyKind = Literal["duplicate", "contradiction", "shorten"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """Skills that are merged into a new one or into one of them. `before` are their whole texts."""

    into: str
    text: str
    before: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tidying:
    """Entries to remove from one list of a memory, and the text that replaces them, "" for none.

    `kept` is the entry that stays instead: the one that says the same, or the newer one.
    """

    kind: TidyKind
    target: Literal["user", "memory"]
    removed: tuple[str, ...]
    kept: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CurationProposal:
    """A change that waits for a person's yes, with the model's reason."""

    reason: str
    change: Merge | Tidying
    state: ProposalState = "open"


@dataclass(frozen=True, slots=True, kw_only=True)
class CurationRecord:
    """The proposals of one look of the curator.

    `digest` is the hash of the texts, so that nobody pays twice for the same ones. `refused` counts
    proposals that were dropped because they were not sound.
    """

    subject: Subject
    digest: str = ""
    proposals: tuple[CurationProposal, ...] = ()
    refused: int = 0

    def decide(self, number: int, state: ProposalState) -> "CurationRecord":
        """Return the record with another state of one proposal; proposals are numbered from 0."""
        changed = [*self.proposals]
        changed[number] = replace(changed[number], state=state)
        return replace(self, proposals=tuple(changed))


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRecord:
    """A record with its task."""

    task_id: TaskId
    record: CurationRecord = field(repr=False)


def dump_record(record: CurationRecord) -> str:
    """Encode a record as JSON text."""
    return json.dumps(asdict(record), ensure_ascii=False)


def load_record(text: str) -> CurationRecord:
    """Decode a record. Raises `ValueError`, `KeyError` or `TypeError` for anything else."""
    found = json.loads(text)
    proposals = [_load_proposal(one) for one in found.pop("proposals", ())]
    return CurationRecord(**found, proposals=tuple(proposals))


def list_open(records: Sequence[StoredRecord]) -> list[tuple[StoredRecord, int]]:
    """List the proposals that wait, as (record, number), in the order of the records."""
    return [
        (stored, number)
        for stored in records
        for number, proposal in enumerate(stored.record.proposals)
        if proposal.state == "open"
    ]


def _load_proposal(found: dict[str, object]) -> CurationProposal:
    change = found.pop("change")
    assert isinstance(change, dict)  # noqa: S101 - written by `dump_record`
    if "into" in change:
        return CurationProposal(**found, change=Merge(**change))  # type: ignore[arg-type]
    change["removed"] = tuple(change["removed"])
    return CurationProposal(**found, change=Tidying(**change))  # type: ignore[arg-type]
