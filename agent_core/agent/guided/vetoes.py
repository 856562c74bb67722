"""Objections to a decision, by plain facts about the words; pure.

A veto never chooses: the model decides again without the intent, or the person is asked.
"""

import re
from collections.abc import Collection

from agent_core.agent.guided.decisions import Decision, Known, label_entry, label_job
from agent_core.agent.guided.named_times import list_clocks, list_spans, names_any_time
from agent_core.shared_words import list_content, share_word

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
_STOPS = ("delete_reminder", "pause_reminder")
_OF_TIMES = ("remind_once", "remind_every", "move_reminder")


def list_vetoed(decision: Decision, said: str, known: Known) -> Collection[str]:
    """Return the intents against which the words of a message speak; none if all is well."""
    intent = decision.intent
    if intent in _OF_TIMES and not names_any_time(said):
        return _OF_TIMES
    if intent == "remind_every":
        return () if _REPEATING.search(said) else (intent,)
    is_kept = intent in ("remember", "correct_memory")
    if is_kept and (is_question(said) or not share_word(_find_news(decision), said)):
        return (intent,)
    fits_job = any(share_word(title, said) for title in known.jobs.values())
    fits_entry = any(share_word(text, said) for _, text in known.entries)
    if intent in _OF_JOBS and not fits_job and (fits_entry or is_question(said)):
        return _OF_JOBS
    is_other = intent in _OF_ENTRIES and not fits_entry and (fits_job or is_question(said))
    return _OF_ENTRIES if is_other else ()


def list_doubts(decision: Decision, said: str, known: Known) -> list[str]:
    """Return the entries or jobs among which the person has to choose; none without a doubt.

    What is changed or ended needs a word in common with the message. What only ends or pauses a
    job has no time of day: perhaps the model has taken one act for another.
    """
    given = decision.given.get("old") or decision.given.get("which")
    if given is None:
        return []
    is_other = decision.intent in _STOPS and bool(list_clocks(said))
    if share_word(given.partition(" ")[2], said) and not is_other:
        return []
    labels = [label_entry(place, text) for place, (_, text) in enumerate(known.entries, start=1)]
    if "which" in decision.given:
        labels = [label_job(number, title) for number, title in known.jobs.items()]
    return sorted(labels, key=lambda one: (not share_word(one, said), one != given))


def _find_news(decision: Decision) -> str:
    """Return the words of a fact that its old form does not have."""
    old = list_content(decision.given.get("old", ""))
    return " ".join(word for word in list_content(decision.given["fact"]) if word not in old)


def may_be_reminder(decision: Decision, said: str) -> bool:
    """Return whether a fact to remember may be meant as a reminder: it has a time."""
    return decision.intent == "remember" and bool(list_clocks(said) or list_spans(said))


def is_question(said: str) -> bool:
    """True for a message that ends as a question."""
    return said.rstrip(" \n\"'”)").endswith(("?", "？", "؟"))
