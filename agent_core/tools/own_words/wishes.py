"""Find the sentences in which a person wishes for a change: of one kind, or of any. Pure.

Two questions have one reader. Whether a call may run without a press: `find_wishes`; then text,
time and target of the call must be said, too. Whether a change was asked for at all, so that an
answer may not claim it falsely: `asks_for_change`; then the words must say so by themselves.

A sentence counts only if it orders: a report, a question about something, a refusal and a text to
work on order nothing, whoever typed them.
"""

import re
from collections.abc import Iterator

from agent_core.tools.own_words.contract import OwnWords, Said, WishKind
from agent_core.tools.own_words.orders import FURTHER_ORDERS, ORDERS, PLAIN_ORDERS, SIGNS

_CLAUSE = re.compile(
    r"(?:^\W*|[,;:.!?–-]\s*|\b(?:and|but|then|or|und|dann|aber|oder|also|you to)\s+)"
    r"(?:(?:\W|\b(?:please|pls|also|now|just|so|ok|okay|cool|great|hey|hi|hello|thx|thanks|anyway|and"
    r"|from now on|ab jetzt|ab sofort|btw|by the way|übrigens|kindly|noch|schnell|quickly"
    r"|then|go ahead and|let['’]?s|bitte|auch|dann|mal|jetzt|also|super|danke|egal|hallo|ah|oh|yes"
    r"|(?:can|could|would|will) (?:you|u)|(?:kannst|könntest|würdest|magst) du"
    r"|don['’]t forget to|ja|no|nein|make sure to|be sure to|you can|talaria|tomorrow|tonight"
    r"|today|noon|morgen|heute"
    r"|in \w+ \w+|at \d+|on \w+day)\b)\s*)*$",
    re.IGNORECASE,
)
"""What stands between the beginning of a clause and its verb of an order."""
_ANYWHERE = ("remind", "erinner", "weck")
"""Verbs that order wherever they stand, unless somebody does it."""
_MODAL = re.compile(
    r"\b(?:(?:can|could|would|will) (?:you|u)|want you to|need you to|like you to|mind"
    r"|you (?:should|could|can|might)"
    r"|(?:kannst|könntest|würdest|magst|machst|willst|soll(?:te)?st) du"
    r"|bitte|please|pls|lass|nicht)\b",
    re.IGNORECASE,
)
"""Words after which a verb may stand anywhere in its sentence."""
_SUBJECT = re.compile(
    r"\b(?:i|we|he|she|they|it|who|ich|wir|er|sie|man|es)(?:\s+\w+)?\s+$", re.IGNORECASE
)
"""Somebody who does it, right before a verb."""
_REPORTS = re.compile(
    r"\b(?<!\bi )(?<!\bwe )(?<!\bich )(?<!\bwir )(?:says?|said|saying|wrote|writes|written|asks"
    r"|asked|asking|tells|told|reads|stands|claims?|wants|wanted|suggests?|orders?|sagt|sagte"
    r"|schreibt|schrieb|geschrieben|steht|stand|meint|meinte|bittet|bat|fragt|fragte|heißt|lautet"
    r"|will(?! (?:you|u)\b)|wollte|verlangt|schlägt)\b",
    re.IGNORECASE,
)
"""Somebody else speaks: what follows is theirs."""
_ENDS_REPORT = re.compile(
    r"\b(?:so|then|anyway|but|now|can you|could you|dann|also|aber|deshalb|jetzt|egal|kannst du"
    r"|könntest du)\b",
    re.IGNORECASE,
)
_WORK = (
    r"translat\w*|proofread\w*|rewrite|rephrase|reword|paraphrase|summari[sz]e|explain|draft|compose"
    r"|write (?:an?|the|me)|sentence|übersetz\w*|formulier\w*|umschreib\w*|erklär\w*|entwirf|fasse"
    r"|satz"
)
"""Work whose result is words."""
_WORKS_ON_TEXT = re.compile(
    rf"\b(?:{_WORK}|correct|mean|means|spell|phrase|example|pretend|imagine|suppose|quote"
    r"|korrigier\w*|bedeutet|beispiel|angenommen|zitat|stell dir vor|write (?:him|her|them|back)"
    r"|schreib\w* (?:ihm|ihr|eine?n?))\b",
    re.IGNORECASE,
)
"""Words after which the text to work on may follow, or one that somebody only imagines."""
_TASK = re.compile(
    rf"\b(?:{_WORK}|write (?:some|this|my)|paragraph|docstring|function|poem|story|verse|word"
    r"|(?:first|last|next|this) line|what does|how (?:do|to|can|would)|absatz|wort|gedicht"
    r"|wie (?:kann|geht|macht)|(?:correct|right|proper|good) english|(?:richtig|gut)es deutsch)\b",
    re.IGNORECASE,
)
"""Words of a message whose answer is the result, wherever they stand in it."""
_ENDS_WORK = re.compile(
    r"(?:\b(?:and|then|also|plus|und|dann|danach|außerdem)\b|,|\bto (?:remind|save|note)\b)",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"\b(?:if|unless|whether|provided|in case|as soon as|depending|falls|sofern|wenn|sobald|ob)\b",
    re.IGNORECASE,
)
_REFUSES = re.compile(
    r"\b(?:don['’]?t|do not|never|no need to|not to|stop|please not|shouldn['’]?t|won['’]?t"
    r"|nicht|kein\w*)\s+(?:\w+\s+){0,2}$",
    re.IGNORECASE,
)
"""A refusal right before a verb."""
_REFUSED = re.compile(
    r"^\W*(?:(?:me|us|it|that|this|mich|mir|dir|uns|das|es|ihn|sie|bitte|den|die)\W+){0,2}"
    r"(?:\w+\W+)?(?:nicht|nichts|nothing|keinesfalls)\b(?!\s+(?:zu\s+)?vergessen)(?!\s+mehr)"
    r"(?! only| nur)",
    re.IGNORECASE,
)
"""A refusal right after a verb, as German puts it; "merk dir, dass ich nicht" refuses nothing."""
_ABOUT = re.compile(
    r"^\W*(?:what(?:['’]?s)?|how|why|which|who|whose|when|where|did|does|do you|have you|has|is"
    r"|are|was|were|should|shall|am|wie|warum|wieso|wer|wann|wo|was|welche\w*|hast|hat|ist|sind|war|soll\w*"
    r"|gibt|muss|darf)\b",
    re.IGNORECASE,
)
_ASKS_FOR = re.compile(
    r"\b(?:can|could|would|will|may|do) (?:you|i)\b|\bmind\b|\bplease\b|\bpls\b"
    r"|\b(?:can|could|shall) we\b|\bkönnen wir\b"
    r"|\b(?:kannst|könntest|würdest|magst|machst|erinnerst|weckst|sagst|denkst) du\b|\bbitte\b"
    r"|\bright\b|\bok(?:ay)?\b",
    re.IGNORECASE,
)
_POLITE = (
    r"(?:(?:can|could|would|will) (?:you|u)|(?:kannst|könntest|würdest|magst) du|please|pls|bitte)"
)
_ASKS_NEXT = re.compile(rf"\b{_POLITE}\W+(?:\w+\W+){{0,2}}$", re.IGNORECASE)
_ASKS_WHOLE = re.compile(
    rf"^\W*(?:\w+\W+){{0,2}}{_POLITE}\b|\b(?:ok(?:ay)?|please|pls|bitte)\W*$", re.IGNORECASE
)
"""The places where a question asks for a verb: right before it, or as a whole."""
_POSITIVE = re.compile(
    r"forget|vergiss nicht|nicht vergessen|no more|need|no messages|don|keine nachrichten|brauch",
    re.IGNORECASE,
)
"""Wishes in whose words a negation is a part."""


