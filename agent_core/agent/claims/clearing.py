"""Find what makes an answer to an open wish honest: a question, or words that it is not done."""

import re

from agent_core.agent.claims.sentences import Sentence, split

_DENIES = re.compile(
    r"\b(?:not|cannot|nothing|nobody|none|neither|no|unable|failed|fails?|error|refused|denied"
    r"|declined|limit|wrong|already|sorry|draft|unfortunately|afraid|instead|needs?"
    r"|full|before i|once you|as soon as you|when you tell|i['’]d|would have to|which one"
    r"|please (?:tell|give|say|choose|pick|name)"
    r"|(?:tell|give|send|name) me (?:the|a|when|what|which|at|your|how|who|where|more)"
    r"|say when|left (?:it|that|everything) as)\b|n['’]t\b"
    r"|\b(?:nicht|nichts|kein\w*|nie|leider|bereits|schon (?:vorhanden|da|in|ein)|fehler"
    r"|fehlgeschlagen|entwurf|bräuchte|brauche|erst|bevor ich|sobald du|sag mir|nenn mir|gib mir"
    r"|schief\w*|entschuldig\w*|lasse|fehlt|fehlen)\b"
    r"|\b(?:nunca|lo siento|pas|rien|désolée?|impossible|déjà|non|niente|spiacente|mi dispiace|già"
    r"|não|desculpe|já|niet|niets|geen|helaas|al een|nie|niestety|już|inte|tyvärr|ingen|redan"
    r"|ikke|desværre|dessverre|ei|valitettavasti|maalesef|değil|yok|zaten|nem|sajnos|már"
    r"|deja|ne|nelze|bohužel|už|не|нет|нельзя|уже|ні|вже|δεν|ήδη)\b"
    r"|ません|でき(?:ない|ず)|すでに|既に"
    r"|不|没|沒|无法|無法|抱歉|已经有|없|못|않|이미|لا |لم |لن |नहीं|पहले से",
    re.IGNORECASE,
)
_EFFECT = re.compile(
    r"\b(?:no (?:worries|problem|prob|more|longer|need|matter)|not (?:only|just|to worry)"
    r"|don['’]t (?:you )?(?:worry|mention)|not a single|never forget"
    r"|won['’]t (?!do\b|be able|work|help|send|delete|set|remind|save|touch)|nothing to worry"
    r"|(?:not|n['’]t|never)\b[^.!?]{0,60}\b(?:any ?more|any longer|again)|need anything"
    r"|nicht(?:s)? (?:mehr|vergessen|wieder)|nie wieder|keine sorge|kein(?: \w+)? problem"
    r"|kein\w*\b[^.!?]{0,40}\bmehr|vergesse\b[^.!?]{0,20}\bnicht|no (?:te preocupes|hay problema)"
    r"|pas de (?:souci|problème)|non (?:preoccuparti|ti preoccupare)|geen (?:probleem|zorgen)"
    r"|non\b[^.!?]{0,30}\bpiù|ne\b[^.!?]{0,30}\bplus|niet meer|ya no|já não|już nie"
    r"|больше (?:не|нет)|inte längre|ikke længere|no\b[^.!?]{0,30}\bever again"
    r"|verg(?:esse|isst)\b[^.!?]{0,40}\bnicht)\b"
    r"|没问题|沒問題|不客气|不会忘|問題ありません",
    re.IGNORECASE,
)
"""Denials that are effects: what was asked to end does not happen any more."""
_CLOSES = re.compile(
    r"\b(?:(?:any|some)thing else|what else|need anything|any other|further|more help|help you"
    r"|if you (?:need|want|have)|let me know if|noch etwas|noch was|sonst noch|weitere[rsn]?"
    r"|weiterhelfen|helfen|algo más|autre chose|altro|mais alguma|nog iets)\b"
    r"|还有|他に|ほかに|더 필요",
    re.IGNORECASE,
)
"""Polite ends, which ask for nothing."""
_MAY = re.compile(
    r"\b(?:can|could|would|shall|should|may|might|if|once|when|kann|könnte|würde|soll|sollte|wenn"
    r"|falls|sobald)\b",
    re.IGNORECASE,
)
_LONG_WORD = re.compile(r"[^\W\d_]{4,}")
_STEM = 5
_SHARED = 2
"""Words of a wish that a sentence about it has at least; one alone may be its subject."""
_QUESTION = re.compile(r"[?？؟]|;$")
_TAG = re.compile(r"\b(?:okay|ok|alright|right|deal|good|gut|oder|ja|sí|no)\W*$", re.IGNORECASE)


def clears(sentence: Sentence, wish: str) -> bool:
    """Return whether a sentence says that a wish is not met, or asks about it.

    A denial that repeats the wish ("you don't eat fish") says neither.
    """
    words = sentence.words
    if _CLOSES.search(words):
        return False
    if _QUESTION.search(words[-6:]):
        return _TAG.search(words.rpartition(",")[2]) is None or "," not in words
    denials = _DENIES.finditer(_EFFECT.sub(" ", words))
    repeated = re.findall(r"n['’]t\b|\w+?(?=n['’]t)|\w+", wish.lower())
    return any(one[0].lower() not in repeated for one in denials)


def repeats(sentence: Sentence, wish: str) -> bool:
    """Return whether a sentence tells of a wish as if it were met, in words of the wish."""
    if sentence.is_asked or _MAY.search(sentence.words) or clears(sentence, wish):
        return False
    return len(_list_stems(sentence.words) & _list_stems(wish)) >= _SHARED


def _list_stems(words: str) -> set[str]:
    return {word[:_STEM] for word in _LONG_WORD.findall(words.lower())}


def is_clear(text: str, wish: str) -> bool:
    """Return whether an answer leaves nobody in the belief that an open wish is met."""
    return any(clears(one, wish) for one in split(text))
