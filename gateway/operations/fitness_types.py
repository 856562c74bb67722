"""Requests and answers of the operations of the fitness test. Quick to import."""

from dataclasses import dataclass, field

from gateway.operations.model_types import KnownFact


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTest:
    """Asks for the next task of a model's test; without a name, of the main model.

    With `begins`, a new test begins unless one is under way.
    """

    name: str = field(default="", metadata={"refusal": "Name a model."})
    begins: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TestedTask:
    """A task that was done, and its result.

    `done` of `total` tasks are done. At the end, `facts` are the card and the mode; until then,
    there are none. `fault` is "" for a task that was passed, or if none was left.
    """

    model: str
    server: str
    task: str
    fault: str
    done: int
    total: int
    facts: tuple[KnownFact, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustModel:
    """Lets a model review and write skills without a passed test."""

    name: str = field(metadata={"refusal": "Name a model; `talaria models` lists them."})
