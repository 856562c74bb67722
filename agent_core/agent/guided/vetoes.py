"""Objections to a decision, by plain facts about the words; pure.

A veto never chooses: the model decides again without the intent, or the person is asked.
"""

import re
from collections.abc import Collection

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

_OF_JOBS = ("delete_reminder", "pause_reminder", "move_reminder")
_OF_ENTRIES = ("forget", "correct_memory")
_NOON = re.compile(
    r"\b(noon|midday|midnight|mittags?|mitternacht|mediodía|medianoche|midi|minuit)\b",
    re.IGNORECASE,
)


def list_vetoed(decision: Decision, said: str, known: Known) -> Collection[str]:
    """Return the intents against which the words of a message speak; none if all is well."""
    intent = decision.intent
    if intent == "remind_every":
        return () if _REPEATING.search(said) else (intent,)
    is_kept = intent in ("remember", "correct_memory")
    if is_kept and (is_question(said) or not share_word(decision.given["fact"], said)):
        return (intent,)
    fits_job = any(share_word(title, said) for title in known.jobs.values())
    fits_entry = any(share_word(text, said) for _, text in known.entries)
    if intent in _OF_JOBS and fits_entry and not fits_job:
        return _OF_JOBS
    return _OF_ENTRIES if intent in _OF_ENTRIES and fits_job and not fits_entry else ()


def list_doubts(decision: Decision, said: str, known: Known) -> list[str]:
    """Return the entries among which the person has to choose; none without a doubt.

    What is changed or forgotten needs a word in common with the message.
    """
    old = decision.given.get("old")
    if old is None or share_word(old, said):
        return []
    labels = [label_entry(place, text) for place, (_, text) in enumerate(known.entries, start=1)]
    return sorted(labels, key=lambda one: (not share_word(one, said), one != old))


def names_time(when: str, said: str) -> bool:
    """Return whether a message holds the numbers of a time that the model has read in it.

    Small models misread "quarter to seven" and make up dates; then the person confirms the time.
    """
    numbers = {int(found) for found in re.findall(r"\d+", said)}
    if clock := re.search(r"(\d\d):(\d\d)", when):
        hour, minute = int(clock[1]), int(clock[2])
        is_noon = hour in (0, 12) and minute == 0 and _NOON.search(said) is not None
        hours = {hour, (hour - 12) % 24 if hour >= 12 else hour + 12 if hour == 0 else hour}
        if not is_noon and not (hours & numbers and minute in numbers | {0}):
            return False
        when = when.replace(clock[0], "")
    return all(int(found) in numbers for found in re.findall(r"\d+", when))


def is_question(said: str) -> bool:
    """True for a message that ends as a question."""
    return said.rstrip(" \n\"'”)").endswith(("?", "？", "؟"))
