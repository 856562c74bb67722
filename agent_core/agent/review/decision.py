"""Decide about a claim from what code sees and what the judge says. Pure.

Code knows one thing surely: whether the claim is a plain sentence of the person, word for word. If
that and the first look agree, that is the end; where they differ, a second look decides. So no
single answer of a model keeps words that code can't vouch for, and none drops those that it can.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from agent_core.agent.review.claim_check import Claim, Doubt, ReviewFault, speaks_as_person
from agent_core.agent.review.judgement import Opinion
from agent_core.state.tokenizer import cut

_ALL = 2
"""Looks that both deny a plain claim, which refuses it."""
_ENOUGH = 2
"""Voices for a claim that keep it: code's, and one of each look."""
_MOST_RIVALS = 3
_LEAST_LETTERS = 4
"""The fewest letters of a word that tells what an entry is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The end of a claim: refused, in doubt, or kept if it has neither a fault nor a doubt.

    With `is_quoted`, the person's words themselves are the entry. `replaces` and `until` are as in
    `Opinion`.
    """

    fault: ReviewFault | None = None
    doubt: Doubt | None = None
    is_quoted: bool = False
    replaces: str = ""
    until: str = ""


def needs_second_look(is_plain: bool, first: Opinion | None) -> bool:
    """Return whether the first look leaves a claim open; None if there was no usable answer."""
    return first is None or first.answer != ("yes" if is_plain else "no")


def decide(claim: Claim, is_plain: bool, first: Opinion | None, second: Opinion | None) -> Decision:
    """Decide about a claim after the looks that it needed; None stands for no usable answer."""
    looks = [one for one in (first, second) if one]
    if not looks:
        if not is_plain:
            return Decision(doubt="unjudged")
        return Decision(doubt="replace" if claim.replaces else None)
    voices = is_plain + sum(one.answer == "yes" for one in looks)
    denials = sum(one.answer == "no" for one in looks)
    is_quoted = any(one.says_more for one in looks) or speaks_as_person(claim.text)
    replaces, until = looks[0].replaces, looks[0].until
    if voices >= _ENOUGH:
        return Decision(is_quoted=is_quoted, replaces=replaces, until=until)
    if denials == _ALL or (denials and not voices):
        return Decision(fault="denied")
    return Decision(doubt="unsure", is_quoted=is_quoted, replaces=replaces, until=until)


def find_rivals(claim: Claim, entries: Iterable[str]) -> tuple[str, ...]:
    """Return the entries that a claim might replace: the one that it names, and like ones."""
    named = claim.replaces.casefold()
    words = {one for one in cut(claim.text) if len(one) >= _LEAST_LETTERS}
    alike = {one: len(words.intersection(cut(one))) for one in entries}
    chosen = [one for one in alike if named and named in one.casefold()][:1]
    others = sorted(
        (one for one in alike if alike[one] and one not in chosen), key=lambda one: -alike[one]
    )
    return tuple([*chosen, *others][:_MOST_RIVALS])


def choose_second(plain: Mapping[int, bool], first: Mapping[int, Opinion] | None) -> frozenset[int]:
    """Return the numbers of the claims that the second look is about."""
    looks = first or {}
    return frozenset(one for one in plain if needs_second_look(plain[one], looks.get(one)))
