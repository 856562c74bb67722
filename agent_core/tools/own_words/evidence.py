"""Judge whether a person's own words prove a call: wish, words, target and time. Pure."""

from collections.abc import Mapping

from agent_core.plain_statements import find_any, find_statement, states_plainly
from agent_core.shared_words import list_content, share_word
from agent_core.tools.own_words import word_forms
from agent_core.tools.own_words.contract import Essentials, OwnWords, Said, WishKind
from agent_core.tools.own_words.wishes import (
    find_clauses,
    find_wishes,
    has_condition,
    is_reported,
    strip_signs,
)

_REMIND_GLUE = """
reminder remind reminding remember forget forgotten time now today hey hi hello due good morning day
wake up get erinnerung erinnern denk denke denken vergessen zeit jetzt heute guten morgen tag
aufstehen dran achtung heads alarm timer wecker abgelaufen fertig vorbei up over done ready
"""
_KEEP_GLUE = (
    "user user's users person person's name named called nutzer nutzerin person heißt genannt"
)
_GLUE: Mapping[WishKind, frozenset[str]] = {
    "remind": frozenset(_REMIND_GLUE.split()),
    "keep": frozenset(_KEEP_GLUE.split()),
    "correct": frozenset(_KEEP_GLUE.split()),
}
"""Words that models add to what was said, and that name and order nothing."""
_TIME_WORDS = """
half quarter nen halbe halben viertel alarm timer wecker ok okay cool great super thanks thx danke
pls
anyway egal next hours stunden minuten minutes mittag noon früh spät tonight january february march
april may june july august september october november december januar februar märz mai juni juli
oktober dezember übermorgen
"""
_TIMES = frozenset(_TIME_WORDS.split())
"""Words of a wish that name no thing."""
_LONGEST = 600
"""Characters of a text that own words can prove; nobody types more for a note."""

_POINTS = find_any(
    "this that these those it its them they you your yours agree* accept* confirm* approv*",
    "authori* consent* question answer das dies* jene* es sie ihr ihm ihnen du dich dir dein*",
    "zu zustimm* akzeptier* bestätig* genehmig* einverstanden frage antwort",
)
"""Words that may point to what others wrote, or give in to it: "I agree", "I hate this"."""


def is_evidenced(needs: Essentials, words: OwnWords) -> bool:
    """Return whether one sentence wishes for a call, and the person's words have all of it.

    A plain sentence about themselves needs no wish to be kept: "I'm vegetarian".
    """
    if needs.kind == "keep" and _is_statement(needs.text, words):
        return True
    return any(_states(said, needs, words) for said in find_wishes(words, needs.kind))


def _is_statement(text: str, words: OwnWords) -> bool:
    sentence = find_statement(words.whole)
    is_plain = any(one.plain == one.whole == sentence for one in words.sentences)
    return is_plain and not _POINTS.search(sentence) and states_plainly(text, sentence)


def _states(said: Said, needs: Essentials, words: OwnWords) -> bool:
    """Return whether a sentence states what a call needs.

    The words of a text may stand in other sentences of the person, too: "Ada's birthday is on
    Friday. Remind me to buy flowers." Time and target stand in the wish itself.
    """
    if needs.text and not _is_text_said(needs, said, words):
        return False
    if has_condition(said.plain) and not has_condition(needs.text):
        return False
    if not needs.target:
        return needs.is_said(said.plain)
    return any(
        word_forms.names(clause, needs.target, needs.others) and needs.is_said(clause)
        for clause in find_clauses(said.whole, needs.kind)
    )


def _is_text_said(needs: Essentials, said: Said, words: OwnWords) -> bool:
    if len(needs.text) > _LONGEST:
        return False
    glue = _GLUE.get(needs.kind, frozenset())
    others = [one.plain for one in words.sentences if one != said and not is_reported(one.plain)]
    known = "\n".join((said.whole, *others, needs.known))
    if not word_forms.is_covered(needs.text, known, glue) or not _meets(needs, said):
        return False
    if needs.known:
        return True
    wished = word_forms.count_negations(said.whole)
    if needs.kind == "remind" and not word_forms.is_covered(needs.text, said.whole, glue):
        wished = word_forms.count_negations("\n".join((said.whole, *others)))
    return word_forms.count_negations(needs.text) == wished


def _meets(needs: Essentials, said: Said) -> bool:
    """Return whether a text has a word of its wish, unless the wish names nothing by itself."""
    own = [
        one
        for one in list_content(strip_signs(said.plain, needs.kind))
        if not one.isdigit() and one not in _TIMES
    ]
    glue = _GLUE.get(needs.kind, frozenset())
    return (
        not own
        or word_forms.is_covered(needs.text, "", glue)  # it names nothing that could be wrong
        or share_word(needs.text, " ".join(own))
        or word_forms.names(said.whole, needs.text)
    )
