"""Recognise a claim that is a whole plain sentence of the person. Pure.

This is the one proof without a judge, so it takes the least that people say: a sentence about
themselves, alone in its message but for greetings, with nothing around it that could turn it.
"""

import re
from collections.abc import Sequence

from agent_core.agent.review.claim_check import Claim
from agent_core.plain_statements import find_any, find_statement, states_plainly
from agent_core.state.queues.reviews import Said

_BEFORE, _AFTER = 4, 2
"""Messages of the person around a statement that may say what it is: a game, a text, a joke."""


_FRAME = find_any(
    "translat* proofread* rewrit* rephras* paraphras* summari* correct* edit* spell* grammar",
    "pretend* imagin* suppos* assum* hypothe* scenario fiction* role* game* play* act_as what_if",
    "story stories novel* poem* lyrics song* script* scene* character* persona dialogue monologue",
    "example* sample* test* caption* quot* letter mail* email* message* post tweet* review* speech",
    "joke* joking kidding april prank* iron* sarcas* lie lies lying riddle* truths guess dream*",
    "next following line lines sentence* phrase* rate improve wrote write* writing written",
    "say says said tell tells told sent send read copied paste* banner manual website page article",
    "book film movie my_brother my_sister my_friend my_boss my_ex",
    "übersetz* korrigier* formulier* umschreib* lektorier* prüf* stell_dir angenommen nehmen_wir",
    "tun_wir rolle* spiel* geschichte* roman* gedicht* liedtext* beispiel* witz* scherz* ironi*",
    "draft* zitat* zitier* brief* nachricht* nächste* folgende* satz sätze schreib* schrieb* sag",
    "sage sagt* meint* erzähl* lüge* gelogen traum* träum* figur* text* entwurf aprilscherz",
    "tradu* corrig* jeu jouer jouons histoire exemple blague plaisant* supposons juego juga*",
    "juguemos historia ejemplo broma supon* dijo escrib* cuento gioc* storia esempio immagin*",
    "supponi* detto scriv* frase",
)
"""Words that make what is said near them a text, a game, a joke, or somebody else's words."""
_TAKEN_BACK = find_any(
    "kidding joking not_true isn't_true wasn't_me made_that_up made_it_up jk lol haha* scratch",
    "forget never_mind nevermind correction wrong lied quatsch vergiss gelogen scherz falsch",
    "mentira blague broma scherzo sbagliato",
)
_TAKES_BACK = re.compile(
    r"^\W*(?:no|nope|nah|wait|sorry|oops|actually|just|only|not|i mean|i meant|i was|that was"
    r"|that['’]?s|that is|this was|this is|nein|doch|war|warte|stimmt|kleiner|nur|das war|das ist"
    r"|ich mein\w*|non|je|c['’]|attends|era|espera|aspetta)\b",
    re.IGNORECASE,
)
"""A next message that may take back the one before it."""
_POINTS = re.compile(
    r"^\W*(?:\^|so\b)|:\s*$|(?<!\w)(?:this|that|these|those|it|its|it['’]s|that['’]s|das|dies\w*|sowas"
    r"|es|ça|cela|ceci|c['’]est|esto|eso|lo|questo|quello)(?!\w)",
    re.IGNORECASE,
)
"""Words that point: the message before or after a statement that has one may be about it."""


def is_plain(claim: Claim, said: Sequence[Said]) -> bool:
    """Return whether a claim is a whole plain sentence of its message, word for word.

    The person's "I" or "my" and greetings may be missing, and the verb may be in the third person.
    """
    own = [one for one in said if one.is_own]
    place = next((n for n, one in enumerate(own) if one.id == claim.message_id), None)
    if place is None:
        return False
    sentence = find_statement(own[place].text)
    if not sentence or sentence not in claim.quote:
        return False
    around = [*own[max(0, place - _BEFORE) : place], *own[place + 1 : place + 1 + _AFTER]]
    if any(_FRAME.search(one.text) for one in around):
        return False
    after = [one.text for one in own[place + 1 : place + 1 + _AFTER]]
    if any(_TAKES_BACK.search(one) for one in after[:1]) or any(map(_TAKEN_BACK.search, after)):
        return False
    beside = (*own[max(0, place - 1) : place], *own[place + 1 : place + 2])
    if any(_POINTS.search(one.text) for one in beside):
        return False
    return states_plainly(claim.text, sentence)
