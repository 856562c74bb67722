"""Requests and answers of the operations on models. Quick to import."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class ListModels:
    """Asks for everything that is known of models."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PickModel:
    """Names a model, with or without its provider."""

    name: str = field(metadata={"refusal": "Name a model; `talaria models` lists them."})


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFact:
    """One thing known of a model; `value` is JSON, `at` in milliseconds UTC."""

    kind: str
    value: str
    source: str
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownModel:
    """What is known of a model at a server, by the server's address."""

    server: str
    model: str
    facts: tuple[KnownFact, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownModels:
    """Models of which something is known."""

    models: tuple[KnownModel, ...]
