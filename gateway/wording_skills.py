"""What the program says about skills: what the curator does, and what is broken."""

from collections.abc import Iterable, Sequence

from agent_core.skills.curator import Round, Step, StepKind

_DONE: dict[StepKind, str] = {
    "see": "new",
    "changed": "changed by hand",
    "tell": "broken, the owners were told",
    "mended": "mended",
    "stale": "stale",
    "fresh": "used again",
    "archive": "put away",
    "archived": "found in the archive",
    "returned": "back again",
    "forget": "gone",
}
_WOULD: dict[StepKind, str] = {
    "see": "{name} would be noted as new",
    "changed": "{name} was changed by hand, which would be noted",
    "tell": "{name} is broken, which the owners would be told: {fault}",
    "mended": "{name} is mended",
    "stale": "{name} was not used for {days} days and would be called stale",
    "fresh": "{name} was used again and would not be called stale any more",
    "archive": "{name} was not used for {days} days and would be moved to skills/.archive/",
    "archived": "{name} lies in the archive, which would be noted",
    "returned": "{name} is back from the archive, which would be noted",
    "forget": "{name} is gone, and would be forgotten",
}
NO_FOLDER = "the home has no folder of skills"


def tell_broken(faults: Sequence[str]) -> str:
    """To the owners: skills of the home that can't be used as they are."""
    one = len(faults) == 1
    head = "A skill in this house is broken" if one else f"{len(faults)} skills here are broken"
    lines = "\n".join(f"- {_sentence(fault)}" for fault in faults)
    return (
        f"{head}; jobs that use {'it' if one else 'them'} fail until that is mended:\n{lines}\n"
        "`talaria skills check` looks again."
    )


def describe_round(done: Round) -> str:
    """What the curator has done, for the record of its run."""
    if not done.has_folder:
        return NO_FOLDER
    looked = f"{done.count} skill{'' if done.count == 1 else 's'} looked at"
    told = [f"{head}: {', '.join(names)}" for head, names in _gather(done.steps)]
    stuck = [f"{name} could not be put away: {why}" for name, why in done.stuck]
    return "; ".join((looked, *told, *stuck))


def describe_plan(found: Round) -> list[str]:
    """What the curator would do: a line each."""
    if not found.has_folder:
        return [_sentence(NO_FOLDER)]
    lines = [
        f"{_WOULD[step.kind].format(name=step.name, fault=step.fault, days=step.days)}."
        for step in found.steps
    ]
    return lines or ["Nothing would be done."]


def _gather(steps: Iterable[Step]) -> list[tuple[str, list[str]]]:
    """What was done, each with the skills that it was done to."""
    found: dict[str, list[str]] = {}
    for step in steps:
        told = f"{step.name} as {step.kept}" if step.kept not in ("", step.name) else step.name
        found.setdefault(_DONE[step.kind], []).append(told)
    return list(found.items())


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
