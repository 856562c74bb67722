"""Sentences about what is known of models, for the command line."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from gateway.texts.fitness import describe_fit, describe_run

if TYPE_CHECKING:
    from gateway.operations.model_types import KnownFact, KnownModel

_WORDS: Mapping[str, str | Mapping[Any, str]] = {
    "mode": {
        "tools": "calls tools by itself",
        "guided": "works in the guided mode",
        "unfit": "is not fit for use",
    },
    "trusted": {True: "may review and write skills, whatever its test says"},
    "takes_tools": {False: "takes no tools"},
    "takes_system": {False: "has no system role: the first message holds the prompt"},
    "takes_images": {False: "sees no pictures"},
    "window": "reads at most {value} tokens",
    "most_tokens": "answers with at most {value} tokens",
    "limit": "calls the limit of an answer {value}",
    "streams": {False: "gives its answers only whole"},
    "counts_streams": {False: "counts no tokens while it answers"},
    "id_form": {
        "nine": "wants ids of calls with nine letters or digits",
        "short": "wants ids of calls with at most 40 characters",
    },
    "returns_state": {False: "takes back no thoughts"},
    "returns_unsigned": {False: "takes back no thoughts without a signature"},
    "fills": "wants {value} in each of its own messages",
    "schema_form": {
        "object": "is asked in words for the form of an answer in JSON",
        "words": "is asked in words for answers in JSON",
    },
    "schema_form_beside_tools": {
        "object": "is asked in words for the form of an answer in JSON, beside tools",
        "words": "is asked in words for answers in JSON, beside tools",
    },
    "forces_calls": {False: "is asked in words for a certain call"},
    "takes_schemas": {False: "is asked in words for answers in JSON"},
    "takes_choices": {False: "is asked in words for a certain call"},
    "ends_silently": {True: "does not say when an answer has ended"},
    "begins_in_thought": {True: "begins its answers within a thought"},
}
_SOURCES = {
    "learned": "learned on {day}",
    "fitness": "fitness test of {day}",
    "owner": "set by an owner on {day}",
}


def describe_known(known: "KnownModel") -> Iterator[str]:
    """Yield a line for each thing that is known of a model."""
    for fact in known.facts:
        day = f"{datetime.fromtimestamp(fact.at / 1000, UTC).astimezone():%Y-%m-%d}"
        yield f"  {_describe(fact)} ({_SOURCES.get(fact.source, fact.source).format(day=day)})"


def _describe(fact: "KnownFact") -> str:
    value = json.loads(fact.value)
    if fact.kind == "card":
        return f"is {describe_fit(value)}"
    if fact.kind == "fitness_run":
        return describe_run(value)
    words = _WORDS.get(fact.kind)
    if isinstance(words, str):
        shown = ", ".join(map(str, value)) if isinstance(value, list) else value
        return words.format(value=shown)
    if isinstance(words, Mapping) and isinstance(value, str | bool) and value in words:
        return words[value]
    return f"{fact.kind}: {fact.value}"
