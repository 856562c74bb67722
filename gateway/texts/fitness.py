"""Sentences about the fitness test of models, for the command line."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gateway.operations.fitness_types import TestedTask
    from gateway.operations.model_types import KnownFact

_USES: Mapping[str, str] = {
    "chat": "chat",
    "tools": "tools",
    "guided": "guided mode",
    "jobs": "jobs",
    "reviews": "reviews",
    "skills": "skills",
}
_AREAS: Mapping[str, str] = {
    "language": "the right language",
    "facts": "known facts",
    "quotes": "exact quotes",
    "honesty": "honesty",
    "odd": "sound answers",
    "speed": "fast enough",
    "calls": "the right tool",
    "arguments": "right arguments",
    "needless": "no needless call",
    "decisions": "forced decisions",
    "jobs": "jobs",
    "review": "reviews",
    "judge": "judgements",
    "skills": "skills",
}
_ADVICE: Mapping[str, str] = {
    "tools": "It calls tools by itself.",
    "guided": "It does not call tools well enough, so it works in the guided mode.",
    "unfit": "It is not fit for Talaria. Choose a larger model, or another one.",
}
_ONLY_DECIDES = "What it says beside its decisions is often wrong."
_UNSEEN = "It neither reviews conversations nor writes skills. `talaria models trust` allows both."
_MOST_FAULTS = 10


def describe_task(step: "TestedTask") -> str:
    """Return the line of a task that was done."""
    outcome = f"no: {step.fault}" if step.fault else "yes"
    return f"{step.done:>3} of {step.total}  {step.task:<24}  {outcome}"


def describe_card(facts: Iterable["KnownFact"]) -> Iterator[str]:
    """Yield the lines of a card and of what follows from it."""
    values = {one.kind: json.loads(one.value) for one in facts}
    card = values["card"]
    yield f"  {describe_fit(card)}"
    yield f"  {_ADVICE[card['mode']]}"
    if card["mode"] == "guided" and "chat" not in card["fit"]:
        yield f"  {_ONLY_DECIDES}"
    if not {"reviews", "skills"} & set(card["fit"]):
        yield f"  {_UNSEEN}"
    for area, (passed, done) in card["scores"].items():
        yield f"  {_AREAS[area]:<20}  {f'{passed} of {done}' if done else 'left out'}"
    yield (
        f"  An answer takes {card['seconds']:g} s, {card['speed']:g} tokens a second."
        f" The server kept {card['cached']:.0%} of what it had read."
    )
    faults = list(card["faults"].items())
    if faults:
        yield "  What went wrong:"
    for task, fault in faults[:_MOST_FAULTS]:
        yield f"    {task}: {fault}"
    if len(faults) > _MOST_FAULTS:
        yield f"    and {len(faults) - _MOST_FAULTS} more"


def describe_fit(card: Mapping[str, Any]) -> str:
    """Say in one line what a model is fit for."""
    fit = [word for use, word in _USES.items() if use in card["fit"]]
    lacking = [word for use, word in _USES.items() if use not in card["fit"]]
    parts = [f"fit for {', '.join(fit)}"] if fit else []
    return "; ".join([*parts, *([f"not for {', '.join(lacking)}"] if lacking else [])])


def describe_run(run: Mapping[str, Any]) -> str:
    """Say how far an unfinished test is."""
    return (
        f"has done {len(run['results'])} tasks of the fitness test; `talaria models test` goes on"
    )