_ENDS_TASK = re.compile(
    r"\b(?:and|und) (?:then |dann )?(?=save|store|remind|send|speicher|schick|erinner)",
    re.IGNORECASE,
)
"""Words after which something is to happen with such a result."""
_OWN = re.compile(
    r"\b(?:i|we|ich|wir)\b(?!.*\b(?:you to|(?:can|could|would|will) (?:you|u)|(?:kannst|könntest"
    r"|würdest|magst) du)\b)(?:[^,;:.!?–-]|,\s*(?:and|but|or|then|und|aber|oder|dann)\b)*$",
    re.IGNORECASE,
)
"""What a person does: "I'll call him and", before what they do then."""
_OTHER_SCRIPT = re.compile(r"[^\x00-\u024f]")
"""A script in which a question may be a wish, as in "リマインドして？"."""
_AND = re.compile(r"\s*(?:;|,?\s*\b(?:and|but|und|aber|sondern|while)\b)\s*", re.IGNORECASE)
_KEPT = re.compile(
    r"\b(?:keep|leave|not|behalte?|lass|nicht|bleibt?|except|außer)\b", re.IGNORECASE
)


def find_wishes(words: OwnWords, kind: WishKind) -> Iterator[Said]:
    """Yield the sentences that wish for a change of a kind."""
    for said in words.sentences:
        signs = _list_signs(said.plain, kind)
        if any(_orders(said.plain, one, kind) and not _is_conditional(one) for one in signs):
            yield said


