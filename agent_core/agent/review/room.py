"""Make room in a full list, so that nothing is lost: what has ended goes first, then lines are
merged, and last what was used least moves to the archive.

An entry is used when the person's later messages share its words. That is reckoned only when a
list is full, so turns pay nothing. How the person likes answers is used in every turn, and what
their health depends on may never come up before it matters.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from agent_core.agent.review.claim_check import Section
from agent_core.agent.review.declined import was_undone
from agent_core.agent.review.merging import LineMerge, is_nearly_full, list_left_out
from agent_core.agent.review.profile import find_section
from agent_core.ids import PersonId
from agent_core.memory.archive.entries import ArchiveContent
from agent_core.memory.archive.writes import insert_entry
from agent_core.memory.edits_within_limits import Edit, Refusal, plan
from agent_core.memory.explanations import find_source
from agent_core.memory.files import size
from agent_core.memory.line_dates import drop_dates, has_ended
from agent_core.memory.numbering import load_change_index
from agent_core.memory.store import MemoryStore
from agent_core.shared_words import list_content
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import evidence, ledger, shares
from agent_core.state.memory.ledger import LedgerEntry, MemoryTarget, Origin
from agent_core.state.people.people import Person
from agent_core.state.queues import reviews
from agent_core.state.tokenizer import cut, normalize
from agent_core.tools.clock import local_time

_DAY = 24 * 3_600_000
_MONTHS = 90 * _DAY
"""How long an entry stays in use after it was used or written, in milliseconds."""
_READ = 365 * _DAY
_MOST_MESSAGES = 3_000
_RARE = 50
"""A word that more than one of so many messages contains says nothing about a use."""
_VITAL = re.compile(
    r"all?erg|intoler|unvertraglich|anaphyla|anafila|\bast?h?ma|diabet|insulin|epilep|zoliak"
    r"|c(?:oe|œ|e)lia[ck]|celiaqu|medi[ck]a(?:tion|ment)|blood thinner|blutverdunn|anticoag"
    r"|pacemaker|schrittmacher|marcapasos|schwanger|pregnan|enceinte|embaraz"
)
"""Words of health, without accents: what an answer must heed although nobody mentions it."""
_TAG = "moved"
"""The tag of entries in the archive that a list had no room for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedEntry:
    """An entry of a list with its use. `at` is when it was last used, written or brought back.

    `days` are those on which the person used it. Times are in milliseconds since the epoch.
    """

    text: str
    row: LedgerEntry
    at: int
    days: int
    section: Section | None
    is_shared: bool
    is_over: bool
    """True if its last day has passed, and the person has not brought it back since."""

    @property
    def is_kept(self) -> bool:
        """True if it shapes every answer, others see it, or health depends on it: it moves last."""
        return self.is_shared or self.section == "answers" or is_vital(self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """Makes room in the lists of people."""

    database: Database
    memory: MemoryStore
    now: Callable[[], int]

    async def write(
        self, person: Person, edit: Edit, origin: Origin, refusal: Refusal
    ) -> LedgerEntry | None:
        """Make an edit that a full list refused, together with the moves that it needs.

        Returns its row, or None if the text alone is too long. The archive has a copy before the
        list loses an entry. Raises `StoreError`, and `OSError` for an unreadable file.
        """
        if done := await self._find_done(person, origin):
            return done[-1]
        removed = await self._archive(person, edit, origin, refusal)
        if not removed:
            return None
        outcome = await self.memory.change_all(person.id, person.slug, (*removed, edit), origin)
        return None if isinstance(outcome, Refusal) else outcome[-1].rows[-1]

    async def free(self, person: Person, edit: Edit, call_key: str) -> bool:
        """Move what a call of a person's yes needs to succeed; return whether it may now.

        Raises what `write` raises.
        """
        known = await self.memory.snapshot(person.id, person.slug, self.now())
        entries = known.user if edit.target == "user" else known.memory
        refusal = plan(entries, edit, self.memory.limits.of(edit.target))
        if not isinstance(refusal, Refusal) or refusal.fault != "full":
            return False
        origin = Origin(
            actor=f"review:{person.id}:0", now=self.now(), call_key=name_freeing(call_key)
        )
        removed = await self._archive(person, edit, origin, refusal)
        if not removed:
            return False
        outcome = await self.memory.change_all(person.id, person.slug, removed, origin)
        return not isinstance(outcome, Refusal)

    async def clear_ended(
        self, person: Person, target: MemoryTarget, lines: Sequence[str], actor: str
    ) -> list[int]:
        """Move what has ended to the archive if `lines` are nearly full; return the rows of it.

        Raises what `write` raises.
        """
        origin = Origin(actor=actor, now=self.now(), call_key=f"{actor}:ended:{target}")
        done = await self._find_done(person, origin)
        today = local_time(self.now(), "UTC").date()
        is_full = is_nearly_full(lines, self.memory.limits.of(target))
        if not done and is_full and any(has_ended(one, today) for one in lines):
            ranked = await self.database.read(
                rank_entries, person_id=person.id, target=target, now=self.now()
            )
            ended = [one for one in ranked if one.is_over]
            removed = await self._copy(person, target, ended, origin)
            if removed:
                await self.memory.change_all(person.id, person.slug, removed, origin)
            done = await self._find_done(person, origin)
        return [row.id for row in done]

    async def merge(self, person: Person, merge: LineMerge, actor: str) -> int | None:
        """Put a shorter line in the place of several, with the evidence of all; return its row.

        The archive first gets what the new line leaves out. None if the lines have changed, rest on
        no words of the person, or don't belong together. Raises what `write` raises.
        """
        key = ledger.name_merge(actor, merge.number)
        origin = Origin(actor=actor, now=self.now(), call_key=key)
        if done := await self._find_done(person, origin):
            return done[0].id
        ranked = await self.database.read(
            rank_entries, person_id=person.id, target=merge.target, now=self.now()
        )
        by_text = {one.text: one for one in ranked}
        lines = [by_text[one] for one in merge.lines if one in by_text]
        proof = await self.database.read(_gather_evidence, person.id, merge, lines)
        if proof is None:
            return None
        left_out = list_left_out(merge.lines, merge.text)
        lost = [one for one in lines if one.text in left_out]
        await self._copy(person, merge.target, lost, origin)
        first, *others = merge.lines
        edits = [Edit(action="replace", target=merge.target, old=first, text=merge.text)]
        edits += [Edit(action="remove", target=merge.target, old=one) for one in others]
        outcome = await self.memory.change_all(
            person.id, person.slug, edits, replace(proof, actor=actor, now=origin.now, call_key=key)
        )
        return None if isinstance(outcome, Refusal) else outcome[0].rows[0].id

    async def _find_done(self, person: Person, origin: Origin) -> list[LedgerEntry]:
        assert origin.call_key is not None  # noqa: S101 - a repeat moves nothing twice
        return await self.database.read(
            ledger.find_call, person_id=person.id, call_key=origin.call_key
        )

    async def _archive(
        self, person: Person, edit: Edit, origin: Origin, refusal: Refusal
    ) -> list[Edit]:
        """Copy the least used entries into the archive; return the edits that remove them."""
        ranked = await self.database.read(
            rank_entries, person_id=person.id, target=edit.target, now=self.now()
        )
        old = edit.old.casefold()
        others = [one for one in ranked if not old or old not in one.text.casefold()]
        chosen = _choose(others, refusal, self.memory.limits.of(edit.target))
        return await self._copy(person, edit.target, chosen, origin)

    async def _copy(
        self, person: Person, target: MemoryTarget, chosen: Sequence[UsedEntry], origin: Origin
    ) -> list[Edit]:
        """Copy entries into the archive; return the edits that remove them."""
        await self.database.write("reviews.move", _archive, person.id, chosen, origin)
        return [Edit(action="remove", target=target, old=one.text) for one in chosen]


def is_vital(text: str) -> bool:
    """Return whether somebody's health may depend on an entry."""
    return _VITAL.search(normalize(text)) is not None


def name_freeing(call_key: str) -> str:
    """Return the key of the moves that a call needs."""
    return f"{call_key}:room"


def rank_entries(
    connection: Connection, *, person_id: PersonId, target: MemoryTarget, now: int
) -> list[UsedEntry]:
    """List the entries of a list: what has ended first, then what was unused for months, then by
    use. Raises `StoreDamaged`.
    """
    index = load_change_index(connection, person_id=person_id)
    said = reviews.list_own_words(
        connection, person_id=person_id, since=now - _READ, limit=_MOST_MESSAGES
    )
    days = [(at, frozenset(_list_stems(text))) for at, text in said]
    counts = Counter(stem for _, stems in days for stem in stems)
    most = max(2, len(days) // _RARE)
    rare = {stem for stem, count in counts.items() if count <= most}
    shared = {(one.target, one.entry) for one in shares.list_of(connection, person_id=person_id)}
    today = local_time(now, "UTC").date()
    found = []
    for tracked in index.histories[target].current:
        if tracked.words is None or tracked.made_by is None:
            continue
        section = find_section(connection, tracked.rows)
        is_brought_back = tracked.rows[-1].origin.undoes is not None
        stems = rare.intersection(_list_stems(drop_dates(tracked.words)))
        written = tracked.rows[-1].origin.now
        used = [at for at, words in days if at > written + _DAY and not stems.isdisjoint(words)]
        found.append(
            UsedEntry(
                text=tracked.words,
                row=tracked.made_by,
                at=max([written, *used]),
                days=len({at // _DAY for at in used}),
                section=section,
                is_shared=(target, tracked.words) in shared,
                is_over=has_ended(tracked.words, today) and not is_brought_back,
            )
        )

    def order(one: UsedEntry) -> tuple[bool, bool, bool, int, int]:
        return (not one.is_over, one.is_kept, one.at > now - _MONTHS, one.days, one.at)

    return sorted(found, key=order)


def list_moved(
    connection: Connection, *, person_id: PersonId, row_ids: Sequence[int]
) -> list[LedgerEntry]:
    """List the rows by which entries made way for those of `row_ids`."""
    moved: list[LedgerEntry] = []
    for row_id in row_ids:
        owned = ledger.find_row(connection, entry_id=row_id)
        key = owned and owned[0] == person_id and owned[1].origin.call_key
        if key:
            made = ledger.find_call(
                connection, person_id=person_id, call_key=ledger.name_whole_call(key)
            )
            moved += [row for row in made if row.change.operation == "remove"]
    return moved


def list_rows(connection: Connection, *, row_ids: Sequence[int]) -> list[LedgerEntry]:
    """List these rows, as far as they exist."""
    rows = (ledger.find_row(connection, entry_id=row_id) for row_id in row_ids)
    return [owned[1] for owned in rows if owned]


def _gather_evidence(
    connection: Connection, person_id: PersonId, merge: LineMerge, lines: Sequence[UsedEntry]
) -> Origin | None:
    """Return an origin with the evidence of all lines; None if they may not be merged.

    What a person wrote by hand keeps their wording, and what others see keeps what they see. Lines
    from several accounts stay apart, because an account may leave.
    """
    found = [find_source(connection, one.row).origin for one in lines]
    accounts = {
        frozenset(evidence.list_accounts(connection, message_ids=one.message_ids)) for one in found
    }
    is_whole = len(lines) == len(merge.lines) and all(one.message_ids for one in found)
    is_alike = len({one.section for one in lines}) == 1 and len(accounts) == 1
    left_out = list_left_out(merge.lines, merge.text)
    is_harmless = not any(one.is_shared for one in lines) and not any(map(is_vital, left_out))
    is_undone = was_undone(connection, person_id=person_id, text=merge.text)
    if is_undone or not (is_whole and is_alike and is_harmless):
        return None
    return Origin(
        actor="",
        now=0,
        evidence="\n".join(dict.fromkeys(one.evidence for one in found if one.evidence)),
        message_ids=tuple(dict.fromkeys(number for one in found for number in one.message_ids)),
        sources=tuple(dict.fromkeys(source for one in found for source in one.sources)),
    )


def _list_stems(text: str) -> list[str]:
    return cut(" ".join(list_content(text)))


def _choose(ranked: Sequence[UsedEntry], refusal: Refusal, limit: int) -> list[UsedEntry]:
    """Choose the fewest entries from the front that make enough room; none if they can't.

    A list that was too long before, by hand, need not become shorter than it was.
    """
    texts = refusal.shown
    least = min(refusal.size - limit, refusal.size - size(texts) + 1)
    chosen: list[UsedEntry] = []
    for one in ranked:
        if least <= 0:
            break
        chosen.append(one)
        least -= size(texts) - size(tuple(text for text in texts if text != one.text))
    return chosen if least <= 0 else []


def _archive(
    connection: Connection, person_id: PersonId, chosen: Sequence[UsedEntry], origin: Origin
) -> None:
    """Copy entries into the archive with the evidence that they had, once."""
    for one in chosen:
        was = one.row.origin
        insert_entry(
            connection,
            person_id=person_id,
            content=ArchiveContent(text=one.text, tags=(_TAG,)),
            origin=replace(
                was,
                actor=origin.actor,
                now=origin.now,
                call_key=f"{origin.call_key}:moved:{one.row.id}",
                undoes=None,
            ),
        )
