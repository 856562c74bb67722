"""Objections to a decision, by plain facts about the words; pure.

A veto never chooses: the model decides again without the intent, or the person is asked.
"""

import re

from agent_core.agent.guided.decisions import Decision, Known, label_entry
from agent_core.shared_words import share_word

_REPEATING = re.compile(
    r"\b(every|each|daily|weekly|monthly|yearly|hourly|weekdays?|always|"
    r"(mon|tues|wednes|thurs|fri|satur|sun)days|mornings|evenings|nights|"
    r"jede[nrsm]?|täglich\w*|wöchentlich\w*|monatlich\w*|immer|werktags?|\w+tags|morgens|abends|alle|"
    r"cada|todos|todas|diari\w+|semanal\w*|mensual\w*|siempre|"
    r"chaque|tous|toutes|quotidien\w*|ogni|sempre|todo|toda|sempre|iedere?|elke?|co|każd\w+|her)\b",
    re.IGNORECASE,
)


def is_vetoed(decision: Decision, said: str) -> bool:
    """Return whether the words of a message speak against what the model decided."""
    match decision.intent:
        case "remind_every":
            return _REPEATING.search(said) is None
        case "remember" | "correct_memory":
            return is_question(said) or not share_word(decision.given["fact"], said)
    return False


def list_doubts(decision: Decision, said: str, known: Known) -> list[str]:
    """Return the entries among which the person has to choose; none without a doubt.

    What is changed or forgotten needs a word in common with the message.
    """
    old = decision.given.get("old")
    if old is None or share_word(old, said):
        return []
    labels = [label_entry(place, text) for place, (_, text) in enumerate(known.entries, start=1)]
    return sorted(labels, key=lambda one: (not share_word(one, said), one != old))


def is_question(said: str) -> bool:
    """True for a message that ends as a question."""
    return said.rstrip(" \n\"'”)").endswith(("?", "？", "؟"))