def asks_for_change(sentence: str) -> bool:
    """Return whether a sentence asks for a change of any kind, also one that depends on another."""
    is_question = sentence.rstrip().endswith("?")
    is_whole = _ASKS_WHOLE.search(sentence) is not None
    for kind, pattern in PLAIN_ORDERS.items():
        for found in pattern.finditer(sentence):
            before, is_asked = sentence[: found.start()], _ASKS_FOR.match(found[0]) is not None
            if not (is_asked or _CLAUSE.search(before)) or _OWN.search(before):
                continue
            if is_question and not (is_whole or is_asked or _ASKS_NEXT.search(before)):
                continue
            if _orders(sentence, found, kind):
                return True
    is_question = is_question and _OTHER_SCRIPT.search(sentence) is None
    return not is_question and FURTHER_ORDERS.search(sentence) is not None


def has_task(text: str) -> bool:
    """Return whether words are the work of a text: its orders are about these."""
    return _TASK.search(text) is not None


def skip_task(sentence: str) -> str:
    """Return what is to happen with the words that a sentence orders; "" for nothing."""
    parts = _ENDS_TASK.split(sentence, maxsplit=1)
    return parts[1] if len(parts) > 1 else ""


def find_clauses(sentence: str, kind: WishKind) -> Iterator[str]:
    """Yield the parts of a sentence that wish for a change of a kind.

    A part goes on after "and", until another verb of an order, or until something is kept.
    """
    parts = _AND.split(sentence)
    for at, part in enumerate(parts):
        if not any(_list_signs(part, kind)):
            continue
        end = at + 1
        while end < len(parts) and not _begins_clause(parts[end]):
            end += 1
        yield " and ".join(parts[at:end])


def is_reported(sentence: str) -> bool:
    """Return whether a sentence tells what somebody says, or asks about something."""
    return _REPORTS.search(sentence) is not None or sentence.rstrip().endswith("?")


def strip_signs(sentence: str, kind: WishKind) -> str:
    """Return a sentence without the words that make it a wish."""
    plain = ORDERS[kind].sub(" ", sentence)
    return SIGNS[kind].sub(" ", plain) if kind in SIGNS else plain


def has_condition(sentence: str) -> bool:
    """Return whether something in a sentence depends on something else."""
    return _CONDITION.search(sentence) is not None


def _begins_clause(part: str) -> bool:
    is_verb = any(
        _CLAUSE.search(part[: one.start()]) for kind in ORDERS for one in _list_orders(part, kind)
    )
    return is_verb or _KEPT.search(part) is not None


def _list_orders(text: str, kind: WishKind) -> Iterator[re.Match[str]]:
    return ORDERS[kind].finditer(text)


def _list_signs(text: str, kind: WishKind) -> Iterator[re.Match[str]]:
    """Yield the places where a sentence may order: a verb at its place, or a sign anywhere."""
    for found in _list_orders(text, kind):
        before = text[: found.start()]
        is_free = found[0].casefold().startswith(_ANYWHERE) or _MODAL.search(before) is not None
        if _CLAUSE.search(before) or (is_free and not _SUBJECT.search(before)):
            yield found
    if kind in SIGNS:
        yield from SIGNS[kind].finditer(text)


def _orders(sentence: str, found: re.Match[str], kind: WishKind) -> bool:
    """Return whether a verb in a sentence is an order of the person."""
    before, after = sentence[: found.start()], sentence[found.end() :]
    is_question = sentence.rstrip().endswith("?")
    if _ABOUT.match(sentence) and not (_ASKS_FOR.search(before) or "," in before):
        return False
    if is_question and not (_ASKS_FOR.search(sentence) or _POSITIVE.search(found[0])):
        return False
    if _goes_on(before, _REPORTS, _ENDS_REPORT) or _goes_on(before, _WORKS_ON_TEXT, _ENDS_WORK):
        return False
    if _POSITIVE.search(found[0]):
        return True
    if _REFUSES.search(before):
        return False
    return kind in ("set", "cancel", "forget") or not _REFUSED.match(after.partition(",")[0])


def _is_conditional(found: re.Match[str]) -> bool:
    return _CONDITION.search(found.string[: found.start()]) is not None


def _goes_on(before: str, begins: re.Pattern[str], ends: re.Pattern[str]) -> bool:
    """Return whether something began before a verb and has not ended; a colon ends nothing."""
    found = [*begins.finditer(before)]
    if not found:
        return False
    rest = before[found[-1].end() :]
    return ":" in rest or ends.search(rest) is None
